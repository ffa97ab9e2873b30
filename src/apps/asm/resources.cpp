// See resources.h.
#include "apps/asm/resources.h"

#include "apps/asm/listing.h"

namespace margay::assembly {
namespace {

std::vector<OccupancyLimit> limits_of(const Architecture& architecture, const Kernel& kernel,
                                      const Occupancy& all) {
  const std::uint32_t size = kernel.max_workgroup_size;
  const auto allows_no_more = [&](const OccupancyQuery& alone) {
    return occupancy(architecture, alone).workgroups_per_cu == all.workgroups_per_cu;
  };
  const Occupancy empty = occupancy(architecture, {.workgroup_size = size});
  if (empty.workgroups_per_cu == all.workgroups_per_cu) return {empty.limit};
  std::vector<OccupancyLimit> limits;
  if (allows_no_more({.vgprs = kernel.vgpr_count, .workgroup_size = size})) {
    limits.push_back(OccupancyLimit::vgprs);
  }
  if (allows_no_more({.sgprs = kernel.sgpr_count, .workgroup_size = size})) {
    limits.push_back(OccupancyLimit::sgprs);
  }
  if (allows_no_more({.lds_bytes = kernel.lds_bytes, .workgroup_size = size})) {
    limits.push_back(OccupancyLimit::lds);
  }
  return limits;
}

}  // namespace

KernelResources resources_of(const CodeObject& object, const Kernel& kernel) {
  const Architecture& architecture = object.architecture();
  const Occupancy all = occupancy(architecture, kernel, kernel.max_workgroup_size, 0);
  const std::uint32_t wave = architecture.wavefront_size;
  return {
      .vgprs = kernel.vgpr_count,
      .architected_vgprs =
          kernel.agpr_count == 0 ? kernel.vgpr_count : kernel.descriptor.accum_offset(),
      .agprs = kernel.agpr_count,
      .allocated_vgprs = kernel.descriptor.unified_vgpr_count(),
      .sgprs = kernel.sgpr_count,
      .lds_bytes = kernel.lds_bytes,
      .scratch_bytes = kernel.scratch_bytes,
      .dynamic_stack = kernel.uses_dynamic_stack,
      .vgpr_spills = kernel.vgpr_spill_count,
      .sgpr_spills = kernel.sgpr_spill_count,
      .code_bytes = code_bytes(object, kernel.entry_vaddr),
      .max_workgroup_size = kernel.max_workgroup_size,
      .waves_per_workgroup = (kernel.max_workgroup_size + wave - 1) / wave,
      .cu = &architecture.cu,
      .limits = limits_of(architecture, kernel, all),
      .occupancy = all,
  };
}

}  // namespace margay::assembly
