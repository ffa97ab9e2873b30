// bfloat16 arithmetic and comparisons, named and as operators. Part of hip/hip_bf16.h; do not
// include it alone.
#pragma once

// Negation and absolute value work on the sign bit alone, so that a NaN keeps its payload.
MARGAY_BF16_FN constexpr __hip_bfloat16 __hneg(__hip_bfloat16 a) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(__bfloat16_as_ushort(a) ^ 0x8000u));
}
MARGAY_BF16_FN constexpr __hip_bfloat16 __habs(__hip_bfloat16 a) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(__bfloat16_as_ushort(a) & 0x7fffu));
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __hneg2(__hip_bfloat162 a) {
  return {__hneg(a.x), __hneg(a.y)};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __habs2(__hip_bfloat162 a) {
  return {__habs(a.x), __habs(a.y)};
}

#define MARGAY_BF16_BINARY(scalar, pair, op)                                                      \
  MARGAY_BF16_FN constexpr __hip_bfloat16 scalar(__hip_bfloat16 a, __hip_bfloat16 b) {            \
    return static_cast<float>(a) op static_cast<float>(b);                                        \
  }                                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat162 pair(__hip_bfloat162 a, __hip_bfloat162 b) {           \
    return {scalar(a.x, b.x), scalar(a.y, b.y)};                                                  \
  }                                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat16 operator op(__hip_bfloat16 a, __hip_bfloat16 b) {       \
    return scalar(a, b);                                                                          \
  }                                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat162 operator op(__hip_bfloat162 a, __hip_bfloat162 b) {    \
    return pair(a, b);                                                                            \
  }                                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat16& operator op##=(__hip_bfloat16 & a, __hip_bfloat16 b) { \
    return a = scalar(a, b);                                                                      \
  }                                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat162& operator op##=(__hip_bfloat162 & a,                   \
                                                           __hip_bfloat162 b) {                   \
    return a = pair(a, b);                                                                        \
  }
MARGAY_BF16_BINARY(__hadd, __hadd2, +)
MARGAY_BF16_BINARY(__hsub, __hsub2, -)
MARGAY_BF16_BINARY(__hmul, __hmul2, *)
MARGAY_BF16_BINARY(__hdiv, __h2div, /)
#undef MARGAY_BF16_BINARY

/// One rounding to float, one to bfloat16. A product of two bfloat16 is exact in float, so this
/// differs from a * b + c only in not rounding the product to bfloat16.
MARGAY_BF16_FN __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
  return ::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
}
MARGAY_BF16_FN __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

MARGAY_BF16_FN constexpr __hip_bfloat16 operator+(__hip_bfloat16 a) { return a; }
MARGAY_BF16_FN constexpr __hip_bfloat16 operator-(__hip_bfloat16 a) { return __hneg(a); }
MARGAY_BF16_FN constexpr __hip_bfloat162 operator+(__hip_bfloat162 a) { return a; }
MARGAY_BF16_FN constexpr __hip_bfloat162 operator-(__hip_bfloat162 a) { return __hneg2(a); }

#define MARGAY_BF16_STEP(op, with)                                                \
  MARGAY_BF16_FN constexpr __hip_bfloat16& operator op(__hip_bfloat16 & a) {      \
    return a with HIPRT_ONE_BF16;                                                 \
  }                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat16 operator op(__hip_bfloat16& a, int) {   \
    const __hip_bfloat16 before = a;                                              \
    a with HIPRT_ONE_BF16;                                                        \
    return before;                                                                \
  }                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat162& operator op(__hip_bfloat162 & a) {    \
    return a with __bfloat162bfloat162(HIPRT_ONE_BF16);                           \
  }                                                                               \
  MARGAY_BF16_FN constexpr __hip_bfloat162 operator op(__hip_bfloat162& a, int) { \
    const __hip_bfloat162 before = a;                                             \
    a with __bfloat162bfloat162(HIPRT_ONE_BF16);                                  \
    return before;                                                                \
  }
MARGAY_BF16_STEP(++, +=)
MARGAY_BF16_STEP(--, -=)
#undef MARGAY_BF16_STEP

// Comparisons. The u forms are true when either operand is a NaN ("unordered"). __hne is C's !=,
// which is true for NaN as well (HIP; the CUDA function of that name says false).
#define MARGAY_BF16_COMPARE(name, expression)                                                   \
  MARGAY_BF16_FN constexpr bool __h##name(__hip_bfloat16 a16, __hip_bfloat16 b16) {             \
    const float a = a16;                                                                        \
    const float b = b16;                                                                        \
    return expression;                                                                          \
  }                                                                                             \
  MARGAY_BF16_FN constexpr bool __hb##name##2(__hip_bfloat162 a, __hip_bfloat162 b) {           \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                          \
  }                                                                                             \
  MARGAY_BF16_FN constexpr __hip_bfloat162 __h##name##2(__hip_bfloat162 a, __hip_bfloat162 b) { \
    return {__h##name(a.x, b.x) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16,                             \
            __h##name(a.y, b.y) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16};                            \
  }
MARGAY_BF16_COMPARE(eq, a == b)
MARGAY_BF16_COMPARE(ne, a != b)
MARGAY_BF16_COMPARE(lt, a < b)
MARGAY_BF16_COMPARE(le, a <= b)
MARGAY_BF16_COMPARE(gt, a > b)
MARGAY_BF16_COMPARE(ge, a >= b)
MARGAY_BF16_COMPARE(equ, !(a < b) && !(a > b))
MARGAY_BF16_COMPARE(neu, !(a == b))
MARGAY_BF16_COMPARE(ltu, !(a >= b))
MARGAY_BF16_COMPARE(leu, !(a > b))
MARGAY_BF16_COMPARE(gtu, !(a <= b))
MARGAY_BF16_COMPARE(geu, !(a < b))
#undef MARGAY_BF16_COMPARE

#define MARGAY_BF16_COMPARE_OPERATOR(op, name)                                      \
  MARGAY_BF16_FN constexpr bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) {   \
    return __h##name(a, b);                                                         \
  }                                                                                 \
  MARGAY_BF16_FN constexpr bool operator op(__hip_bfloat162 a, __hip_bfloat162 b) { \
    return __hb##name##2(a, b);                                                     \
  }
MARGAY_BF16_COMPARE_OPERATOR(==, eq)
MARGAY_BF16_COMPARE_OPERATOR(<, lt)
MARGAY_BF16_COMPARE_OPERATOR(<=, le)
MARGAY_BF16_COMPARE_OPERATOR(>, gt)
MARGAY_BF16_COMPARE_OPERATOR(>=, ge)
#undef MARGAY_BF16_COMPARE_OPERATOR
MARGAY_BF16_FN constexpr bool operator!=(__hip_bfloat16 a, __hip_bfloat16 b) { return __hne(a, b); }
/// Unequal when either half is: not the same as __hbne2, which asks both halves.
MARGAY_BF16_FN constexpr bool operator!=(__hip_bfloat162 a, __hip_bfloat162 b) {
  return !__hbeq2(a, b);
}

MARGAY_BF16_FN constexpr bool __hisnan(__hip_bfloat16 a) {
  return (__bfloat16_as_ushort(a) & 0x7fffu) > 0x7f80u;
}
/// 1 for +infinity, -1 for -infinity, otherwise 0.
MARGAY_BF16_FN constexpr int __hisinf(__hip_bfloat16 a) {
  const unsigned bits = __bfloat16_as_ushort(a);
  return bits == 0x7f80u ? 1 : bits == 0xff80u ? -1 : 0;
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __hisnan2(__hip_bfloat162 a) {
  return {__hisnan(a.x) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16,
          __hisnan(a.y) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16};
}

/// As fmax and fmin: a NaN loses against a number.
MARGAY_BF16_FN constexpr __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hisnan(a) ? b : __hisnan(b) ? a : __hlt(a, b) ? b : a;
}
MARGAY_BF16_FN constexpr __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hisnan(a) ? b : __hisnan(b) ? a : __hgt(a, b) ? b : a;
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
