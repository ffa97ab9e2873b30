// Atomics that meet in few places, which the model of time does not let wait for each other.
#pragma once

#include <cstddef>
#include <vector>

#include "report/profile/profile.h"

namespace margay::profile {

struct ContendedAtomics {
  std::size_t tensor = 0;  ///< In KernelProfile::tensors.
  double requests = 0;     ///< At L2.
  double bytes = 0;        ///< Of the tensor, in which they are.
};

/// Where more than 256 come to each 64 bytes of a tensor.
[[nodiscard]] std::vector<ContendedAtomics> contended_atomics(const KernelProfile& kernel);

}  // namespace margay::profile
