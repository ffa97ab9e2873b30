// The 8-bit floats of CDNA3: FNUZ, "finite, no negative zero".
//
//              sign  exponent  fraction  bias  largest   smallest
//   fp8e4m3     1        4         3       8      240      2^-10
//   fp8e5m2     1        5         2      16    57344      2^-17
//
// The code 0x80, elsewhere minus zero, is the only NaN; there is no infinity. These are not the OCP
// formats of later devices, whose bias is one less. Source: CDNA3 ISA, section 7.3; Micikevicius et
// al. 2022 and "8-bit Numerical Formats for Deep Neural Networks" (Noune et al. 2022) for FNUZ.
#pragma once

#include "config.cuh"

namespace kittens {

/// An 8-bit float with the given fields. To it one rounds to nearest, ties to even; what is beyond
/// the largest value becomes NaN, as the hardware's conversion does without its clamp.
template <int _exponent_bits, int _fraction_bits>
struct float8 {
  static constexpr int exponent_bits = _exponent_bits;
  static constexpr int fraction_bits = _fraction_bits;
  static constexpr int bias = 1 << (exponent_bits - 1);
  static constexpr uint8_t nan = 0x80;
  static_assert(exponent_bits + fraction_bits == 7);

  uint8_t bits;

  KITTENS_HD float to_float() const {
#if defined(__HIP_DEVICE_COMPILE__)
    if constexpr (exponent_bits == 4) return __builtin_amdgcn_cvt_f32_fp8(bits, 0);
    if constexpr (exponent_bits == 5) return __builtin_amdgcn_cvt_f32_bf8(bits, 0);
#else
    if (bits == nan) return __builtin_nanf("");
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int significand = exponent == 0 ? fraction : fraction | 1 << fraction_bits;
    const int power = (exponent == 0 ? 1 : exponent) - bias - fraction_bits;
    const float magnitude = __builtin_ldexpf(static_cast<float>(significand), power);
    return bits & 0x80 ? -magnitude : magnitude;
#endif
  }

  static KITTENS_HD float8 from_float(float x) {
    float8 low, high;
    from_floats(x, x, low, high);
    return low;
  }

  /// Two at once, as the instruction works.
  static KITTENS_HD void from_floats(float x, float y, float8& low, float8& high) {
#if defined(__HIP_DEVICE_COMPILE__)
    int both;
    if constexpr (exponent_bits == 4) {
      both = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false);
    } else {
      both = __builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0, false);
    }
    low.bits = static_cast<uint8_t>(both);
    high.bits = static_cast<uint8_t>(both >> 8);
#else
    low.bits = round(x);
    high.bits = round(y);
#endif
  }

 private:
  static uint8_t round(float x) {
    const float magnitude = __builtin_fabsf(x);
    const uint8_t sign = __builtin_signbit(x) ? 0x80 : 0;
    if (!(magnitude <= 1e30f)) return nan;
    if (magnitude == 0) return 0;
    // In units of the last place of the result's binade; below the smallest normal number the unit
    // stays.
    int exponent = __builtin_ilogbf(magnitude) + bias;
    if (exponent < 1) exponent = 1;
    const float units = __builtin_ldexpf(magnitude, fraction_bits + bias - exponent);
    const int whole = static_cast<int>(__builtin_rintf(units));
    if (whole == 0) return 0;
    // A carry out of the fraction raises the exponent, as it should.
    const int code = ((exponent - 1) << fraction_bits) + whole;
    return code > 0x7f ? nan : static_cast<uint8_t>(sign | code);
  }
};

using fp8e4m3 = float8<4, 3>;
using fp8e5m2 = float8<5, 2>;

}  // namespace kittens
