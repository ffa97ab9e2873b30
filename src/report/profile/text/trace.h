// The timelines of a profile as Chrome trace events, which ui.perfetto.dev and chrome://tracing
// open. One instruction step is written as one microsecond; with modelled time, one cycle is.
#pragma once

#include <string>

#include "report/profile/profile.h"

namespace margay::profile {

/// A process for each traced workgroup, a thread for each of its waves, and for each wave how many
/// memory instructions it has in flight. With modelled time what each wave waits for instead, and
/// the workgroups of each compute unit.
[[nodiscard]] std::string trace_of(const Profile& profile);

}  // namespace margay::profile
