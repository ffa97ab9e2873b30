// Runs the workgroups of a launch over the host's cores: one workgroup per host thread at a time,
// its waves in turn from barrier to barrier.
#pragma once

#include <functional>

#include "base/error.h"
#include "exec/device.h"
#include "exec/launch_setup.h"
#include "exec/observer.h"
#include "exec/program.h"

namespace margay {

class HostcallBuffer;

struct DispatchJob {
  const LaunchRequest* request = nullptr;
  Program* program = nullptr;
  const Memory* memory = nullptr;
  LaunchAddresses addresses;
  unsigned threads = 1;
  std::uint64_t resident_limit = 1;  ///< Workgroups that the device has room for at a time.
  bool measure_time_shares = false;
  HostcallBuffer* hostcalls = nullptr;  ///< For kernels that may call the host.
  LaunchObserver* observer = nullptr;   ///< Who watches, if anybody.
  const std::function<void(std::uint64_t, std::uint64_t)>* progress = nullptr;
};

/// Runs every workgroup; the error of the lowest-numbered workgroup seen to fail stops the launch.
[[nodiscard]] Result<LaunchReport> dispatch(const DispatchJob& job);

}  // namespace margay
