// Conclusions from the counters of a kernel: what limits it, and what would change that, with the
// numbers and their source lines.
#pragma once

#include <string>
#include <vector>

#include "report/profile/analysis/advice_list.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// The part of the device that the kernel keeps busy, or waits for, the longest.
struct Limit {
  std::string part;  ///< "memory", "vector ALU", "load latency" ...; empty: none.
  std::string what;  ///< "memory is the limit: 4.25 MB need 708 ns; LDS is next with 41 % of that"
  std::string meaning;  ///< What that means for optimisation.
};
[[nodiscard]] Limit limit_of(const KernelProfile& kernel);

/// Changes with negligible savings, for the limit or a part nearly as long, are omitted.
[[nodiscard]] std::vector<Advice> advice_for(const KernelProfile& kernel);

}  // namespace margay::profile
