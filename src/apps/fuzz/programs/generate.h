// Generates programs. The same seed gives the same program on every host.
#pragma once

#include "apps/fuzz/programs/program.h"

namespace margay::fuzz {

[[nodiscard]] Program generate(std::uint64_t seed);

}  // namespace margay::fuzz
