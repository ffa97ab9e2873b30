// Lanes of one store that write different values to the same bytes of global memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "exec/program/lane_access.h"

namespace margay::check {

struct LaneConflict {
  unsigned first = 0, second = 0;  ///< Lanes, the lower one first.
  std::uint64_t begin = 0;         ///< Of the bytes that both write.
  unsigned bytes = 0;
};

using StoredBytes = std::function<std::array<std::uint8_t, 16>(unsigned lane)>;

/// The one at the lowest address. Lanes that write the same values are not in conflict: the tail of
/// a copy is often written twice, and a uniform value by every lane.
[[nodiscard]] std::optional<LaneConflict> conflict_of_lanes(const LaneAccess& access,
                                                            const StoredBytes& stored);

}  // namespace margay::check
