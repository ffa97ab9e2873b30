// From what a launch's watchers have recorded to its time.
#pragma once

#include "exec/program/program.h"
#include "exec/workgroup/launch_request.h"
#include "observe/profile/memory/replay.h"
#include "report/profile/counters.h"
#include "timing/device.h"

namespace margay::profile {

/// `counters` and `vector_flops`: of the `counted` workgroups that were watched. Takes the
/// recordings out of `replay`, which has been finished. `tensors`: those that the replay tells
/// apart.
[[nodiscard]] timing::LaunchRecording recording_of(const LaunchRequest& request, Program& program,
                                                   Replay& replay, const Counters& counters,
                                                   double vector_flops, std::uint64_t counted,
                                                   std::size_t tensors);

}  // namespace margay::profile
