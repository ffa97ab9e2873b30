// bfloat16 functions that exist on the device only: fused multiply-add, elementary functions,
// shuffles, atomics. Part of hip/hip_bf16.h; do not include it alone.
#pragma once

/// One rounding to float, one to bfloat16. A product of two bfloat16 is exact in float, so this
/// differs from a * b + c only in not rounding the product to bfloat16.
__device__ inline __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
  return ::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
}
__device__ inline __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

#define MARGAY_BF16_UNARY(scalar, pair, expression)           \
  __device__ inline __hip_bfloat16 scalar(__hip_bfloat16 a) { \
    const float x = a;                                        \
    return static_cast<float>(expression);                    \
  }                                                           \
  __device__ inline __hip_bfloat162 pair(__hip_bfloat162 a) { return {scalar(a.x), scalar(a.y)}; }
MARGAY_BF16_UNARY(hceil, h2ceil, ::ceilf(x))
MARGAY_BF16_UNARY(hfloor, h2floor, ::floorf(x))
MARGAY_BF16_UNARY(hrint, h2rint, ::rintf(x))
MARGAY_BF16_UNARY(htrunc, h2trunc, ::truncf(x))
MARGAY_BF16_UNARY(hsqrt, h2sqrt, ::sqrtf(x))
MARGAY_BF16_UNARY(hrsqrt, h2rsqrt, ::rsqrtf(x))
MARGAY_BF16_UNARY(hrcp, h2rcp, 1.0f / x)
MARGAY_BF16_UNARY(hexp, h2exp, ::expf(x))
MARGAY_BF16_UNARY(hexp2, h2exp2, ::exp2f(x))
MARGAY_BF16_UNARY(hexp10, h2exp10, ::exp10f(x))
MARGAY_BF16_UNARY(hlog, h2log, ::logf(x))
MARGAY_BF16_UNARY(hlog2, h2log2, ::log2f(x))
MARGAY_BF16_UNARY(hlog10, h2log10, ::log10f(x))
MARGAY_BF16_UNARY(hsin, h2sin, ::sinf(x))
MARGAY_BF16_UNARY(hcos, h2cos, ::cosf(x))
#undef MARGAY_BF16_UNARY

// Shuffles move bits. Those of a pair exist in the _sync form only.
#define MARGAY_BF16_SHUFFLE(name, Lane)                                                      \
  __device__ inline __hip_bfloat16 name(__hip_bfloat16 a, Lane lane, int width = warpSize) { \
    const int bits = name(static_cast<int>(__bfloat16_as_ushort(a)), lane, width);           \
    return __ushort_as_bfloat16(static_cast<unsigned short>(bits));                          \
  }                                                                                          \
  template <typename Mask>                                                                   \
  __device__ inline __hip_bfloat162 name##_sync(Mask mask, __hip_bfloat162 a, Lane lane,     \
                                                int width = warpSize) {                      \
    return __builtin_bit_cast(__hip_bfloat162,                                               \
                              name##_sync(mask, __builtin_bit_cast(int, a), lane, width));   \
  }
MARGAY_BF16_SHUFFLE(__shfl, int)
MARGAY_BF16_SHUFFLE(__shfl_up, unsigned int)
MARGAY_BF16_SHUFFLE(__shfl_down, unsigned int)
MARGAY_BF16_SHUFFLE(__shfl_xor, int)
#undef MARGAY_BF16_SHUFFLE

/// global_atomic_pk_add_bf16 or its LDS and flat forms; "unsafe" because the instruction ignores
/// the rounding mode and works on ordinary device memory only.
__device__ inline __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162* address, __hip_bfloat162 value) {
  using Pair = short __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(
      __hip_bfloat162, __builtin_amdgcn_flat_atomic_fadd_v2bf16(reinterpret_cast<Pair*>(address),
                                                                __builtin_bit_cast(Pair, value)));
}
/// Uses the pair that contains it, and adds zero to the other half.
__device__ inline __hip_bfloat16 unsafeAtomicAdd(__hip_bfloat16* address, __hip_bfloat16 value) {
  const auto place = reinterpret_cast<unsigned long long>(address);
  __hip_bfloat162* const pair = reinterpret_cast<__hip_bfloat162*>(place & ~3ull);
  const bool low = place % 4 == 0;
  const __hip_bfloat162 before =
      unsafeAtomicAdd(pair, low ? __hip_bfloat162(value, HIPRT_ZERO_BF16)
                                : __hip_bfloat162(HIPRT_ZERO_BF16, value));
  return low ? before.x : before.y;
}

// Templates, so that a program may define its own: ROCm has them since 7.
template <typename = void>
__device__ inline __hip_bfloat162 atomicAdd(__hip_bfloat162* address, __hip_bfloat162 value) {
  unsigned* const place = reinterpret_cast<unsigned*>(address);
  unsigned before = __hip_atomic_load(place, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    const __hip_bfloat162 sum = __hadd2(__builtin_bit_cast(__hip_bfloat162, before), value);
    if (__hip_atomic_compare_exchange_strong(place, &before, __builtin_bit_cast(unsigned, sum),
                                             __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                             __HIP_MEMORY_SCOPE_AGENT))
      return __builtin_bit_cast(__hip_bfloat162, before);
  }
}
template <typename = void>
__device__ inline __hip_bfloat16 atomicAdd(__hip_bfloat16* address, __hip_bfloat16 value) {
  const auto place = reinterpret_cast<unsigned long long>(address);
  unsigned* const dword = reinterpret_cast<unsigned*>(place & ~3ull);
  const unsigned shift = place % 4 == 0 ? 0 : 16;
  unsigned before = __hip_atomic_load(dword, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    const __hip_bfloat16 old = __ushort_as_bfloat16(static_cast<unsigned short>(before >> shift));
    const unsigned sum = __bfloat16_as_ushort(__hadd(old, value));
    const unsigned after = (before & ~(0xffffu << shift)) | sum << shift;
    if (__hip_atomic_compare_exchange_strong(dword, &before, after, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
      return old;
  }
}
