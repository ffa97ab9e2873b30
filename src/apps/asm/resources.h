// A kernel's use of a compute unit, in the figures that `margay asm` prints and writes to JSON.
#pragma once

#include <cstdint>
#include <vector>

#include "code_object/code_object.h"
#include "exec/workgroup/occupancy.h"

namespace margay::assembly {

struct KernelResources {
  std::uint32_t vgprs = 0;              ///< Per lane, architected and accumulation together.
  std::uint32_t architected_vgprs = 0;  ///< v0 ... ; accumulation VGPRs begin after them.
  std::uint32_t agprs = 0;
  std::uint32_t allocated_vgprs = 0;  ///< Rounded up to the hardware's granule.
  std::uint32_t sgprs = 0;
  std::uint32_t lds_bytes = 0;      ///< Static, per workgroup.
  std::uint32_t scratch_bytes = 0;  ///< Per lane.
  bool dynamic_stack = false;       ///< Scratch can grow beyond scratch_bytes.
  std::uint32_t vgpr_spills = 0, sgpr_spills = 0;
  std::uint64_t code_bytes = 0;
  std::uint32_t max_workgroup_size = 0;   ///< Work-items.
  std::uint32_t waves_per_workgroup = 0;  ///< Of that size.
  const ComputeUnit* cu = nullptr;        ///< The compute unit it runs on.
  /// All resources that allow no further workgroup: relaxing one of several gains nothing.
  std::vector<OccupancyLimit> limits;
  Occupancy occupancy;  ///< For that size, without dynamic LDS.
};

[[nodiscard]] KernelResources resources_of(const CodeObject& object, const Kernel& kernel);

}  // namespace margay::assembly
