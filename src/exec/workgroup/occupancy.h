// The occupancy of a kernel as its code object describes it; gpu/occupancy.h computes it.
#pragma once

#include <cstdint>

#include "code_object/code_object.h"
#include "gpu/occupancy.h"

namespace margay {

/// Launched with `workgroup_size` work-items and the given dynamic LDS.
[[nodiscard]] inline Occupancy occupancy(const Architecture& architecture, const Kernel& kernel,
                                         std::uint32_t workgroup_size,
                                         std::uint32_t dynamic_lds_bytes) {
  return occupancy(architecture, {kernel.vgpr_count, kernel.sgpr_count,
                                  kernel.lds_bytes + dynamic_lds_bytes, workgroup_size});
}

}  // namespace margay
