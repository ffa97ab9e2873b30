// One fault, one finding: what has the same cause becomes one finding with the others in a list.
#pragma once

#include <vector>

#include "report/check/finding.h"

namespace margay::check {

/// Gives every finding its cause, merges those of one cause, and says their fixes in words. Of
/// places, accesses and hints everything has to be known (resolve.h, barrier_place.h). The first of
/// a cause stays in front.
void group_by_cause(std::vector<Finding>& findings);

/// The fix in words: from its kind and place, or as the check said it.
[[nodiscard]] std::string fix_in_words(const Finding& finding);

}  // namespace margay::check
