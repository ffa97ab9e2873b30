// When two results of one operation count as equal.
#pragma once

#include <cstdint>

#include "apps/fuzz/programs/program.h"

namespace margay::fuzz {

/// Whether `device` are bits that the instruction of kApproximations[function] may result in for
/// the argument whose f64 bits are `argument`.
[[nodiscard]] bool approximation_holds(unsigned function, std::uint64_t device,
                                       std::uint64_t argument);

}  // namespace margay::fuzz
