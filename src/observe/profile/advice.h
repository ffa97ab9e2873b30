// What the counters of a kernel prove: sentences with the numbers and the lines they come from.
#pragma once

#include <string>
#include <vector>

#include "observe/profile/profile.h"

namespace margay::profile {

struct Advice {
  std::string what;   ///< "every ds_read_b64 at gemm.cpp:84 conflicts 4 ways: lanes 0, 4, 8 ..."
  std::string why;    ///< What it costs, in the kernel's own numbers.
  std::string fix;    ///< What would change it; may be empty.
  double weight = 0;  ///< Cycles or bytes' cycles it costs at least; the list is sorted by it.
};
[[nodiscard]] std::vector<Advice> advice_for(const KernelProfile& kernel);

}  // namespace margay::profile
