#include "observe/check/global/lane_writes.h"

#include <algorithm>
#include <bit>
#include <span>

namespace margay::check {
namespace {

/// Whether each lane writes behind the one before it, as nearly all stores do.
bool ascends(const LaneAccess& access) {
  std::uint64_t end = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = access.at[std::countr_zero(rest)];
    if (at < end) return false;
    end = at + access.bytes;
  }
  return true;
}

}  // namespace

std::optional<LaneConflict> conflict_of_lanes(const LaneAccess& access, const StoredBytes& stored) {
  if (ascends(access)) return {};
  std::array<std::uint8_t, kWaveLanes> order;
  std::size_t count = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1)
    order[count++] = static_cast<std::uint8_t>(std::countr_zero(rest));
  const std::span lanes(order.data(), count);
  std::ranges::stable_sort(lanes, {}, [&](std::uint8_t lane) { return access.at[lane]; });

  // All lanes write the same number of bytes: if one overlaps any before it, it overlaps the last.
  for (std::size_t n = 1; n < lanes.size(); ++n) {
    const unsigned lower = lanes[n - 1], upper = lanes[n];
    const std::uint64_t distance = access.at[upper] - access.at[lower];
    if (distance >= access.bytes) continue;
    const auto shared = static_cast<unsigned>(access.bytes - distance);
    const auto a = stored(lower), b = stored(upper);
    if (std::equal(b.begin(), b.begin() + shared, a.begin() + distance)) continue;
    return LaneConflict{std::min(lower, upper), std::max(lower, upper), access.at[upper], shared};
  }
  return {};
}

}  // namespace margay::check
