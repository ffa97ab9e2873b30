// Whether memory accesses stay inside what was allocated, byte by byte.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/device/device.h"
#include "exec/program/lane_access.h"
#include "exec/state/wave.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/global/global_memory.h"
#include "observe/check/global/tensors.h"
#include "observe/check/instructions/facts.h"

namespace margay::check {

/// What a launch's kernel may touch beside the device's own allocations.
struct HostRule {
  /// Every host pointer among the kernel's arguments points into a described tensor: then only
  /// those may be touched in host memory, and not whatever else the process has mapped.
  bool only_tensors = false;
};
[[nodiscard]] HostRule host_rule(const LaunchRequest& request, const Memory& memory,
                                 const GlobalMemory& known);

/// Arguments of a launch that point to host memory which the program has neither allocated with HIP
/// nor registered; tensors that it described are meant to lie there.
struct HostArgument {
  std::size_t offset = 0;  ///< In the argument buffer.
  std::uint64_t address = 0;
  bool is_used = false;  ///< The kernel was in the memory that it points to.
};
[[nodiscard]] std::vector<HostArgument> unregistered_host_arguments(const LaunchRequest& request,
                                                                    const Memory& memory,
                                                                    const GlobalMemory& known);

class Bounds {
 public:
  Bounds(Reporter& reporter, const Memory& memory, const GlobalMemory& known, HostRule rule,
         const LaunchRequest& request);

  /// The active lanes that may not do this access; each has been reported.
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
  [[nodiscard]] AddressRange host_range(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] AddressRange use_host(AddressRange found, std::uint64_t address);
  [[nodiscard]] bool inside_global(std::uint64_t address, std::uint64_t bytes, bool is_write);
  [[nodiscard]] std::uint64_t outside_global(const LaneAccess& access);
  /// With its one access; the message is the caller's.
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
  std::optional<std::vector<TensorArgument>> tensors_;
  std::array<AddressRange, 4> recent_{};  // found accessible lately, the last one first
  AddressRange recent_read_only_;         // the same of host memory that may only be read
  AddressRange mapped_;                   // host memory found lately, whole
  std::optional<std::vector<HostArgument>> host_arguments_;  // by address
};

}  // namespace margay::check
