// How many waves would fit with other register and LDS sizes: for a table next to the kernel's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/profile/profile.h"

namespace margay::profile {

struct OccupancyTable {
  std::vector<std::uint32_t> vgprs;      ///< The most that N waves per SIMD leave each; own too.
  std::vector<std::uint32_t> lds_bytes;  ///< Per workgroup; the kernel's own among them.
  std::vector<std::vector<std::uint32_t>> waves;  ///< Per CU: by VGPRs, then by LDS.
};
/// For the kernel's own workgroup size and SGPRs.
[[nodiscard]] OccupancyTable occupancy_table(const KernelProfile& kernel);

/// Where LDS is the limit and the launch asked for more of it than its instructions reached, a
/// sentence that says so; empty otherwise, and where loads went straight to LDS, whose reach is not
/// recorded.
[[nodiscard]] std::string unused_lds(const KernelProfile& kernel);

}  // namespace margay::profile
