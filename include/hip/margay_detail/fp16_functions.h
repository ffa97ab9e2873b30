// The functions of hip/hip_fp16.h on bits, conversions, comparisons and arithmetic, most of them on
// the host as well. Part of hip/hip_fp16.h; do not include it alone.
#pragma once

#define HIPRT_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define HIPRT_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define HIPRT_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define HIPRT_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define HIPRT_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define HIPRT_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define HIPRT_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)

#define MARGAY_FP16_FN inline __HOST_DEVICE__

namespace margay_fp16 {

MARGAY_FP16_FN _Float16 value(__half a) { return static_cast<__half_raw>(a).data; }
MARGAY_FP16_FN _Float16_2 values(__half2 a) { return a.data; }
template <typename T>
MARGAY_FP16_FN __half from(T number) {
  return __half_raw{{static_cast<_Float16>(number)}};
}

}  // namespace margay_fp16

// ---- Bits, halves and pairs ---------------------------------------------------------------------

MARGAY_FP16_FN short __half_as_short(__half a) {
  return static_cast<short>(static_cast<__half_raw>(a).x);
}
MARGAY_FP16_FN unsigned short __half_as_ushort(__half a) { return static_cast<__half_raw>(a).x; }
MARGAY_FP16_FN __half __ushort_as_half(unsigned short bits) {
  __half_raw raw;
  raw.x = bits;
  return raw;
}
MARGAY_FP16_FN __half __short_as_half(short bits) {
  return __ushort_as_half(static_cast<unsigned short>(bits));
}

MARGAY_FP16_FN __half2 make_half2(__half x, __half y) { return __half2(x, y); }
MARGAY_FP16_FN __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
MARGAY_FP16_FN __half2 __half2half2(__half a) { return __half2(a, a); }
MARGAY_FP16_FN __half __low2half(__half2 a) { return a.x; }
MARGAY_FP16_FN __half __high2half(__half2 a) { return a.y; }
MARGAY_FP16_FN __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
MARGAY_FP16_FN __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
MARGAY_FP16_FN __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
MARGAY_FP16_FN __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
MARGAY_FP16_FN __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }

// ---- Conversions --------------------------------------------------------------------------------

MARGAY_FP16_FN __half __float2half(float f) { return margay_fp16::from(f); }
MARGAY_FP16_FN __half __float2half_rn(float f) { return margay_fp16::from(f); }
MARGAY_FP16_FN __half2 __float2half2_rn(float f) {
  return __half2(margay_fp16::from(f), margay_fp16::from(f));
}
MARGAY_FP16_FN __half2 __floats2half2_rn(float x, float y) {
  return __half2(margay_fp16::from(x), margay_fp16::from(y));
}
MARGAY_FP16_FN __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
MARGAY_FP16_FN float __half2float(__half a) { return static_cast<float>(margay_fp16::value(a)); }
MARGAY_FP16_FN float __low2float(__half2 a) { return static_cast<float>(a.data.x); }
MARGAY_FP16_FN float __high2float(__half2 a) { return static_cast<float>(a.data.y); }
MARGAY_FP16_FN float2 __half22float2(__half2 a) { return {a.data.x, a.data.y}; }

// The host's round to nearest, as ROCm's.
inline __host__ __half __float2half_rz(float f) { return margay_fp16::from(f); }
inline __host__ __half __float2half_rd(float f) { return margay_fp16::from(f); }
inline __host__ __half __float2half_ru(float f) { return margay_fp16::from(f); }

// ---- Comparisons --------------------------------------------------------------------------------

MARGAY_FP16_FN bool __hisnan(__half a) { return (__half_as_ushort(a) & 0x7fffu) > 0x7c00u; }
MARGAY_FP16_FN bool __hisinf(__half a) { return (__half_as_ushort(a) & 0x7fffu) == 0x7c00u; }
MARGAY_FP16_FN __half2 __hisnan2(__half2 a) {
  return __half2(margay_fp16::from(__hisnan(a.x)), margay_fp16::from(__hisnan(a.y)));
}

// Of numbers; in __h*2 one or zero for each half, in __hb*2 whether both are. False of NaN, but
// those whose name ends in u: true of NaN ("unordered").
#define MARGAY_FP16_COMPARE(name, expression)                            \
  MARGAY_FP16_FN bool __h##name(__half x, __half y) {                    \
    const _Float16 a = margay_fp16::value(x), b = margay_fp16::value(y); \
    return expression;                                                   \
  }                                                                      \
  MARGAY_FP16_FN __half2 __h##name##2(__half2 x, __half2 y) {            \
    return __half2(margay_fp16::from(__h##name(x.x, y.x)),               \
                   margay_fp16::from(__h##name(x.y, y.y)));              \
  }                                                                      \
  MARGAY_FP16_FN bool __hb##name##2(__half2 x, __half2 y) {              \
    return __h##name(x.x, y.x) && __h##name(x.y, y.y);                   \
  }
MARGAY_FP16_COMPARE(eq, a == b)
MARGAY_FP16_COMPARE(ne, a<b || a> b)
MARGAY_FP16_COMPARE(lt, a < b)
MARGAY_FP16_COMPARE(le, a <= b)
MARGAY_FP16_COMPARE(gt, a > b)
MARGAY_FP16_COMPARE(ge, a >= b)
MARGAY_FP16_COMPARE(equ, !(a < b) && !(a > b))
MARGAY_FP16_COMPARE(neu, !(a == b))
MARGAY_FP16_COMPARE(ltu, !(a >= b))
MARGAY_FP16_COMPARE(leu, !(a > b))
MARGAY_FP16_COMPARE(gtu, !(a <= b))
MARGAY_FP16_COMPARE(geu, !(a < b))
#undef MARGAY_FP16_COMPARE

/// A NaN loses against a number. The _nan forms let it win.
MARGAY_FP16_FN __half __hmax(const __half a, const __half b) {
  if (__hisnan(a)) return __hisnan(b) ? HIPRT_NAN_FP16 : b;
  return __hisnan(b) || __hgt(a, b) ? a : b;
}
MARGAY_FP16_FN __half __hmin(const __half a, const __half b) {
  if (__hisnan(a)) return __hisnan(b) ? HIPRT_NAN_FP16 : b;
  return !__hisnan(b) && __hgt(a, b) ? b : a;
}
MARGAY_FP16_FN __half __hmax_nan(const __half a, const __half b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);
}
MARGAY_FP16_FN __half __hmin_nan(const __half a, const __half b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);
}

// ---- Arithmetic ---------------------------------------------------------------------------------

MARGAY_FP16_FN __half __habs(__half a) {
  return __ushort_as_half(static_cast<unsigned short>(__half_as_ushort(a) & 0x7fffu));
}
MARGAY_FP16_FN __half __hneg(__half a) { return __half_raw{{-margay_fp16::value(a)}}; }
MARGAY_FP16_FN __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
MARGAY_FP16_FN __half2 __hneg2(__half2 a) { return __half2(-a.data); }
/// Between zero and one; a NaN stays.
MARGAY_FP16_FN __half __clamp_01(__half a) {
  if (__hlt(a, HIPRT_ZERO_FP16)) return HIPRT_ZERO_FP16;
  return __hgt(a, HIPRT_ONE_FP16) ? HIPRT_ONE_FP16 : a;
}

#define MARGAY_FP16_BINARY(name, pair, op)                                    \
  MARGAY_FP16_FN __half name(__half a, __half b) {                            \
    return margay_fp16::from(margay_fp16::value(a) op margay_fp16::value(b)); \
  }                                                                           \
  MARGAY_FP16_FN __half2 pair(__half2 a, __half2 b) { return __half2(a.data op b.data); }
// The _rn forms are never fused with another operation, the _sat forms are between zero and one.
#define MARGAY_FP16_ROUNDED(name, op)                                                         \
  MARGAY_FP16_FN __half __h##name##_rn(__half a, __half b) {                                  \
    _Pragma("clang fp contract(off)") return margay_fp16::from(margay_fp16::value(a)          \
                                                                   op margay_fp16::value(b)); \
  }                                                                                           \
  MARGAY_FP16_FN __half2 __h##name##2_rn(__half2 a, __half2 b) {                              \
    _Pragma("clang fp contract(off)") return __half2(a.data op b.data);                       \
  }                                                                                           \
  MARGAY_FP16_FN __half __h##name##_sat(__half a, __half b) {                                 \
    return __clamp_01(__h##name(a, b));                                                       \
  }                                                                                           \
  MARGAY_FP16_FN __half2 __h##name##2_sat(__half2 a, __half2 b) {                             \
    return __half2(__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y));                     \
  }
MARGAY_FP16_BINARY(__hadd, __hadd2, +)
MARGAY_FP16_BINARY(__hsub, __hsub2, -)
MARGAY_FP16_BINARY(__hmul, __hmul2, *)
MARGAY_FP16_BINARY(__hdiv, __h2div, /)
MARGAY_FP16_ROUNDED(add, +)
MARGAY_FP16_ROUNDED(sub, -)
MARGAY_FP16_ROUNDED(mul, *)
#undef MARGAY_FP16_BINARY
#undef MARGAY_FP16_ROUNDED
#undef MARGAY_FP16_FN
