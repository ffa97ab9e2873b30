#include "observe/profile/resources.h"

#include <fmt/format.h>

#include <string>

#include "exec/workgroup/occupancy.h"

namespace margay::profile {
namespace {

/// The largest amount of one resource with which more workgroups would fit; 0 if none.
template <typename Set>
std::uint32_t most_that_fits(const Architecture& architecture, OccupancyQuery query,
                             std::uint32_t have, std::uint32_t workgroups, std::uint32_t granule,
                             Set&& set) {
  for (std::uint32_t less = (have - 1) / granule * granule; less > 0; less -= granule) {
    set(query, less);
    if (occupancy(architecture, query).workgroups_per_cu > workgroups) return less;
  }
  return 0;
}

std::string next_step(const Architecture& architecture, const OccupancyQuery& query,
                      const Kernel& kernel, const Occupancy& now) {
  const ComputeUnit& cu = architecture.cu;
  const auto sentence = [](std::string_view what, std::uint32_t wanted, std::uint32_t have) {
    return fmt::format("one more workgroup per CU would fit with {} {} instead of {}", wanted, what,
                       have);
  };
  if (now.limit == OccupancyLimit::vgprs) {
    const std::uint32_t wanted =
        most_that_fits(architecture, query, query.vgprs, now.workgroups_per_cu, cu.vgpr_granule,
                       [](OccupancyQuery& q, std::uint32_t n) { q.vgprs = n; });
    // A real kernel does not fit into fewer than 32.
    return wanted >= 32 ? sentence("VGPRs", wanted, query.vgprs) : std::string{};
  }
  if (now.limit == OccupancyLimit::sgprs) {
    const std::uint32_t wanted =
        most_that_fits(architecture, query, query.sgprs, now.workgroups_per_cu, cu.sgpr_granule,
                       [](OccupancyQuery& q, std::uint32_t n) { q.sgprs = n; });
    return wanted != 0 ? sentence("SGPRs", wanted, kernel.sgpr_count) : std::string{};
  }
  if (now.limit == OccupancyLimit::lds) {
    const std::uint32_t wanted = most_that_fits(
        architecture, query, query.lds_bytes, now.workgroups_per_cu, cu.lds_granule_bytes,
        [](OccupancyQuery& q, std::uint32_t n) { q.lds_bytes = n; });
    return wanted != 0 ? sentence("bytes of LDS", wanted, query.lds_bytes) : std::string{};
  }
  return {};
}

}  // namespace

Resources resources_of(const Architecture& architecture, const LaunchRequest& request,
                       std::uint32_t code_bytes) {
  const Kernel& kernel = *request.kernel;
  const OccupancyQuery query{kernel.vgpr_count, kernel.sgpr_count,
                             kernel.lds_bytes + request.dynamic_lds_bytes,
                             static_cast<std::uint32_t>(request.block.count())};
  const Occupancy now = occupancy(architecture, query);
  Resources out;
  out.vgprs = kernel.vgpr_count;
  out.agprs = kernel.agpr_count;
  out.sgprs = kernel.sgpr_count;
  out.static_lds_bytes = kernel.lds_bytes;
  out.dynamic_lds_bytes = request.dynamic_lds_bytes;
  out.scratch_bytes = kernel.scratch_bytes;
  out.vgpr_spills = kernel.vgpr_spill_count;
  out.sgpr_spills = kernel.sgpr_spill_count;
  out.code_bytes = code_bytes;
  out.workgroups_per_cu = now.workgroups_per_cu;
  out.waves_per_cu = now.waves_per_cu;
  out.waves_per_simd = now.waves_per_simd;
  out.limit = name_of(now.limit);
  out.next_step = next_step(architecture, query, kernel, now);
  return out;
}

}  // namespace margay::profile
