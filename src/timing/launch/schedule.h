// How the dispatchers spread workgroups that have unequal amounts of work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/gpu.h"

namespace margay::timing {

/// How fast a compute unit works with 1, 2 ... workgroups, up to as many as it has room for; with
/// more of them it is no slower.
using Speeds = std::vector<double>;

/// When the last compute unit is done, if the XCDs get workgroups in turn and their dispatchers
/// give them, in order, to the unit that has fewest, when there is room. `work`: of each
/// workgroup, in the order in which they begin.
[[nodiscard]] double makespan(std::span<const std::uint32_t> work, const Gpu& gpu,
                              const Speeds& speeds);

/// The same for one compute unit with all of `work`.
[[nodiscard]] double makespan_of_one(std::span<const std::uint32_t> work, const Speeds& speeds);

}  // namespace margay::timing
