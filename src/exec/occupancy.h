// How many waves of a kernel fit on one CDNA3 compute unit at a time, and what limits them. A pure
// function of the kernel's resources: the HIP occupancy calls, `margay asm` and the profiler all
// ask here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "code_object/code_object.h"

namespace margay {

/// The resources that a compute unit shares among its waves. Sources: LLVM, AMDGPUBaseInfo
/// (IsaInfo, gfx90a and later); MI300 ISA guide, 3.6; LLVM's resource remarks for gfx942.
struct ComputeUnit {
  static constexpr std::uint32_t kSimds = 4;
  static constexpr std::uint32_t kWavefrontSize = 64;
  static constexpr std::uint32_t kWaveSlotsPerSimd = 8;
  static constexpr std::uint32_t kVgprsPerSimdLane = 512;  ///< Architected and accumulation.
  static constexpr std::uint32_t kVgprGranule = 8;
  static constexpr std::uint32_t kSgprsPerSimd = 800;
  static constexpr std::uint32_t kSgprGranule = 16;
  static constexpr std::uint32_t kLdsBytes = 64 * 1024;
  static constexpr std::uint32_t kLdsGranuleBytes = 512;
  /// Workgroups of more than one wave need a barrier slot.
  static constexpr std::uint32_t kBarrierSlots = 16;
};

struct OccupancyQuery {
  std::uint32_t vgprs = 0;      ///< Per lane, architected and accumulation together.
  std::uint32_t sgprs = 0;      ///< Per wave.
  std::uint32_t lds_bytes = 0;  ///< Per workgroup, static and dynamic.
  std::uint32_t workgroup_size = ComputeUnit::kWavefrontSize;  ///< Work-items.
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

[[nodiscard]] constexpr Occupancy occupancy(const OccupancyQuery& query) {
  using Cu = ComputeUnit;
  const auto round_up = [](std::uint32_t value, std::uint32_t granule) {
    return (value + granule - 1) / granule * granule;
  };
  const auto waves_by = [&](std::uint32_t total, std::uint32_t used, std::uint32_t granule) {
    return used == 0 ? Cu::kWaveSlotsPerSimd : total / round_up(used, granule);
  };
  const std::uint32_t by_vgprs = waves_by(Cu::kVgprsPerSimdLane, query.vgprs, Cu::kVgprGranule);
  const std::uint32_t by_sgprs = waves_by(Cu::kSgprsPerSimd, query.sgprs, Cu::kSgprGranule);
  const std::uint32_t waves_per_group =
      std::max(1U, round_up(query.workgroup_size, Cu::kWavefrontSize) / Cu::kWavefrontSize);

  struct Bound {
    OccupancyLimit limit;
    std::uint32_t workgroups;
  };
  const Bound bounds[] = {
      {OccupancyLimit::wave_slots, Cu::kSimds * Cu::kWaveSlotsPerSimd / waves_per_group},
      {OccupancyLimit::vgprs, Cu::kSimds * by_vgprs / waves_per_group},
      {OccupancyLimit::sgprs, Cu::kSimds * by_sgprs / waves_per_group},
      {OccupancyLimit::lds, query.lds_bytes == 0
                                ? Cu::kSimds * Cu::kWaveSlotsPerSimd
                                : Cu::kLdsBytes / round_up(query.lds_bytes, Cu::kLdsGranuleBytes)},
      {OccupancyLimit::barrier_slots,
       waves_per_group > 1 ? Cu::kBarrierSlots : Cu::kSimds * Cu::kWaveSlotsPerSimd},
  };
  Bound tightest = bounds[0];
  for (const Bound& bound : bounds) {
    if (bound.workgroups < tightest.workgroups) tightest = bound;
  }
  return {tightest.workgroups, tightest.workgroups * waves_per_group,
          std::min({Cu::kWaveSlotsPerSimd, by_vgprs, by_sgprs}), tightest.limit};
}

/// The same for a kernel, launched with `workgroup_size` work-items and so much dynamic LDS.
[[nodiscard]] inline Occupancy occupancy(const Kernel& kernel, std::uint32_t workgroup_size,
                                         std::uint32_t dynamic_lds_bytes) {
  return occupancy(
      {kernel.vgpr_count, kernel.sgpr_count, kernel.lds_bytes + dynamic_lds_bytes, workgroup_size});
}

}  // namespace margay
