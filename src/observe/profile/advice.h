// What the counters of a kernel prove: what limits it, and what would change that, with the numbers
// and the lines they come from.
#pragma once

#include <string>
#include <vector>

#include "observe/profile/profile.h"

namespace margay::profile {

/// The part of the device that the kernel keeps busy, or waits for, longest.
struct Limit {
  std::string part;  ///< "memory", "vector ALU", "load latency" ...; empty: it does nothing.
  std::string what;  ///< "memory is the limit: 4.25 MB need 708 ns; LDS is next with 41 % of that"
  std::string meaning;  ///< What that means for whoever wants it faster.
};
[[nodiscard]] Limit limit_of(const KernelProfile& kernel);

struct Advice {
  std::string what;    ///< "every ds_read_b64 at gemm.cpp:84 conflicts 4 ways: lanes 0, 4, 8 ..."
  std::string why;     ///< What it costs, in the kernel's own numbers.
  std::string fix;     ///< What would change it; may be empty.
  std::string effect;  ///< "saves up to 43 % of the least time; then LDS is the limit"
  /// Share of the least time of all (that of the limiting part) that it saves at most; the list is
  /// sorted by it.
  double gain = 0;
  double relief = 0;  ///< The share that it saves of the part it relieves; breaks ties.
};
/// What saves nothing worth a sentence, of the limit or of a part nearly as long, is left out.
[[nodiscard]] std::vector<Advice> advice_for(const KernelProfile& kernel);

}  // namespace margay::profile
