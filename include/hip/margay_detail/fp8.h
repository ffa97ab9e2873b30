// 8-bit floats for HIP programs: __hip_fp8_e4m3_fnuz, __hip_fp8_e5m2_fnuz, the OCP types without
// _fnuz, their vectors of two and four, and the conversions between storage and numbers, with the
// names and meanings of HIP 6.2 (HIP 5.2, which Debian 12 ships, does not have them).
//
// Sources: the HIP API reference, "FP8 numbers" and hip_fp8.h, ROCm 6.2 to 6.4; where it is silent,
// the reference of the CUDA functions it mirrors. Three differences, each to one rule for host and
// device: numbers are rounded before they overflow, as gfx942's instructions do (HIP's host code
// compares first); the OCP types exist on the device too, in software; the first of two pairs is
// the low half of a vector of four.
// Part of hip/hip_fp8.h; do not include it alone.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#define MARGAY_FP8_FN __host__ __device__
#else  // A host-only compiler: the host half of the header.
#include <hip/hip_vector_types.h>
#define MARGAY_FP8_FN
#endif

#include <hip/margay_detail/fp8_formats.h>  // IWYU pragma: export

/// What the bits of an 8-bit float mean.
enum __hip_fp8_interpretation_t {
  __HIP_E4M3 = 0,
  __HIP_E5M2 = 1,
  __HIP_E4M3_FNUZ = 2,
  __HIP_E5M2_FNUZ = 3,
};
/// Whether a number that is too large becomes the largest one.
enum __hip_saturation_t {
  __HIP_NOSAT = 0,
  __HIP_SATFINITE = 1,
};

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short int __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;

namespace margay_fp8 {

// gfx942 has instructions for the FNUZ formats.
#if defined(__HIP_DEVICE_COMPILE__) && \
    (defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__))
#define MARGAY_FP8_INSTRUCTIONS 1
__device__ inline float in_range(float value, bool saturates, float largest) {
  // Infinities and NaN stay what they are.
  const bool clips = saturates && __builtin_fabsf(value) < __builtin_inff();
  return clips ? __builtin_amdgcn_fmed3f(value, largest, -largest) : value;
}
#else
#define MARGAY_FP8_INSTRUCTIONS 0
#endif

// The halves of a __half2_raw are of type __half_raw in HIP 6 and integers in HIP 5, whose header a
// host-only compiler gets.
MARGAY_FP8_FN inline const unsigned short& bits_of(const __half_raw& half) { return half.x; }
MARGAY_FP8_FN inline unsigned short& bits_of(__half_raw& half) { return half.x; }
MARGAY_FP8_FN inline const unsigned short& bits_of(const unsigned short& half) { return half; }
MARGAY_FP8_FN inline unsigned short& bits_of(unsigned short& half) { return half; }

MARGAY_FP8_FN inline unsigned char encode(double value, bool saturates,
                                          __hip_fp8_interpretation_t interpretation) {
  switch (interpretation) {
    case __HIP_E4M3:
      return Format<3, false>::encode(value, saturates);
    case __HIP_E5M2:
      return Format<2, false>::encode(value, saturates);
    case __HIP_E4M3_FNUZ:
      return Format<3, true>::encode(value, saturates);
    default:
      return Format<2, true>::encode(value, saturates);
  }
}

/// The low two bytes, of x and y.
MARGAY_FP8_FN inline unsigned short encode_pair(float x, float y, bool saturates,
                                                __hip_fp8_interpretation_t interpretation) {
#if MARGAY_FP8_INSTRUCTIONS
  if (interpretation == __HIP_E4M3_FNUZ)
    return static_cast<unsigned short>(__builtin_amdgcn_cvt_pk_fp8_f32(
        in_range(x, saturates, 240.0f), in_range(y, saturates, 240.0f), 0, false));
  if (interpretation == __HIP_E5M2_FNUZ)
    return static_cast<unsigned short>(__builtin_amdgcn_cvt_pk_bf8_f32(
        in_range(x, saturates, 57344.0f), in_range(y, saturates, 57344.0f), 0, false));
#endif
  return static_cast<unsigned short>(encode(x, saturates, interpretation) |
                                     encode(y, saturates, interpretation) << 8);
}

MARGAY_FP8_FN inline float decode(unsigned char code, __hip_fp8_interpretation_t interpretation) {
  switch (interpretation) {
    case __HIP_E4M3:
      return Format<3, false>::decode(code);
    case __HIP_E5M2:
      return Format<2, false>::decode(code);
#if MARGAY_FP8_INSTRUCTIONS
    case __HIP_E4M3_FNUZ:
      return __builtin_amdgcn_cvt_f32_fp8(code, 0);
    default:
      return __builtin_amdgcn_cvt_f32_bf8(code, 0);
#else
    case __HIP_E4M3_FNUZ:
      return Format<3, true>::decode(code);
    default:
      return Format<2, true>::decode(code);
#endif
  }
}
MARGAY_FP8_FN inline float2 decode_pair(unsigned short codes,
                                        __hip_fp8_interpretation_t interpretation) {
#if MARGAY_FP8_INSTRUCTIONS
  if (interpretation == __HIP_E4M3_FNUZ || interpretation == __HIP_E5M2_FNUZ) {
    const auto pair = interpretation == __HIP_E4M3_FNUZ
                          ? __builtin_amdgcn_cvt_pk_f32_fp8(codes, false)
                          : __builtin_amdgcn_cvt_pk_f32_bf8(codes, false);
    return float2{pair[0], pair[1]};
  }
#endif
  return float2{decode(static_cast<unsigned char>(codes & 0xff), interpretation),
                decode(static_cast<unsigned char>(codes >> 8), interpretation)};
}

}  // namespace margay_fp8

// ---- Numbers to storage -------------------------------------------------------------------------

MARGAY_FP8_FN inline __hip_fp8_storage_t __hip_cvt_float_to_fp8(float f, __hip_saturation_t sat,
                                                                __hip_fp8_interpretation_t interp) {
  return static_cast<__hip_fp8_storage_t>(
      margay_fp8::encode_pair(f, f, sat == __HIP_SATFINITE, interp) & 0xff);
}
MARGAY_FP8_FN inline __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(
    float2 f2, __hip_saturation_t sat, __hip_fp8_interpretation_t interp) {
  return margay_fp8::encode_pair(f2.x, f2.y, sat == __HIP_SATFINITE, interp);
}
/// Rounded once: not by way of float.
MARGAY_FP8_FN inline __hip_fp8_storage_t __hip_cvt_double_to_fp8(
    double d, __hip_saturation_t sat, __hip_fp8_interpretation_t interp) {
  return margay_fp8::encode(d, sat == __HIP_SATFINITE, interp);
}
MARGAY_FP8_FN inline __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(
    double2 d2, __hip_saturation_t sat, __hip_fp8_interpretation_t interp) {
  return static_cast<__hip_fp8x2_storage_t>(__hip_cvt_double_to_fp8(d2.x, sat, interp) |
                                            __hip_cvt_double_to_fp8(d2.y, sat, interp) << 8);
}
MARGAY_FP8_FN inline __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(
    __hip_bfloat16_raw hr, __hip_saturation_t sat, __hip_fp8_interpretation_t interp) {
  return __hip_cvt_float_to_fp8(margay_bf16::to_float(hr.x), sat, interp);
}
MARGAY_FP8_FN inline __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(
    __hip_bfloat162_raw hr, __hip_saturation_t sat, __hip_fp8_interpretation_t interp) {
  return __hip_cvt_float2_to_fp8x2(float2{margay_bf16::to_float(hr.x), margay_bf16::to_float(hr.y)},
                                   sat, interp);
}
MARGAY_FP8_FN inline __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(
    __half_raw x, __hip_saturation_t sat, __hip_fp8_interpretation_t interp) {
  return __hip_cvt_float_to_fp8(margay_fp8::half_value(x.x), sat, interp);
}
MARGAY_FP8_FN inline __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(
    __half2_raw x, __hip_saturation_t sat, __hip_fp8_interpretation_t interp) {
  return __hip_cvt_float2_to_fp8x2(float2{margay_fp8::half_value(margay_fp8::bits_of(x.x)),
                                          margay_fp8::half_value(margay_fp8::bits_of(x.y))},
                                   sat, interp);
}

// ---- Storage to numbers -------------------------------------------------------------------------

MARGAY_FP8_FN inline __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x,
                                                         __hip_fp8_interpretation_t interp) {
  __half_raw half;
  half.x = margay_fp8::half_bits(margay_fp8::decode(x, interp));
  return half;
}
MARGAY_FP8_FN inline __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x,
                                                             __hip_fp8_interpretation_t interp) {
  const float2 values = margay_fp8::decode_pair(x, interp);
  __half2_raw halves;
  margay_fp8::bits_of(halves.x) = margay_fp8::half_bits(values.x);
  margay_fp8::bits_of(halves.y) = margay_fp8::half_bits(values.y);
  return halves;
}

#include <hip/margay_detail/fp8_types.h>  // IWYU pragma: export

#undef MARGAY_FP8_INSTRUCTIONS
#undef MARGAY_FP8_FN
