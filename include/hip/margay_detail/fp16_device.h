// The functions of hip/hip_fp16.h that exist on the device only: fused multiply-add, elementary
// functions, conversions from and to integers, loads, shuffles and atomics.
// Part of hip/hip_fp16.h; do not include it alone.
#pragma once

#include <hip/margay_detail/wavefront_size.h>

#include <hip/margay_detail/shuffle.h>  // IWYU pragma: export

namespace margay_fp16 {

/// The nearest half, or its neighbour on the other side of the number.
inline __device__ __half directed(float f, bool down, bool up) {
  const __half near = from(f);
  const unsigned short bits = __half_as_ushort(near);
  const float back = __half2float(near);
  const bool step_down = down && back > f, step_up = up && back < f;
  if (!step_down && !step_up) return near;
  // Bits of negative numbers grow downwards.
  return __ushort_as_half(
      static_cast<unsigned short>(bits + (step_up == ((bits & 0x8000u) == 0) ? 1 : -1)));
}

}  // namespace margay_fp16

inline __device__ __half __float2half_rz(float f) { return margay_fp16::directed(f, f > 0, f < 0); }
inline __device__ __half __float2half_rd(float f) { return margay_fp16::directed(f, true, false); }
inline __device__ __half __float2half_ru(float f) { return margay_fp16::directed(f, false, true); }

// To integers toward zero and from integers to nearest, regardless of the suffix, as in ROCm.
#define MARGAY_FP16_INTEGER(name, Type, suffix)            \
  inline __device__ Type __half2##name##suffix(__half a) { \
    return static_cast<Type>(margay_fp16::value(a));       \
  }                                                        \
  inline __device__ __half __##name##2half##suffix(Type i) { return margay_fp16::from(i); }
#define MARGAY_FP16_INTEGERS(name, Type) \
  MARGAY_FP16_INTEGER(name, Type, _rn)   \
  MARGAY_FP16_INTEGER(name, Type, _rz)   \
  MARGAY_FP16_INTEGER(name, Type, _rd)   \
  MARGAY_FP16_INTEGER(name, Type, _ru)
MARGAY_FP16_INTEGERS(short, short)
MARGAY_FP16_INTEGERS(ushort, unsigned short)
MARGAY_FP16_INTEGERS(uint, unsigned int)
MARGAY_FP16_INTEGERS(ll, long long)
MARGAY_FP16_INTEGERS(ull, unsigned long long)
MARGAY_FP16_INTEGER(int, int, _rz)
MARGAY_FP16_INTEGER(int, int, _rd)
MARGAY_FP16_INTEGER(int, int, _ru)
#undef MARGAY_FP16_INTEGERS
#undef MARGAY_FP16_INTEGER
inline __device__ int __half2int_rn(__half a) { return static_cast<int>(margay_fp16::value(a)); }
inline __HOST_DEVICE__ __half __int2half_rn(int i) { return margay_fp16::from(i); }

inline __device__ __half __hfma(__half a, __half b, __half c) {
  return __half_raw{
      {__ocml_fma_f16(margay_fp16::value(a), margay_fp16::value(b), margay_fp16::value(c))}};
}
inline __device__ __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __half2(__ocml_fma_2f16(a.data, b.data, c.data));
}
inline __device__ __half __hfma_sat(__half a, __half b, __half c) {
  return __clamp_01(__hfma(a, b, c));
}
inline __device__ __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
inline __device__ float amd_mixed_dot(__half2 a, __half2 b, float c, bool saturate) {
  // Debian 12's __ockl_fdot2 saturates always.
  return saturate ? __builtin_amdgcn_fdot2(a.data, b.data, c, true)
                  : __builtin_amdgcn_fdot2(a.data, b.data, c, false);
}

#define MARGAY_FP16_UNARY(name)                                      \
  inline __device__ __half h##name(__half a) {                       \
    return __half_raw{{__ocml_##name##_f16(margay_fp16::value(a))}}; \
  }                                                                  \
  inline __device__ __half2 h2##name(__half2 a) { return __half2(__ocml_##name##_2f16(a.data)); }
MARGAY_FP16_UNARY(trunc)
MARGAY_FP16_UNARY(ceil)
MARGAY_FP16_UNARY(floor)
MARGAY_FP16_UNARY(rint)
MARGAY_FP16_UNARY(cos)
MARGAY_FP16_UNARY(exp)
MARGAY_FP16_UNARY(exp2)
MARGAY_FP16_UNARY(exp10)
MARGAY_FP16_UNARY(log)
MARGAY_FP16_UNARY(log2)
MARGAY_FP16_UNARY(log10)
MARGAY_FP16_UNARY(sqrt)
MARGAY_FP16_UNARY(rsqrt)
#undef MARGAY_FP16_UNARY
// Not __ocml_sin_f16: Debian 12's gives NaN for every number.
inline __device__ __half hsin(__half a) {
  return margay_fp16::from(__ocml_sin_f32(__half2float(a)));
}
inline __device__ __half2 h2sin(__half2 a) { return __half2(hsin(a.x), hsin(a.y)); }
inline __device__ __half hrcp(__half a) {
  return __half_raw{{static_cast<_Float16>(1) / margay_fp16::value(a)}};
}
inline __device__ __half2 h2rcp(__half2 a) { return __half2(_Float16_2{1, 1} / a.data); }
inline __device__ __half2 __hisinf2(__half2 a) {
  return __half2(margay_fp16::from(__hisinf(a.x)), margay_fp16::from(__hisinf(a.y)));
}

#define MARGAY_FP16_LOAD(name)                                              \
  inline __device__ __half name(const __half* address) { return *address; } \
  inline __HOST_DEVICE__ __half2 name(const __half2* address) { return *address; }
MARGAY_FP16_LOAD(__ldg)
MARGAY_FP16_LOAD(__ldcg)
MARGAY_FP16_LOAD(__ldca)
MARGAY_FP16_LOAD(__ldcs)
#undef MARGAY_FP16_LOAD

#define MARGAY_FP16_SHUFFLE(name, Lane)                                                \
  __device__ inline __half name(__half a, Lane lane, int width = warpSize) {           \
    const int bits = name(static_cast<int>(__half_as_ushort(a)), lane, width);         \
    return __ushort_as_half(static_cast<unsigned short>(bits));                        \
  }                                                                                    \
  __device__ inline __half2 name(__half2 a, Lane lane, int width = warpSize) {         \
    return __builtin_bit_cast(__half2, name(__builtin_bit_cast(int, a), lane, width)); \
  }
MARGAY_FP16_SHUFFLE(__shfl, int)
MARGAY_FP16_SHUFFLE(__shfl_up, unsigned int)
MARGAY_FP16_SHUFFLE(__shfl_down, unsigned int)
MARGAY_FP16_SHUFFLE(__shfl_xor, int)
#undef MARGAY_FP16_SHUFFLE

/// global_atomic_pk_add_f16 or its LDS and flat forms; "unsafe" because the instruction ignores the
/// rounding mode and works on ordinary device memory only.
inline __device__ __half2 unsafeAtomicAdd(__half2* address, __half2 value) {
  return __half2(
      __builtin_amdgcn_flat_atomic_fadd_v2f16(reinterpret_cast<_Float16_2*>(address), value.data));
}
/// Uses the pair that contains it, and adds zero to the other half.
inline __device__ __half unsafeAtomicAdd(__half* address, __half value) {
  const auto place = reinterpret_cast<unsigned long long>(address);
  __half2* const pair = reinterpret_cast<__half2*>(place & ~3ull);
  const bool low = place % 4 == 0;
  const __half2 before = unsafeAtomicAdd(
      pair, low ? __half2(value, HIPRT_ZERO_FP16) : __half2(HIPRT_ZERO_FP16, value));
  return low ? before.x : before.y;
}

// Templates, so that a program may define its own: ROCm has them since 7.
template <typename = void>
inline __device__ __half2 atomicAdd(__half2* const address, const __half2 value) {
  unsigned* const place = reinterpret_cast<unsigned*>(address);
  unsigned before = __hip_atomic_load(place, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    const __half2 sum = __hadd2(__builtin_bit_cast(__half2, before), value);
    if (__hip_atomic_compare_exchange_strong(place, &before, __builtin_bit_cast(unsigned, sum),
                                             __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                             __HIP_MEMORY_SCOPE_AGENT))
      return __builtin_bit_cast(__half2, before);
  }
}
template <typename = void>
inline __device__ __half atomicAdd(__half* const address, const __half value) {
  const auto place = reinterpret_cast<unsigned long long>(address);
  unsigned* const dword = reinterpret_cast<unsigned*>(place & ~3ull);
  const unsigned shift = place % 4 == 0 ? 0 : 16;
  unsigned before = __hip_atomic_load(dword, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    const __half old = __ushort_as_half(static_cast<unsigned short>(before >> shift));
    const unsigned sum = __half_as_ushort(__hadd(old, value));
    const unsigned after = (before & ~(0xffffu << shift)) | sum << shift;
    if (__hip_atomic_compare_exchange_strong(dword, &before, after, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
      return old;
  }
}
