// Checks byte by byte that memory accesses are inside allocations.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/device/device.h"
#include "exec/program/lane_access.h"
#include "exec/state/wave.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/global/global_memory.h"
#include "observe/check/global/tensors.h"
#include "observe/check/instructions/facts.h"

namespace margay::check {

/// The memory that a launch's kernel may access in addition to the device's own allocations.
struct HostRule {
  /// Every host pointer among the kernel's arguments points into a described tensor: then only
  /// those tensors may be accessed in host memory, and no other mapping of the process.
  bool only_tensors = false;
};
[[nodiscard]] HostRule host_rule(const LaunchRequest& request, const Memory& memory,
                                 const GlobalMemory& known);

/// Arguments of a launch that point to host memory which the program has neither allocated with HIP
/// nor registered; described tensors are allowed there.
struct HostArgument {
  std::size_t offset = 0;  ///< In the argument buffer.
  std::uint64_t address = 0;
  bool is_used = false;  ///< The kernel accessed the memory that it points to.
};
[[nodiscard]] std::vector<HostArgument> unregistered_host_arguments(const LaunchRequest& request,
                                                                    const Memory& memory,
                                                                    const GlobalMemory& known);

/// What Bounds knows of a launch in a process that has neither its arguments nor a list of the
/// memory's blocks.
struct LaunchElsewhere {
  std::vector<TensorArgument> tensors;
  std::vector<HostArgument> host_arguments;
  AddressRange arena;  ///< Memory::arena()
  /// Memory::find() and describe_fault().
  std::function<std::optional<Allocation>(std::uint64_t address)> find;
  std::function<Error(std::uint64_t address, std::uint64_t bytes, const std::string& access)>
      describe_fault;
};

class Bounds {
 public:
  /// `elsewhere`: null in the process that has made the launch.
  Bounds(Reporter& reporter, const Memory& memory, const GlobalMemory& known, HostRule rule,
         const LaunchRequest& request, const LaunchElsewhere* elsewhere);

  /// The active lanes whose access is not allowed; each has been reported.
  [[nodiscard]] std::uint64_t outside(const LaneAccess& access, const InstructionFacts& facts,
                                      const Wave& wave);

  /// The launch's unregistered host arguments; empty while no host memory was accessed.
  [[nodiscard]] std::vector<HostArgument> take_host_arguments() {
    return std::move(host_arguments_).value_or(std::vector<HostArgument>{});
  }

 private:
  /// The launch's own; read when first needed.
  [[nodiscard]] const std::vector<TensorArgument>& tensors();
  [[nodiscard]] bool only_tensors();
  [[nodiscard]] bool in_arena(std::uint64_t address) const {
    return elsewhere_ != nullptr ? elsewhere_->arena.contains(address, 1)
                                 : memory_.in_arena(address);
  }
  [[nodiscard]] AddressRange host_range(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] AddressRange use_host(AddressRange found, std::uint64_t address);
  [[nodiscard]] bool inside_global(std::uint64_t address, std::uint64_t bytes, bool is_write);
  [[nodiscard]] std::uint64_t outside_global(const LaneAccess& access,
                                             const InstructionFacts& facts);
  /// A finding with one access; the caller sets the message.
  [[nodiscard]] Finding finding(FindingKind kind, const LaneAccess& access,
                                const InstructionFacts& facts, const Wave& wave, int lane) const;
  void report_global(const LaneAccess& access, const InstructionFacts& facts, const Wave& wave,
                     std::uint64_t lanes);
  void report_lds(const LaneAccess& access, const InstructionFacts& facts, const Wave& wave,
                  std::uint64_t lanes);
  void report_scratch(const LaneAccess& access, const InstructionFacts& facts, const Wave& wave,
                      std::uint64_t lanes);
  void report_misaligned(const LaneAccess& access, const InstructionFacts& facts, const Wave& wave,
                         std::uint64_t lanes);

  Reporter& reporter_;
  const Memory& memory_;
  const GlobalMemory& known_;
  HostRule rule_;
  const LaunchRequest& request_;
  const LaunchElsewhere* elsewhere_;
  std::optional<std::vector<TensorArgument>> tensors_;
  std::array<AddressRange, 4> recent_{};  // recently found accessible, the latest one first
  AddressRange recent_read_only_;         // the same for read-only host memory
  AddressRange mapped_;                   // recently found host memory, whole ranges
  std::optional<std::vector<HostArgument>> host_arguments_;  // by address
};

}  // namespace margay::check
