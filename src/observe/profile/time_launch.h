// From what a launch's watchers have recorded to what the model of time replays.
#pragma once

#include "exec/program/program.h"
#include "exec/workgroup/launch_request.h"
#include "observe/profile/memory/footprint.h"
#include "observe/profile/memory/replay.h"
#include "report/profile/counters.h"
#include "timing/launch/device.h"
#include "timing/time_config.h"

namespace margay::profile {

/// What the workgroups that were watched did.
struct WatchedWork {
  /// Of one instruction.
  struct Lanes {
    std::uint64_t executions = 0, active = 0;
  };
  Counters counters;
  std::uint64_t workgroups = 0, instructions = 0;
  double vector_flops = 0;
  std::vector<Lanes> lanes;  ///< By the instruction's number.
  /// Instructions of each workgroup of the launch, watched or not; empty if they are not known.
  std::vector<std::uint32_t> lengths;
  Selection sample;           ///< Which they were.
  std::vector<Probe> probes;  ///< Of the others.
};

/// Takes the recordings out of `replay`, which has been finished.
[[nodiscard]] timing::LaunchRecording recording_of(const LaunchRequest& request, Program& program,
                                                   Replay& replay, const TensorLines& tensors,
                                                   const WatchedWork& watched,
                                                   const LaunchReport& launch,
                                                   const timing::TimeConfig& config);

}  // namespace margay::profile
