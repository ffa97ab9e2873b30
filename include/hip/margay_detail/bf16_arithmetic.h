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

// Never fused with another operation.
#define MARGAY_BF16_ROUNDED(name, op)                                                    \
  MARGAY_BF16_FN __hip_bfloat16 __h##name##_rn(__hip_bfloat16 a, __hip_bfloat16 b) {     \
    MARGAY_BF16_NO_CONTRACTION return static_cast<float>(a) op static_cast<float>(b);    \
  }                                                                                      \
  MARGAY_BF16_FN __hip_bfloat162 __h##name##2_rn(__hip_bfloat162 a, __hip_bfloat162 b) { \
    return {__h##name##_rn(a.x, b.x), __h##name##_rn(a.y, b.y)};                         \
  }
#if defined(__clang__)
#define MARGAY_BF16_NO_CONTRACTION _Pragma("clang fp contract(off)")
#else
#define MARGAY_BF16_NO_CONTRACTION
#endif
MARGAY_BF16_ROUNDED(add, +)
MARGAY_BF16_ROUNDED(sub, -)
MARGAY_BF16_ROUNDED(mul, *)
#undef MARGAY_BF16_ROUNDED
#undef MARGAY_BF16_NO_CONTRACTION

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

// Comparisons of numbers, false of NaN; those whose name ends in u are true of NaN ("unordered").
#define MARGAY_BF16_COMPARE(name, expression)                                       \
  MARGAY_BF16_FN constexpr bool __h##name(__hip_bfloat16 a16, __hip_bfloat16 b16) { \
    const float a = a16;                                                            \
    const float b = b16;                                                            \
    return expression;                                                              \
  }
MARGAY_BF16_COMPARE(eq, a == b)
MARGAY_BF16_COMPARE(ne, a<b || a> b)
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

MARGAY_BF16_FN constexpr bool __hisnan(__hip_bfloat16 a) {
  return (__bfloat16_as_ushort(a) & 0x7fffu) > 0x7f80u;
}
/// 1 for either infinity, otherwise 0.
MARGAY_BF16_FN constexpr int __hisinf(__hip_bfloat16 a) {
  return (__bfloat16_as_ushort(a) & 0x7fffu) == 0x7f80u;
}

// Of both halves; __hbneu2 of either.
#define MARGAY_BF16_BOTH(name, both)                                                  \
  MARGAY_BF16_FN constexpr bool __hb##name##2(__hip_bfloat162 a, __hip_bfloat162 b) { \
    return __h##name(a.x, b.x) both __h##name(a.y, b.y);                              \
  }
MARGAY_BF16_BOTH(eq, &&)
MARGAY_BF16_BOTH(ne, &&)
MARGAY_BF16_BOTH(lt, &&)
MARGAY_BF16_BOTH(le, &&)
MARGAY_BF16_BOTH(gt, &&)
MARGAY_BF16_BOTH(ge, &&)
MARGAY_BF16_BOTH(equ, &&)
MARGAY_BF16_BOTH(neu, ||)
MARGAY_BF16_BOTH(ltu, &&)
MARGAY_BF16_BOTH(leu, &&)
MARGAY_BF16_BOTH(gtu, &&)
MARGAY_BF16_BOTH(geu, &&)
#undef MARGAY_BF16_BOTH

// One or zero for each half. The second half of __hgt2 and of __hisnan2 is always one, as in ROCm
// 6.0 to 7.2.
#define MARGAY_BF16_EACH(name)                                                                  \
  MARGAY_BF16_FN constexpr __hip_bfloat162 __h##name##2(__hip_bfloat162 a, __hip_bfloat162 b) { \
    return {__h##name(a.x, b.x) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16,                             \
            __h##name(a.y, b.y) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16};                            \
  }
MARGAY_BF16_EACH(eq)
MARGAY_BF16_EACH(ne)
MARGAY_BF16_EACH(lt)
MARGAY_BF16_EACH(le)
MARGAY_BF16_EACH(ge)
#undef MARGAY_BF16_EACH
MARGAY_BF16_FN constexpr __hip_bfloat162 __hgt2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hgt(a.x, b.x) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16, HIPRT_ONE_BF16};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __hisnan2(__hip_bfloat162 a) {
  return {__hisnan(a.x) ? HIPRT_ONE_BF16 : HIPRT_ZERO_BF16, HIPRT_ONE_BF16};
}

// Of pairs, the first half of the left one is compared with both halves of the right one, as in
// ROCm.
#define MARGAY_BF16_COMPARE_OPERATOR(op, name)                                      \
  MARGAY_BF16_FN constexpr bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) {   \
    return __h##name(a, b);                                                         \
  }                                                                                 \
  MARGAY_BF16_FN constexpr bool operator op(__hip_bfloat162 a, __hip_bfloat162 b) { \
    return __h##name(a.x, b.x) && __h##name(a.x, b.y);                              \
  }
MARGAY_BF16_COMPARE_OPERATOR(<, lt)
MARGAY_BF16_COMPARE_OPERATOR(<=, le)
MARGAY_BF16_COMPARE_OPERATOR(>, gt)
MARGAY_BF16_COMPARE_OPERATOR(>=, ge)
#undef MARGAY_BF16_COMPARE_OPERATOR
MARGAY_BF16_FN constexpr bool operator==(__hip_bfloat16 a, __hip_bfloat16 b) { return __heq(a, b); }
MARGAY_BF16_FN constexpr bool operator!=(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hneu(a, b);
}
MARGAY_BF16_FN constexpr bool operator==(__hip_bfloat162 a, __hip_bfloat162 b) {
  return __hbeq2(a, b);
}
MARGAY_BF16_FN constexpr bool operator!=(__hip_bfloat162 a, __hip_bfloat162 b) {
  return !__hbeq2(a, b);
}

/// A NaN loses against a number.
MARGAY_BF16_FN constexpr __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hisnan(a) ? (__hisnan(b) ? HIPRT_NAN_BF16 : b) : __hisnan(b) || __hgt(a, b) ? a : b;
}
MARGAY_BF16_FN constexpr __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hisnan(a) ? (__hisnan(b) ? HIPRT_NAN_BF16 : b) : __hisnan(b) || __hlt(a, b) ? a : b;
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
MARGAY_BF16_FN constexpr __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
