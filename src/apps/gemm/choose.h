// Which kernel `margay gemm` launches: the fast one, or a level of the ladder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "apps/gemm/problem.h"
#include "base/error.h"

namespace margay::gemm {

/// The matrices in device memory.
struct Matrices {
  const void* a;
  const void* b;
  const void* c;
};

/// A launch of a kernel out of a code object in PREFIX/lib/margay/kernels.
struct Choice {
  std::string code_object, kernel;
  unsigned grid_x = 0, grid_y = 1, block_x = 0, dynamic_lds = 0;
  std::vector<std::byte> arguments;
};

[[nodiscard]] Result<Choice> choose(const Options& options, const Matrices& matrices);

/// Makes the options those of options.level. `transpose_given`: the user has set transpose_b; a
/// level supports only one of the two values.
[[nodiscard]] Status apply_level(Options& options, bool transpose_given);

/// The headline of a level: "level 3, b_transposed: ...".
[[nodiscard]] std::string level_title(int level);

/// All levels, for --list-levels.
[[nodiscard]] std::string level_table();

}  // namespace margay::gemm
