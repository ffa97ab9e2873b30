// Fixes in words: the last step, from the kind of change, its place and what it names.
#pragma once

#include <string>

#include "report/check/finding.h"

namespace margay::check {

/// Empty where the check knows none.
[[nodiscard]] std::string fix_in_words(const Finding& finding);

}  // namespace margay::check
