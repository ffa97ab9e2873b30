// The matrix instructions of gfx942, and how long its matrix unit is busy with each.
#pragma once

#include <array>

#include "gpu/matrix_shapes.h"

namespace margay {

/// Passes of four cycles. Source: AMD matrix instruction calculator, which LLVM's SIDPGFX940 model
/// agrees with.
[[nodiscard]] constexpr std::uint8_t gfx942_passes(const MfmaShape& shape) {
  if (shape.a == MfmaType::f64) return shape.m == 16 ? 8 : 4;
  if (shape.m == 4) return 2;
  const bool slow = shape.a == MfmaType::f32 || shape.blocks > 1;
  return static_cast<std::uint8_t>(shape.m / 2 / (slow ? 1 : 2));
}

/// It has all that Margay knows (MI300 ISA guide, chapter 7).
inline constexpr auto kGfx942Matrix = [] {
  std::array<MatrixInstruction, kMfmaShapeCount + kSmfmacShapeCount> all{};
  std::size_t n = 0;
  for (const MfmaShape& shape : kMfmaShapes) all[n++] = {&shape, gfx942_passes(shape)};
  for (const MfmaShape& shape : kSmfmacShapes) all[n++] = {&shape, gfx942_passes(shape)};
  return all;
}();

}  // namespace margay
