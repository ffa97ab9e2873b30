// Shrinks a failing program.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "apps/fuzz/programs/program.h"
#include "base/error.h"

namespace margay::fuzz {

/// Returns which of the candidates still fail.
using StillFails = std::function<Result<std::vector<bool>>(std::span<const Program>)>;

struct Shrunk {
  Program program;
  unsigned steps = 0;  ///< Changes that kept it failing.
  unsigned tried = 0;  ///< Programs run.
};

/// Removes statements, then replaces expressions by simpler ones, as long as the result still
/// fails, until nothing more can be removed or `limit` programs were run.
[[nodiscard]] Result<Shrunk> shrink(const Program& failing, const StillFails& still_fails,
                                    unsigned limit = 6000);

/// A measure of the reading effort.
[[nodiscard]] std::size_t size_of(const Program& program);

}  // namespace margay::fuzz
