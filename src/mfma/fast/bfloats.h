// fp8 and bf8 as bf16, which has each of their numbers, and f16 as sums of two bf16.
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

/// f16 has 11 bits of significand, so that each is exactly the sum of two bf16: `high`, its first
/// 8 bits, and `low`, the others.
struct SplitHalves {
  U16 high, low;
};

/// Of f16 that are neither infinities nor NaNs nor denormals.
[[nodiscard]] MARGAY_INLINE SplitHalves split_usual(U16 halves) {
  // What the three bits that bf16 lacks add to the exponent field of f16 in bf16's place.
  static constexpr auto kLow = [] {
    struct {
      alignas(64) std::uint16_t values[32];
    } table{};
    for (std::uint16_t n = 0; n < 32; ++n) {
      const auto bits = static_cast<std::uint16_t>(n & 7);
      if (bits == 0) continue;
      const auto top = static_cast<std::uint16_t>(std::bit_width(bits) - 1);  // 2^top * 1.xxx
      const auto exponent = static_cast<std::uint16_t>(127 - 15 - 10 + top);
      const auto fraction = static_cast<std::uint16_t>((bits << (7 - top)) & 0x7f);
      table.values[n] = static_cast<std::uint16_t>(exponent << 7 | fraction);
    }
    return table;
  }();
  const U16 shifted = (halves & 0x7fffu) >> 3, sign = halves & 0x8000u;
  const auto bits = [&](std::int16_t which) __attribute__((always_inline)) {
    return _mm512_test_epi16_mask((__m512i)halves, _mm512_set1_epi16(which));
  };
  const auto high = (U16)_mm512_maskz_add_epi16(bits(0x7fff), (__m512i)shifted,
                                                _mm512_set1_epi16((127 - 15) << 7));
  const auto low = (U16)_mm512_maskz_add_epi16(
      bits(7), (__m512i)(shifted & 0x0f80u),
      _mm512_permutexvar_epi16((__m512i)halves, _mm512_load_si512(&kLow.values[0])));
  return {high | sign, low | sign};
}

/// Of any f16. The `low` of an infinity or a NaN is 0.
[[nodiscard]] MARGAY_INLINE SplitHalves split_any(U16 halves) {
  const auto bfloats_of = [](F32 even, F32 odd) __attribute__((always_inline)) {
    return (U16)((U32)even >> 16 | ((U32)odd & 0xffff0000u));
  };
  const auto cut = [](F32 x) __attribute__((always_inline)) { return (F32)((U32)x & 0xffff0000u); };
  const U16 magnitude = halves & 0x7fffu;
  const auto is_finite = (U16)(magnitude < std::uint16_t{0x7c00});
  const auto finite = (U32)(halves & is_finite);
  const F32 even = half_to_float(finite & 0xffffu), odd = half_to_float(finite >> 16);
  const U16 infinity = (halves & 0x8000u) | 0x7f80u;
  const U16 other = magnitude == std::uint16_t{0x7c00} ? infinity : U16{} + std::uint16_t{0x7fc0};
  return {bfloats_of(even, odd) | (other & ~is_finite),
          bfloats_of(even - cut(even), odd - cut(odd))};
}

}  // namespace margay::MARGAY_HOST_LEVEL
