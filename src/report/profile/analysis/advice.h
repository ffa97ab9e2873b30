// What the counters of a kernel prove: what limits it, and what would change that, with the numbers
// and the lines they come from.
#pragma once

#include <string>
#include <vector>

#include "report/profile/analysis/advice_list.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// The part of the device that the kernel keeps busy, or waits for, longest.
struct Limit {
  std::string part;  ///< "memory", "vector ALU", "load latency" ...; empty: it does nothing.
  std::string what;  ///< "memory is the limit: 4.25 MB need 708 ns; LDS is next with 41 % of that"
  std::string meaning;  ///< What that means for whoever wants it faster.
};
[[nodiscard]] Limit limit_of(const KernelProfile& kernel);

/// What saves nothing worth a sentence, of the limit or of a part nearly as long, is left out.
[[nodiscard]] std::vector<Advice> advice_for(const KernelProfile& kernel);

}  // namespace margay::profile
