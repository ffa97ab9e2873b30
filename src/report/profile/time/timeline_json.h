// The timeline of a modelled time as JSON: lists of numbers, because there are many.
#pragma once

#include "report/json_node.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// {"workgroups": [[id, xcd, cu, begin, cycles, stand_in], ...],
/// "waves": [{"workgroup", "wave", "simd", "slices": [[begin, cycles, stall, vaddr, instructions],
/// ...], "in_flight": [[at, count], ...]}, ...],
/// "occupancy": [{"xcd", "cu", "simds", "waves": [[at, count], ...]}, ...]}; a stall is 0 for none,
/// or its place among timing::kStallNames from 1.
[[nodiscard]] report::Json timeline_json(const timing::Timeline& timeline);
[[nodiscard]] Result<timing::Timeline> as_timeline(const report::Node& node);

}  // namespace margay::profile
