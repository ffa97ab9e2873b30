// bfloat16 conversions, packing and bit access. Part of hip/hip_bf16.h; do not include it alone.
#pragma once

MARGAY_BF16_FN constexpr float __bfloat162float(__hip_bfloat16 a) { return a; }
MARGAY_BF16_FN constexpr __hip_bfloat16 __float2bfloat16(float f) { return f; }
MARGAY_BF16_FN constexpr __hip_bfloat16 __float2bfloat16_rn(float f) { return f; }
MARGAY_BF16_FN constexpr __hip_bfloat16 __double2bfloat16(double d) { return d; }

/// Toward zero, down, up: start from the truncated magnitude and step one unit away from zero when
/// anything was cut off and the direction asks for it. The step from the largest finite value gives
/// infinity, as it should.
MARGAY_BF16_FN constexpr __hip_bfloat16 __float2bfloat16_rz(float f) {
  const unsigned bits = __builtin_bit_cast(unsigned, f);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return __hip_bfloat16_raw{static_cast<unsigned short>((bits >> 16) | (is_nan ? 0x40u : 0u))};
}
MARGAY_BF16_FN constexpr __hip_bfloat16 __float2bfloat16_rd(float f) {
  const unsigned bits = __builtin_bit_cast(unsigned, f);
  const __hip_bfloat16_raw cut = __float2bfloat16_rz(f);
  const bool away = f < 0 && (bits & 0xffffu) != 0;
  return __hip_bfloat16_raw{static_cast<unsigned short>(cut.x + (away ? 1 : 0))};
}
MARGAY_BF16_FN constexpr __hip_bfloat16 __float2bfloat16_ru(float f) {
  const unsigned bits = __builtin_bit_cast(unsigned, f);
  const __hip_bfloat16_raw cut = __float2bfloat16_rz(f);
  const bool away = f > 0 && (bits & 0xffffu) != 0;
  return __hip_bfloat16_raw{static_cast<unsigned short>(cut.x + (away ? 1 : 0))};
}

MARGAY_BF16_FN constexpr unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) {
  return static_cast<__hip_bfloat16_raw>(a).x;
}
MARGAY_BF16_FN constexpr short __bfloat16_as_short(__hip_bfloat16 a) {
  return static_cast<short>(__bfloat16_as_ushort(a));
}
MARGAY_BF16_FN constexpr __hip_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __hip_bfloat16_raw{bits};
}
MARGAY_BF16_FN constexpr __hip_bfloat16 __short_as_bfloat16(short bits) {
  return __hip_bfloat16_raw{static_cast<unsigned short>(bits)};
}

// Integers. The suffix of "to integer" is the rounding: z toward zero, d down, u up, n nearest
// even.
#define MARGAY_BF16_INTEGER(name, Type)                                \
  MARGAY_BF16_FN Type __bfloat162##name##_rz(__hip_bfloat16 a) {       \
    return margay_bf16::to_int<Type>(a);                               \
  }                                                                    \
  MARGAY_BF16_FN Type __bfloat162##name##_rd(__hip_bfloat16 a) {       \
    return margay_bf16::to_int<Type>(::floorf(static_cast<float>(a))); \
  }                                                                    \
  MARGAY_BF16_FN Type __bfloat162##name##_ru(__hip_bfloat16 a) {       \
    return margay_bf16::to_int<Type>(::ceilf(static_cast<float>(a)));  \
  }                                                                    \
  MARGAY_BF16_FN Type __bfloat162##name##_rn(__hip_bfloat16 a) {       \
    return margay_bf16::to_int<Type>(::rintf(static_cast<float>(a)));  \
  }                                                                    \
  MARGAY_BF16_FN constexpr __hip_bfloat16 __##name##2bfloat16_rn(Type a) { return a; }
MARGAY_BF16_INTEGER(short, short)
MARGAY_BF16_INTEGER(ushort, unsigned short)
MARGAY_BF16_INTEGER(int, int)
MARGAY_BF16_INTEGER(uint, unsigned int)
MARGAY_BF16_INTEGER(ll, long long)
MARGAY_BF16_INTEGER(ull, unsigned long long)
#undef MARGAY_BF16_INTEGER
MARGAY_BF16_FN signed char __bfloat162char_rz(__hip_bfloat16 a) {
  return margay_bf16::to_int<signed char>(a);
}
MARGAY_BF16_FN unsigned char __bfloat162uchar_rz(__hip_bfloat16 a) {
  return margay_bf16::to_int<unsigned char>(a);
}

// Pairs: x is the low half, y the high half.
MARGAY_BF16_FN constexpr __hip_bfloat162 make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) {
  return {a, b};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) {
  return {a, b};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
MARGAY_BF16_FN constexpr __hip_bfloat162 __float2bfloat162_rn(float a) {
  return {__float2bfloat16(a), __float2bfloat16(a)};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return {__float2bfloat16(a), __float2bfloat16(b)};
}
MARGAY_BF16_FN __hip_bfloat162 __float22bfloat162_rn(float2 a) {
  return {__float2bfloat16(a.x), __float2bfloat16(a.y)};
}
MARGAY_BF16_FN float2 __bfloat1622float2(__hip_bfloat162 a) { return a; }

MARGAY_BF16_FN constexpr __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
MARGAY_BF16_FN constexpr __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
MARGAY_BF16_FN constexpr float __low2float(__hip_bfloat162 a) { return a.x; }
MARGAY_BF16_FN constexpr float __high2float(__hip_bfloat162 a) { return a.y; }
MARGAY_BF16_FN constexpr __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
MARGAY_BF16_FN constexpr __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
MARGAY_BF16_FN constexpr __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {a.x, b.x};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {a.y, b.y};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return {a.y, a.x}; }
