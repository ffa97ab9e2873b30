// The virtual GPU: load code objects, launch kernels. This is the interface the HIP runtime and
// the tool use; how instructions run is behind it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "code_object/code_object.h"
#include "exec/memory.h"
#include "gpu/gpu.h"
#include "mfma/mode.h"

namespace margay {

class LaunchObserver;

/// Answers a call that one work-item makes to the host: `service` says which, the slots hold what
/// it passes, and the first two take the answer. An error stops the launch.
using HostService = std::function<Status(std::uint32_t service, std::span<std::uint64_t, 8> slots)>;

/// A launch that takes long: how far it is, and where a workgroup of it stands.
struct LongLaunch {
  std::string kernel;
  double seconds = 0;
  std::uint64_t workgroups_done = 0, workgroups = 0;
  std::string where;  ///< The instructions at which the waves are, with their source lines.
};

struct DeviceOptions {
  const Gpu* gpu = &default_gpu();  ///< The machine; also the limits a launch is checked against.
  /// How long the workgroups of a launch that is watched may wait for memory to change that they do
  /// not change themselves: nothing else runs beside it, so that the wait may have no end.
  std::chrono::milliseconds patience{60'000};
  MfmaMode mfma = MfmaMode::exact;
  /// How many alike there are. They share one address space, and run one after the other.
  unsigned devices = 1;
  /// Host threads that run workgroups; 0 means one per host core.
  unsigned threads = 0;
  /// Instruction-set level of the host code: "", "generic", "x86-64-v3" or "x86-64-v4". Empty
  /// chooses the best the host has.
  std::string host_level = {};
  /// Time a sample of workgroups instruction by instruction, for LaunchReport::time_shares.
  bool measure_time_shares = false;
  /// Called now and then, from one thread, while a launch runs.
  std::function<void(std::uint64_t workgroups_done, std::uint64_t workgroups_total)> progress = {};
  /// Called once for a launch that takes long, after about `long_launch`, by one of the threads
  /// that run it.
  std::function<void(const LongLaunch& launch)> on_long_launch = {};
  std::chrono::milliseconds long_launch{9'000};
  /// Called by the threads that run workgroups, one at a time. Without it a kernel that calls the
  /// host is refused.
  HostService host_service = {};
};

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
  /// The explicit arguments, laid out as the metadata says; hidden arguments are added here.
  std::span<const std::byte> arguments;
  /// All workgroups have to be resident at the same time, and may wait for each other at a barrier.
  bool cooperative = false;
  unsigned device = 0;                ///< Where it runs.
  std::uint64_t visible_devices = 1;  ///< A mask: whose memory it may access.
};

/// What a launch did.
struct LaunchReport {
  std::uint64_t workgroups = 0;
  std::uint64_t waves = 0;
  std::uint64_t wave_instructions = 0;
  std::uint64_t mfma_instructions = 0;
  double seconds = 0;  ///< Host wall time.
  /// Share of the host's time by instruction class (sums to 1), from timing a sample of
  /// workgroups; empty unless DeviceOptions asks for it.
  std::vector<std::pair<std::string, double>> time_shares;
};

/// A launch whose waves wait for memory that only the host can change, or another launch. Its other
/// host threads go on meanwhile.
class LaunchInFlight {
 public:
  virtual ~LaunchInFlight() = default;
  /// Runs it to its end.
  [[nodiscard]] virtual Result<LaunchReport> finish() = 0;
};
using StartedLaunch = std::variant<LaunchReport, std::unique_ptr<LaunchInFlight>>;

class Device {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Device>> create(DeviceOptions options);
  virtual ~Device() = default;

  [[nodiscard]] virtual const Gpu& gpu() const = 0;
  [[nodiscard]] virtual const DeviceOptions& options() const = 0;
  [[nodiscard]] virtual Memory& memory() = 0;

  /// Places a code object in device memory. Unloads when the last reference goes.
  [[nodiscard]] virtual Result<std::shared_ptr<LoadedModule>> load(CodeObject object,
                                                                   unsigned device = 0) = 0;

  /// Checks the request against the hardware's limits, then runs it to the end. Safe to call from
  /// several host threads; launches run one after another. `observer` watches every instruction.
  [[nodiscard]] virtual Result<LaunchReport> launch(const LaunchRequest& request,
                                                    LaunchObserver* observer = nullptr) = 0;
  /// The same, but comes back early where it would wait for what the caller may do next. Launches
  /// that are in flight run beside others.
  [[nodiscard]] virtual Result<StartedLaunch> start(const LaunchRequest& request) = 0;
  /// Stops the launches that run, those in flight as well: they fail (ErrorCode::interrupted). The
  /// device can be used as before.
  virtual void interrupt() = 0;
};

}  // namespace margay
