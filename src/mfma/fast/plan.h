// Turns a run of v_mfma_f32_16x16x16_bf16, or another that AMX has, into steps for the AMX unit:
// accumulators stay in tiles from the first instruction that uses them to the last, A is transposed
// once regardless of how often it is used, and two k steps become one.
#pragma once

#include <span>
#include <vector>

#include "mfma/fast/amx.h"

namespace margay::mfma_amx {

struct Plan {
  std::vector<TileOp> ops;
  std::vector<std::uint32_t> numbers;  ///< Constants, and rows of ops for four tiles.
};

/// Executing the plan's ops gives what the steps give one after another, except for the order in
/// which k is summed.
[[nodiscard]] Plan make_plan(Types types, Size size, std::span<const MfmaStep> steps);

}  // namespace margay::mfma_amx
