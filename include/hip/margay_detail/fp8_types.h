// The types of hip/hip_fp8.h: one number, two and four of each format. They hold bits and convert;
// arithmetic goes by way of float. Part of hip/hip_fp8.h; do not include it alone.
#pragma once

namespace margay_fp8 {

template <__hip_fp8_interpretation_t interpretation>
struct Traits {
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = interpretation;
  static constexpr unsigned int __wm =
      interpretation == __HIP_E4M3 || interpretation == __HIP_E4M3_FNUZ ? 3 : 2;
  static constexpr unsigned int __we = 7 - __wm;
};

template <__hip_fp8_interpretation_t interpretation>
struct Number : Traits<interpretation> {
  __hip_fp8_storage_t __x;

  Number() = default;
  MARGAY_FP8_FN Number(double value)
      : __x(__hip_cvt_double_to_fp8(value, __HIP_SATFINITE, interpretation)) {}
  MARGAY_FP8_FN Number(float value)
      : __x(__hip_cvt_float_to_fp8(value, __HIP_SATFINITE, interpretation)) {}
  MARGAY_FP8_FN Number(__half value)
      : __x(__hip_cvt_halfraw_to_fp8(value, __HIP_SATFINITE, interpretation)) {}
  MARGAY_FP8_FN Number(__hip_bfloat16 value)
      : __x(__hip_cvt_bfloat16raw_to_fp8(value, __HIP_SATFINITE, interpretation)) {}
  // An integer that float rounds is far beyond the largest 8-bit number.
#define MARGAY_FP8_FROM(Type) \
  MARGAY_FP8_FN Number(Type value) : Number(static_cast<float>(value)) {}
  MARGAY_FP8_FROM(short)
  MARGAY_FP8_FROM(unsigned short)
  MARGAY_FP8_FROM(int)
  MARGAY_FP8_FROM(unsigned int)
  MARGAY_FP8_FROM(long)
  MARGAY_FP8_FROM(unsigned long)
  MARGAY_FP8_FROM(long long)
  MARGAY_FP8_FROM(unsigned long long)
#undef MARGAY_FP8_FROM

  MARGAY_FP8_FN operator float() const { return decode(__x, interpretation); }
  MARGAY_FP8_FN operator double() const { return static_cast<float>(*this); }
  MARGAY_FP8_FN operator __half() const { return __hip_cvt_fp8_to_halfraw(__x, interpretation); }
  MARGAY_FP8_FN operator __hip_bfloat16() const { return static_cast<float>(*this); }
  MARGAY_FP8_FN operator bool() const { return static_cast<float>(*this) != 0; }  // NaN is true
  // Toward zero, saturating; NaN gives 0.
#define MARGAY_FP8_TO(Type) \
  MARGAY_FP8_FN operator Type() const { return margay_bf16::to_int<Type>(*this); }
  MARGAY_FP8_TO(char)
  MARGAY_FP8_TO(signed char)
  MARGAY_FP8_TO(unsigned char)
  MARGAY_FP8_TO(short)
  MARGAY_FP8_TO(unsigned short)
  MARGAY_FP8_TO(int)
  MARGAY_FP8_TO(unsigned int)
  MARGAY_FP8_TO(long)
  MARGAY_FP8_TO(unsigned long)
  MARGAY_FP8_TO(long long)
  MARGAY_FP8_TO(unsigned long long)
#undef MARGAY_FP8_TO
};

/// x in the low byte.
template <__hip_fp8_interpretation_t interpretation>
struct Pair : Traits<interpretation> {
  __hip_fp8x2_storage_t __x;

  Pair() = default;
  MARGAY_FP8_FN Pair(double2 value)
      : __x(__hip_cvt_double2_to_fp8x2(value, __HIP_SATFINITE, interpretation)) {}
  MARGAY_FP8_FN Pair(float2 value)
      : __x(__hip_cvt_float2_to_fp8x2(value, __HIP_SATFINITE, interpretation)) {}
  MARGAY_FP8_FN Pair(__hip_bfloat162 value)
      : __x(__hip_cvt_bfloat16raw2_to_fp8x2(value, __HIP_SATFINITE, interpretation)) {}
  MARGAY_FP8_FN Pair(__half2 value)
      : __x(__hip_cvt_halfraw2_to_fp8x2(value, __HIP_SATFINITE, interpretation)) {}

  MARGAY_FP8_FN operator float2() const { return decode_pair(__x, interpretation); }
  MARGAY_FP8_FN operator __half2() const {
    return __hip_cvt_fp8x2_to_halfraw2(__x, interpretation);
  }
};

/// x in the lowest byte, w in the highest; the first of two pairs in the lower half.
template <__hip_fp8_interpretation_t interpretation>
struct Four : Traits<interpretation> {
  __hip_fp8x4_storage_t __x;

  Four() = default;
  MARGAY_FP8_FN Four(double4 value)
      : Four(Pair<interpretation>(double2{value.x, value.y}),
             Pair<interpretation>(double2{value.z, value.w})) {}
  MARGAY_FP8_FN Four(float4 value)
      : Four(Pair<interpretation>(float2{value.x, value.y}),
             Pair<interpretation>(float2{value.z, value.w})) {}
  MARGAY_FP8_FN Four(__hip_bfloat162 low, __hip_bfloat162 high)
      : Four(Pair<interpretation>(low), Pair<interpretation>(high)) {}
  MARGAY_FP8_FN Four(__half2 low, __half2 high)
      : Four(Pair<interpretation>(low), Pair<interpretation>(high)) {}

  MARGAY_FP8_FN operator float4() const {
    const float2 low = decode_pair(static_cast<__hip_fp8x2_storage_t>(__x), interpretation);
    const float2 high = decode_pair(static_cast<__hip_fp8x2_storage_t>(__x >> 16), interpretation);
    return float4{low.x, low.y, high.x, high.y};
  }

 private:
  MARGAY_FP8_FN Four(Pair<interpretation> low, Pair<interpretation> high)
      : __x(low.__x | static_cast<__hip_fp8x4_storage_t>(high.__x) << 16) {}
};

}  // namespace margay_fp8

// Types of their own, not aliases, so that programs can declare them and overload on them.
#define MARGAY_FP8_TYPES(suffix, interpretation)                   \
  struct __hip_fp8_##suffix : margay_fp8::Number<interpretation> { \
    using margay_fp8::Number<interpretation>::Number;              \
  };                                                               \
  struct __hip_fp8x2_##suffix : margay_fp8::Pair<interpretation> { \
    using margay_fp8::Pair<interpretation>::Pair;                  \
  };                                                               \
  struct __hip_fp8x4_##suffix : margay_fp8::Four<interpretation> { \
    using margay_fp8::Four<interpretation>::Four;                  \
  };
MARGAY_FP8_TYPES(e4m3, __HIP_E4M3)
MARGAY_FP8_TYPES(e5m2, __HIP_E5M2)
MARGAY_FP8_TYPES(e4m3_fnuz, __HIP_E4M3_FNUZ)
MARGAY_FP8_TYPES(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef MARGAY_FP8_TYPES
