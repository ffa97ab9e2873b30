// Makes programs. The same seed makes the same program, everywhere.
#pragma once

#include "apps/fuzz/programs/program.h"

namespace margay::fuzz {

[[nodiscard]] Program generate(std::uint64_t seed);

}  // namespace margay::fuzz
