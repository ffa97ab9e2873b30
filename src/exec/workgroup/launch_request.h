// The request for a launch, and its statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "code_object/code_object.h"

namespace margay {

/// Answers a call that one work-item makes to the host: `service` identifies it, the slots hold its
/// arguments, and the first two receive the answer. An error stops the launch.
using HostService = std::function<Status(std::uint32_t service, std::span<std::uint64_t, 8> slots)>;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// A code object placed in device memory, ready to run.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  [[nodiscard]] virtual const CodeObject& object() const = 0;
  /// Device address of virtual address 0 of the image.
  [[nodiscard]] virtual std::uint64_t base_address() const = 0;
};

/// One kernel launch. Sizes are checked by Device::launch.
struct LaunchRequest {
  std::shared_ptr<LoadedModule> module;
  const Kernel* kernel = nullptr;
  Dim3 grid;   ///< Workgroups.
  Dim3 block;  ///< Work-items per workgroup.
  std::uint32_t dynamic_lds_bytes = 0;
  /// The explicit arguments in the layout of the metadata; hidden arguments are added here.
  std::span<const std::byte> arguments;
  /// All workgroups must be resident at the same time, and may wait for each other at a barrier.
  bool cooperative = false;
  /// Only these workgroups run, in ascending order; null: all. For launches of which only the time
  /// counts.
  std::shared_ptr<const std::vector<std::uint64_t>> workgroups = {};
  /// Of a lane, for calls whose depth the compiler does not know: at least. Bytes.
  std::uint32_t stack_bytes = 0;
  unsigned device = 0;                ///< The device that it runs on.
  std::uint64_t visible_devices = 1;  ///< The devices whose memory it may access, as a mask.
};

/// Statistics of a launch.
struct LaunchReport {
  std::uint64_t workgroups = 0;
  std::uint64_t waves = 0;
  std::uint64_t wave_instructions = 0;
  std::uint64_t mfma_instructions = 0;
  double seconds = 0;  ///< Host wall time.
  /// With ranks: where its workgroups ran, as key=value pairs (src/ranks); else empty.
  std::string ranks;
  /// Share of the host's time by instruction class (sums to 1), from timing a sample of
  /// workgroups; empty unless DeviceOptions requests it.
  std::vector<std::pair<std::string, double>> time_shares;
};

}  // namespace margay
