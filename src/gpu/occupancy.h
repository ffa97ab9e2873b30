// How many waves of a kernel fit on one compute unit at a time, and what limits them. A pure
// function of the kernel's resources: the HIP occupancy calls, `margay asm` and the profiler all
// ask here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "gpu/architecture.h"

namespace margay {

struct OccupancyQuery {
  std::uint32_t vgprs = 0;            ///< Per lane, architected and accumulation together.
  std::uint32_t sgprs = 0;            ///< Per wave.
  std::uint32_t lds_bytes = 0;        ///< Per workgroup, static and dynamic.
  std::uint32_t workgroup_size = 64;  ///< Work-items.
};

enum class OccupancyLimit : std::uint8_t { wave_slots, vgprs, sgprs, lds, barrier_slots };

[[nodiscard]] constexpr std::string_view name_of(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::wave_slots:
      return "wave slots";
    case OccupancyLimit::vgprs:
      return "VGPRs";
    case OccupancyLimit::sgprs:
      return "SGPRs";
    case OccupancyLimit::lds:
      return "LDS";
    case OccupancyLimit::barrier_slots:
      return "barrier slots";
  }
  return "unknown";
}

struct Occupancy {
  std::uint32_t workgroups_per_cu = 0;  ///< 0 when not even one fits.
  std::uint32_t waves_per_cu = 0;       ///< In those workgroups.
  std::uint32_t waves_per_simd = 0;     ///< What registers alone would allow, at most 8.
  OccupancyLimit limit = OccupancyLimit::wave_slots;  ///< The tightest; the first in its list.
};

[[nodiscard]] constexpr Occupancy occupancy(const Architecture& architecture,
                                            const OccupancyQuery& query) {
  const ComputeUnit& cu = architecture.cu;
  const auto round_up = [](std::uint32_t value, std::uint32_t granule) {
    return (value + granule - 1) / granule * granule;
  };
  const auto waves_by = [&](std::uint32_t total, std::uint32_t used, std::uint32_t granule) {
    return used == 0 ? cu.wave_slots_per_simd : total / round_up(used, granule);
  };
  const std::uint32_t by_vgprs = waves_by(cu.vgprs_per_lane, query.vgprs, cu.vgpr_granule);
  const std::uint32_t by_sgprs = waves_by(cu.sgprs_per_simd, query.sgprs, cu.sgpr_granule);
  const std::uint32_t waves_per_group =
      std::max(1U, round_up(query.workgroup_size, architecture.wavefront_size) /
                       architecture.wavefront_size);

  struct Bound {
    OccupancyLimit limit;
    std::uint32_t workgroups;
  };
  const Bound bounds[] = {
      {OccupancyLimit::wave_slots, cu.wave_slots() / waves_per_group},
      {OccupancyLimit::vgprs, cu.simds * by_vgprs / waves_per_group},
      {OccupancyLimit::sgprs, cu.simds * by_sgprs / waves_per_group},
      {OccupancyLimit::lds, query.lds_bytes == 0
                                ? cu.wave_slots()
                                : cu.lds_bytes / round_up(query.lds_bytes, cu.lds_granule_bytes)},
      {OccupancyLimit::barrier_slots, waves_per_group > 1 ? cu.barrier_slots : cu.wave_slots()},
  };
  Bound tightest = bounds[0];
  for (const Bound& bound : bounds) {
    if (bound.workgroups < tightest.workgroups) tightest = bound;
  }
  return {tightest.workgroups, tightest.workgroups * waves_per_group,
          std::min({cu.wave_slots_per_simd, by_vgprs, by_sgprs}), tightest.limit};
}

}  // namespace margay
