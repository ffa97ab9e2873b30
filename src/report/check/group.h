// One fault, one finding: findings with the same cause are merged into one that lists the others.
#pragma once

#include <vector>

#include "report/check/finding.h"

namespace margay::check {

/// Gives every finding its cause and merges those of one cause. Places, accesses and fixes have to
/// be known (resolve.h, barrier_place.h). The first of a cause stays in front.
void group_by_cause(std::vector<Finding>& findings);

}  // namespace margay::check
