// Which source lines of two profiles are the same, and how they changed.
#pragma once

#include <string>
#include <vector>

#include "report/profile/profile.h"

namespace margay::profile {

/// The lines that gained or lost most, as text: modelled cycles if both have a time, else
/// issue cycles per launch; see compare().
[[nodiscard]] std::vector<std::string> compare_lines(const KernelProfile& a, const KernelProfile& b,
                                                     const SourceText& text_a,
                                                     const SourceText& text_b);

}  // namespace margay::profile
