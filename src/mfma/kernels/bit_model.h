// The bit-level model of the matrix unit's sums, in plain integers: what `exact` means. Slow; the
// vector kernels are tested against it and fall back on it for extreme operands.
//
// Source: MMA-Sim (microsoft/MMA-Sim, MIT; Xie et al., arXiv 2511.10909), the functions its newest
// version calls tr_fdpa and gtr_fdpa, which its authors compared with a real CDNA3 device on random
// bit patterns. README.md describes the model.
#pragma once

#include <cstdint>

#include "gpu/matrix_shapes.h"

namespace margay {

/// A finite value is significand * 2^(exponent - fraction_bits), with the exponent of the type's
/// smallest normal number when it is zero or denormal.
struct MfmaFactor {
  enum class Kind : std::uint8_t { finite, infinity, nan };
  Kind kind = Kind::finite;
  bool negative = false;
  std::uint32_t significand = 0;
  int exponent = 0;
  int fraction_bits = 0;
};

/// Decodes one element of an operand. Not for f64, f32 and i8, which need no model.
[[nodiscard]] MfmaFactor mfma_factor(MfmaType type, std::uint32_t bits);

/// Products summed in one step of the model: f16, bf16 8; xf32 4; fp8, bf8 16.
[[nodiscard]] int mfma_group_size(MfmaType type, int k);

/// One step: c plus `count` products, as f32 bits. `split` sums even and odd products apart first,
/// as the fp8 and bf8 instructions do.
[[nodiscard]] std::uint32_t mfma_group_sum(const MfmaFactor* a, const MfmaFactor* b, int count,
                                           std::uint32_t c, bool split);

/// The same for bf16 or xf32 elements given as f32.
[[nodiscard]] std::uint32_t mfma_float_group_sum(const float* a, const float* b, int count,
                                                 std::uint32_t c);

inline constexpr int kMfmaMaxGroup = 16;

/// The quiet NaN every mode writes; the hardware's payload is not documented.
inline constexpr std::uint32_t kMfmaNan = 0x7fc00000;

}  // namespace margay
