// The virtual GPU: load code objects, launch kernels. This is the interface the HIP runtime and
// the tool use; how instructions run is behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "base/error.h"
#include "code_object/code_object.h"
#include "exec/device/device_options.h"
#include "exec/state/memory.h"
#include "exec/workgroup/launch_request.h"
#include "gpu/gpu.h"

namespace margay {

class LaunchObserver;

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
