#include "report/profile/analysis/occupancy_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "gpu/occupancy.h"

namespace margay::profile {
namespace {

void insert_sorted(std::vector<std::uint32_t>& list, std::uint32_t value) {
  const auto at = std::ranges::lower_bound(list, value);
  if (at == list.end() || *at != value) list.insert(at, value);
}

}  // namespace

OccupancyTable occupancy_table(const KernelProfile& kernel) {
  const ComputeUnit& cu = kernel.gpu->arch().cu;
  OccupancyTable out;
  for (std::uint32_t waves = cu.wave_slots_per_simd; waves > 0; --waves)
    insert_sorted(out.vgprs, cu.vgprs_per_lane / waves / cu.vgpr_granule * cu.vgpr_granule);
  insert_sorted(out.vgprs, kernel.resources.vgprs);
  for (const std::uint32_t share : {16u, 8u, 4u, 3u, 2u, 1u})
    insert_sorted(out.lds_bytes,
                  cu.lds_bytes / share / cu.lds_granule_bytes * cu.lds_granule_bytes);
  insert_sorted(out.lds_bytes,
                kernel.resources.static_lds_bytes + kernel.resources.dynamic_lds_bytes);
  const std::uint64_t items =
      std::uint64_t{kernel.workgroup[0]} * kernel.workgroup[1] * kernel.workgroup[2];
  for (const std::uint32_t vgprs : out.vgprs) {
    std::vector<std::uint32_t>& row = out.waves.emplace_back();
    for (const std::uint32_t lds : out.lds_bytes)
      // A profile from a file may contain any value.
      row.push_back(
          occupancy(kernel.gpu->arch(), {std::min(vgprs, cu.vgprs_per_lane + 1),
                                         std::min(kernel.resources.sgprs, cu.sgprs_per_simd + 1),
                                         std::min(lds, cu.lds_bytes + 1),
                                         static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                             items, cu.max_workgroup_size))})
              .waves_per_cu);
  }
  return out;
}

std::string unused_lds(const KernelProfile& kernel) {
  const Resources& r = kernel.resources;
  if (r.limit != name_of(OccupancyLimit::lds)) return {};
  std::uint64_t reached = 0;
  for (const Site& site : kernel.sites) {
    if (site.traits.loads_to_lds) return {};
    if (site.lds) reached = std::max(reached, site.lds->reached_bytes);
  }
  const std::uint64_t asked = std::uint64_t{r.static_lds_bytes} + r.dynamic_lds_bytes;
  const std::uint64_t granule = kernel.gpu->arch().cu.lds_granule_bytes;
  // 0: none, or a profile of an earlier version.
  if (reached == 0 || reached + granule > asked) return {};
  const std::string out = fmt::format(
      "no LDS instruction went past the first {} of the {} bytes that a workgroup has: ask for "
      "fewer",
      reached, asked);
  if (kernel.sampled_workgroups == 0) return out;
  return fmt::format("{}, if the other workgroups do as the {} that were followed", out,
                     kernel.sampled_workgroups);
}

}  // namespace margay::profile
