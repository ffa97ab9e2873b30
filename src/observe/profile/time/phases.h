// Launches whose workgroups do more later on than those of the sample, or less: attention over
// sequences in the order of their length, rows of a triangle.
#pragma once

#include <vector>

#include "timing/recording.h"

namespace margay::profile {

/// Whether the workgroups that were recorded are so much longer or shorter than those of the launch
/// that they do not say how long it takes; or are from all of it, since there was no room for more:
/// those that a compute unit has of them did not follow each other.
[[nodiscard]] bool needs_phases(const timing::LaunchRecording& launch, bool is_sampled);

/// Divides the launch into parts of as many workgroups, and replaces its compute units by one for
/// each part, with workgroups of about the length of those of that part: recorded ones, or
/// `probes`, which had an XCD for themselves. What a probe misses in L2 is what the recorded
/// workgroups miss at the same instruction, since they have neighbours that load the same lines.
void divide_into_phases(timing::LaunchRecording& launch,
                        std::vector<timing::WorkgroupRecording> probes);

}  // namespace margay::profile
