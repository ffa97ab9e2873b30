// The four 8-bit formats of hip/hip_fp8.h, converted from and to wider numbers in software. Part of
// hip/hip_fp8.h; do not include it alone.
//
// E4M3 and E5M2, each in two kinds. FNUZ (what gfx942 computes with): no infinity, no negative
// zero, 0x80 the only NaN, exponent bias 8 and 16. OCP: exponent bias 7 and 15; E5M2 is a short
// binary16 with infinities, E4M3 has only S.1111.111, NaN, instead of them.
// Sources: MI300 ISA guide, section 7.2; OCP 8-bit Floating Point Specification (OFP8), 1.0.
#pragma once

namespace margay_fp8 {

template <int mantissa, bool fnuz>
struct Format {
  static constexpr int kExponentBits = 7 - mantissa;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - (fnuz ? 0 : 1);
  static constexpr bool kHasInfinity = !fnuz && mantissa == 2;
  /// Codes without their sign: the largest number, and what a number beyond it becomes.
  static constexpr unsigned kLargest = fnuz ? 0x7f : mantissa == 3 ? 0x7e : 0x7b;
  static constexpr unsigned kOverflow = kHasInfinity ? 0x7c : fnuz ? 0x80 : 0x7f;

  MARGAY_FP8_FN static constexpr bool is_nan(unsigned code) {
    return fnuz ? code == 0x80 : (code & 0x7f) > (kHasInfinity ? 0x7cu : kLargest);
  }
  MARGAY_FP8_FN static constexpr float decode(unsigned code) {
    const unsigned sign = code >> 7 << 31, field = (code & 0x7f) >> mantissa,
                   fraction = code & ((1u << mantissa) - 1);
    if (is_nan(code)) return __builtin_bit_cast(float, 0x7fc00000u);
    if (kHasInfinity && (code & 0x7f) == 0x7c) return __builtin_bit_cast(float, sign | 0x7f800000u);
    if (field == 0) {  // 2^(1 - bias - mantissa) is the unit
      const float unit =
          __builtin_bit_cast(float, sign | static_cast<unsigned>(127 + 1 - kBias - mantissa) << 23);
      return static_cast<float>(fraction) * unit;
    }
    return __builtin_bit_cast(float,
                              sign | (field + 127 - kBias) << 23 | fraction << (23 - mantissa));
  }

  /// To nearest, ties to even. What is beyond the largest number by half a step or more overflows,
  /// or becomes the largest number where it saturates; infinities never saturate, as in HIP.
  MARGAY_FP8_FN static constexpr unsigned char encode(double value, bool saturates) {
    const auto bits = __builtin_bit_cast(unsigned long long, value);
    const auto sign = static_cast<unsigned>(bits >> 63) << 7;
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const unsigned long long fraction = bits & 0xfffffffffffffull;
    if (field == 0x7ff && fraction != 0) return with_sign(fnuz ? 0x80 : 0x7f, sign);
    if (field == 0x7ff) return with_sign(kOverflow, sign);
    // Of 53 bits those above the format's unit in the last place are kept. A denormal double is far
    // below it, and so is a number whose bits would all be shifted out.
    const int exponent = field - 1023 < 1 - kBias ? 1 - kBias : field - 1023;
    const int shift = 52 - mantissa + exponent - (field - 1023);
    if (shift > 54) return with_sign(0, sign);
    const unsigned long long significand = fraction | 1ull << 52;
    const unsigned long long kept = significand >> shift;
    const unsigned long long below = significand & ((1ull << shift) - 1),
                             half = 1ull << (shift - 1);
    const bool up = below > half || (below == half && (kept & 1) != 0);
    const unsigned long long code =
        (static_cast<unsigned long long>(exponent + kBias - 1) << mantissa) + kept + (up ? 1 : 0);
    if (code <= kLargest) return with_sign(static_cast<unsigned>(code), sign);
    return with_sign(saturates ? kLargest : kOverflow, sign);
  }

 private:
  MARGAY_FP8_FN static constexpr unsigned char with_sign(unsigned code, unsigned sign) {
    if (fnuz && (code == 0 || code == 0x80)) return static_cast<unsigned char>(code);
    return static_cast<unsigned char>(code | sign);
  }
};

/// binary16 as bits. Every 8-bit number is one, so that nothing is rounded.
MARGAY_FP8_FN constexpr unsigned short half_bits(float value) {
  const auto bits = __builtin_bit_cast(unsigned, value);
  const unsigned sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  unsigned half = (magnitude - (112u << 23)) >> 13;
  if (magnitude > 0x7f800000u) half = 0x7e00;
  if (magnitude == 0x7f800000u) half = 0x7c00;
  if (magnitude < 113u << 23)  // a denormal, of units of 2^-24
    half = static_cast<unsigned>(__builtin_bit_cast(float, magnitude) * 16777216.0f);
  return static_cast<unsigned short>(sign | half);
}
MARGAY_FP8_FN constexpr float half_value(unsigned short half) {
  const unsigned sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude < 0x400u) {
    const float value = static_cast<float>(magnitude) / 16777216.0f;
    return sign != 0 ? -value : value;
  }
  return __builtin_bit_cast(float, sign | ((magnitude << 13) + (112u << 23)));
}

}  // namespace margay_fp8
