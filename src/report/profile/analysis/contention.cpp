#include "report/profile/analysis/contention.h"

#include <cstdint>
#include <map>

namespace margay::profile {

std::vector<ContendedAtomics> contended_atomics(const KernelProfile& kernel) {
  std::map<std::int32_t, double> requests;
  for (const Site& site : kernel.sites)
    if (site.is_atomic && site.memory && site.tensor >= 0)
      requests[site.tensor] += static_cast<double>(site.memory->l2_writes);
  constexpr double kMany = 256, kSector = 64;  // of one place; bytes
  std::vector<ContendedAtomics> out;
  for (const auto& [tensor, count] : requests) {
    const auto n = static_cast<std::size_t>(tensor);
    const double sectors = static_cast<double>(kernel.tensors[n].touched_written_bytes) / kSector;
    if (sectors != 0 && count >= kMany * sectors) out.push_back({n, count, kSector * sectors});
  }
  return out;
}

}  // namespace margay::profile
