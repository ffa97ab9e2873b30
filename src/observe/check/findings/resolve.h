// Resolves instruction addresses to disassembly, functions and source lines.
#pragma once

#include <vector>

#include "exec/program/program.h"
#include "report/check/finding.h"

namespace margay::check {

/// Fills in the places of every access.
void resolve(std::vector<Finding>& findings, const Program& program);

}  // namespace margay::check
