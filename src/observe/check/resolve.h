// From instruction addresses to what a person reads: disassembly, functions, source lines.
#pragma once

#include <vector>

#include "exec/program.h"
#include "observe/check/finding.h"

namespace margay::check {

/// Fills in the places of every access.
void resolve(std::vector<Finding>& findings, const Program& program);

/// A call chain: the user's innermost line first, then the library functions it called, inwards,
/// then the user's own callers, outwards.
struct CallChain {
  std::vector<SourceFrame> frames;
  std::uint32_t called = 0;  ///< See Access::called.
};
[[nodiscard]] CallChain user_first(std::vector<SourceFrame> innermost_first);

/// Findings that differ only in which instruction of the same source lines they are about become
/// one.
void merge_lines(std::vector<Finding>& findings);

}  // namespace margay::check
