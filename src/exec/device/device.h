// The virtual GPU: load code objects, launch kernels. This is the interface for the HIP runtime and
// the tool; it hides how instructions run.
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

/// A launch whose waves wait for memory that only the host or another launch can change. Its other
/// host threads continue.
class LaunchInFlight {
 public:
  virtual ~LaunchInFlight() = default;
  /// Runs it to completion.
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

  /// Places a code object in device memory. Unloads it with the last reference.
  [[nodiscard]] virtual Result<std::shared_ptr<LoadedModule>> load(CodeObject object,
                                                                   unsigned device = 0) = 0;

  /// Checks the request against the hardware's limits, then runs it to the end. Safe to call from
  /// several host threads; launches run one after another. `observer` watches every instruction.
  [[nodiscard]] virtual Result<LaunchReport> launch(const LaunchRequest& request,
                                                    LaunchObserver* observer = nullptr) = 0;
  /// The same, but returns early instead of waiting for something that the caller may do next.
  /// Launches in flight run concurrently with others.
  [[nodiscard]] virtual Result<StartedLaunch> start(const LaunchRequest& request) = 0;
  /// Stops all running launches, including those in flight: they fail (ErrorCode::interrupted). The
  /// device remains usable.
  virtual void interrupt() = 0;
};

}  // namespace margay
