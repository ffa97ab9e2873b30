// One line for each kernel of a program that has many, by cost.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/profile/profile.h"
#include "report/words.h"

namespace margay::profile {

/// As many kernels are shown one by one; of a program that has more, the table alone, and each on
/// demand.
inline constexpr std::size_t kKernelsInDetail = 8;

struct KernelCost {
  const KernelProfile* kernel = nullptr;
  double seconds = 0;  ///< Of all its launches.
  std::string note;    ///< A word more, such as what it is bound by; may be empty.
};

/// "16x1x1 of 256x1x1".
[[nodiscard]] std::string launch_size(const KernelProfile& kernel);

/// By cost, dearest first. `what` heads the column of costs: "at least". Without `full` the first
/// ones and what the others cost together.
[[nodiscard]] std::string kernel_table(std::vector<KernelCost> costs, std::string_view what,
                                       const report::TextOptions& options, bool full);

}  // namespace margay::profile
