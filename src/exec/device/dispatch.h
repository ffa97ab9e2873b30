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
  LaunchObserver* observer = nullptr;   ///< The observer, or null.
  LaunchShare share = {};
  const DeviceOptions* options = nullptr;
};

/// A launch on the host's threads. It stops with the error of the lowest-numbered workgroup seen to
/// fail.
class Dispatch {
 public:
  /// Everything the job points to must outlive it; other host threads start at once.
  explicit Dispatch(const DispatchJob& job);
  ~Dispatch();
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  /// Runs every workgroup to completion. With `may_leave`, returns false as soon as all remaining
  /// ones wait for memory that only the host can change; then any thread may call it again.
  [[nodiscard]] bool run(bool may_leave);
  /// Requests a stop, from any thread: the launch fails, unless all of it has run already.
  void interrupt();
  /// After run() returned true.
  [[nodiscard]] Result<LaunchReport> report();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay
