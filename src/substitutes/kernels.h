// Launches of the kernels that the substitutes have, on the program's stream.
#pragma once

#include <string_view>

namespace margay::substitutes {

struct Grid {
  unsigned x = 1, y = 1, z = 1, threads = 1;
};

/// A kernel of lib/margay/kernels/`file`.hsaco with one argument, on the thread's device; false:
/// HIP refused, and said why.
[[nodiscard]] bool launch_kernel(std::string_view file, std::string_view kernel, Grid grid,
                                 void* argument, void* stream);

}  // namespace margay::substitutes
