// What HIP 6 has for __half and HIP 5.2 has not: maximum and minimum, shuffles, a packed atomic.
// Part of hip/hip_fp16.h; do not include it alone.
#pragma once

#include <hip/hip_runtime.h>

/// As fmax and fmin: a NaN loses against a number. The _nan forms let it win.
__device__ inline __half __hmax(__half a, __half b) {
  return __hisnan(a) ? b : __hisnan(b) ? a : __hlt(a, b) ? b : a;
}
__device__ inline __half __hmin(__half a, __half b) {
  return __hisnan(a) ? b : __hisnan(b) ? a : __hgt(a, b) ? b : a;
}
__device__ inline __half __hmax_nan(__half a, __half b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);
}
__device__ inline __half __hmin_nan(__half a, __half b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);
}
__device__ inline __half2 __hmax2(__half2 a, __half2 b) {
  return __halves2half2(__hmax(__low2half(a), __low2half(b)),
                        __hmax(__high2half(a), __high2half(b)));
}
__device__ inline __half2 __hmin2(__half2 a, __half2 b) {
  return __halves2half2(__hmin(__low2half(a), __low2half(b)),
                        __hmin(__high2half(a), __high2half(b)));
}

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
__device__ inline __half2 unsafeAtomicAdd(__half2* address, __half2 value) {
  using Pair = _Float16 __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(
      __half2, __builtin_amdgcn_flat_atomic_fadd_v2f16(reinterpret_cast<Pair*>(address),
                                                       __builtin_bit_cast(Pair, value)));
}
