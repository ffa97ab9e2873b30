// The options of a virtual device, and the callbacks of a running launch.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "exec/workgroup/launch_request.h"
#include "exec/workgroup/launch_setup.h"
#include "exec/workgroup/workgroup_source.h"
#include "gpu/gpu.h"
#include "mfma/instructions/mode.h"

namespace margay {

/// The progress of a long launch, and the position of one of its workgroups.
struct LongLaunch {
  std::string kernel;
  double seconds = 0;
  std::uint64_t workgroups_done = 0, workgroups = 0;
  std::string where;  ///< The current instructions of its waves, with their source lines.
};

class LaunchParts;
class Memory;
class Program;

/// A launch that other processes may run a part of. The referenced objects outlive the source that
/// is made for it.
struct SpreadableLaunch {
  const LaunchRequest& request;
  Program& program;
  const Memory& memory;
  LaunchAddresses addresses;
  bool calls_host = false;  ///< It may call the host, which only this process can answer.
  bool observed = false;
  LaunchParts* parts = nullptr;  ///< Of an observed launch; null: it can only be observed here.
};
/// Where its workgroups come from.
struct LaunchShare {
  std::shared_ptr<WorkgroupSource> source;  ///< Null: they all run here.
  std::string alone;                        ///< Then: LaunchReport::ranks.
};
using Spread = std::function<LaunchShare(const SpreadableLaunch& launch)>;

struct DeviceOptions {
  const Gpu* gpu = &default_gpu();  ///< The machine; defines the limits of a launch.
  /// How long the workgroups of a watched launch may wait for a change of memory that they do not
  /// make themselves: nothing else runs at the same time, so that the wait might never end.
  std::chrono::milliseconds patience{60'000};
  MfmaMode mfma = MfmaMode::exact;
  /// The number of identical devices. They share one address space, and run one after the other.
  unsigned devices = 1;
  /// Host threads that run workgroups; 0 means one per host core.
  unsigned threads = 0;
  /// Instruction-set level of the host code: "", "generic", "x86-64-v3" or "x86-64-v4". Empty
  /// chooses the best the host has.
  std::string host_level = {};
  /// Kernels may read an allocation to the end of its last page, as on the hardware, where they
  /// find zeros here. Otherwise a read past its end is an error.
  bool whole_pages = false;
  /// Time a sample of workgroups instruction by instruction, for LaunchReport::time_shares.
  bool measure_time_shares = false;
  /// Called periodically, from one thread, while a launch runs.
  std::function<void(std::uint64_t workgroups_done, std::uint64_t workgroups_total)> progress = {};
  /// Called once for a long launch, after about `long_launch`, by one of the threads that run it.
  std::function<void(const LongLaunch& launch)> on_long_launch = {};
  std::chrono::milliseconds long_launch{9'000};
  /// Called by the threads that run workgroups, one at a time. Without it, launching a kernel that
  /// calls the host fails.
  HostService host_service = {};
  /// Asked for each launch, if set (src/ranks).
  Spread spread = {};
};

}  // namespace margay
