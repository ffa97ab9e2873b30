// bfloat16 conversions, packing and bit access. Part of hip/hip_bf16.h; do not include it alone.
#pragma once

MARGAY_BF16_FN constexpr float __bfloat162float(__hip_bfloat16 a) { return a; }
MARGAY_BF16_FN constexpr __hip_bfloat16 __float2bfloat16(float f) { return f; }
MARGAY_BF16_FN constexpr __hip_bfloat16 __double2bfloat16(double d) { return d; }
MARGAY_BF16_FN constexpr __hip_bfloat16 __int2bfloat16_rn(int i) { return i; }

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

// Pairs: x is the low half, y the high half.
MARGAY_BF16_FN constexpr __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) {
  return {a, b};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
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
