// fp8 and bf8 as bf16, which has each of their numbers.
#pragma once

#include <bit>

#include "gpu/matrix_shapes.h"
#include "mfma/kernels/lanes.h"

namespace margay::MARGAY_HOST_LEVEL {

/// The bf16 of 32 bytes, each of which is the lower half of a word.
template <MfmaType t>
[[nodiscard]] MARGAY_INLINE U16 bfloats(U16 bytes) {
  constexpr int mantissa_bits = t == MfmaType::fp8 ? 3 : 2;
  constexpr std::uint16_t bias = t == MfmaType::fp8 ? 8 : 16;
  // As to_f32 (expand.h), but that bf16 has no arithmetic: the denormals are looked up.
  static constexpr auto kDenormals = [] {
    struct {
      alignas(64) std::uint16_t values[32];
    } table{};
    for (std::uint16_t n = 1; n < 1 << mantissa_bits; ++n) {
      const auto top = static_cast<std::uint16_t>(std::bit_width(n) - 1);  // n = 2^top * 1.xxx
      const auto exponent = static_cast<std::uint16_t>(127 + 1 - bias - mantissa_bits + top);
      const auto fraction = static_cast<std::uint16_t>((n << (7 - top)) & 0x7f);
      table.values[n] = static_cast<std::uint16_t>(exponent << 7 | fraction);
    }
    return table;
  }();
  const U16 magnitude = bytes & 0x7fu;
  const U16 normal = (magnitude << (7 - mantissa_bits)) + std::uint16_t{(127 - bias) << 7};
  const U16 denormal =
      (U16)_mm512_permutexvar_epi16((__m512i)magnitude, _mm512_load_si512(&kDenormals.values[0]));
  const U16 finite =
      (magnitude < std::uint16_t{1 << mantissa_bits} ? denormal : normal) | (bytes & 0x80u) << 8;
  return bytes == std::uint16_t{0x80} ? U16{} + std::uint16_t{0x7fc0} : finite;
}

/// Pairs of the first two bytes of each dword, and of the others.
struct BfloatPairs {
  U16 low, high;
};
template <MfmaType t>
[[nodiscard]] MARGAY_INLINE BfloatPairs bfloats(U32 four) {
  const auto words = [](U32 x) __attribute__((always_inline)) {
    return (U16)((x & 0xffu) | (x & 0xff00u) << 8);
  };
  return {bfloats<t>(words(four)), bfloats<t>(words(four >> 16))};
}

}  // namespace margay::MARGAY_HOST_LEVEL
