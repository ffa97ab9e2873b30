// Runs the workgroups of a launch over the host's cores: one workgroup per host thread at a time,
// its waves in turn from barrier to barrier.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.h"
#include "exec/device/device_options.h"
#include "exec/program/program.h"
#include "exec/workgroup/launch_setup.h"
#include "exec/workgroup/observer.h"

namespace margay {

class HostcallBuffer;

struct DispatchJob {
  const LaunchRequest* request = nullptr;
  Program* program = nullptr;
  const Memory* memory = nullptr;
  LaunchAddresses addresses;
  unsigned threads = 1;
  std::uint64_t resident_limit = 1;     ///< Workgroups that the device has room for at a time.
  HostcallBuffer* hostcalls = nullptr;  ///< For kernels that may call the host.
  LaunchObserver* observer = nullptr;   ///< Who watches, if anybody.
  const DeviceOptions* options = nullptr;
};

/// A launch on the host's threads. The error of the lowest-numbered workgroup seen to fail stops
/// it.
class Dispatch {
 public:
  /// What the job points to has to live as long; other host threads begin at once.
  explicit Dispatch(const DispatchJob& job);
  ~Dispatch();
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  /// Runs every workgroup to its end. With `may_leave`, returns false as soon as all that are left
  /// wait for memory which only the host can change; then any thread may call it again.
  [[nodiscard]] bool run(bool may_leave);
  /// Stops it soon, from any thread: it fails, unless all of it has run already.
  void interrupt();
  /// After run() returned true.
  [[nodiscard]] Result<LaunchReport> report();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay
