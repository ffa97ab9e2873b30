// How long the matrix unit of a SIMD is busy with one instruction.
#pragma once

#include "mfma/instructions/shapes.h"

namespace margay {

inline constexpr unsigned kCyclesPerPass = 4;

/// Passes of four cycles. Source: AMD matrix instruction calculator, which LLVM's SIDPGFX940 model
/// agrees with.
[[nodiscard]] constexpr std::uint8_t matrix_passes(const MfmaShape& shape) {
  if (shape.a == MfmaType::f64) return shape.m == 16 ? 8 : 4;
  if (shape.m == 4) return 2;
  const bool slow = shape.a == MfmaType::f32 || shape.blocks > 1;
  return static_cast<std::uint8_t>(shape.m / 2 / (slow ? 1 : 2));
}

}  // namespace margay
