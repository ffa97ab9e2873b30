// bfloat16 functions that exist on the device only: elementary functions, shuffles, a packed
// atomic. Part of hip/hip_bf16.h; do not include it alone.
#pragma once

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

// Shuffles move bits; the _sync forms are in amd_warp_sync_functions.h, for every type.
#define MARGAY_BF16_SHUFFLE(name, Lane)                                                        \
  __device__ inline __hip_bfloat16 name(__hip_bfloat16 a, Lane lane, int width = warpSize) {   \
    const int bits = name(static_cast<int>(__bfloat16_as_ushort(a)), lane, width);             \
    return __ushort_as_bfloat16(static_cast<unsigned short>(bits));                            \
  }                                                                                            \
  __device__ inline __hip_bfloat162 name(__hip_bfloat162 a, Lane lane, int width = warpSize) { \
    return __builtin_bit_cast(__hip_bfloat162, name(__builtin_bit_cast(int, a), lane, width)); \
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
