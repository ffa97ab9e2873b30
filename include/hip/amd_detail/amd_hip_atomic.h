// <hip/amd_detail/amd_hip_atomic.h> of the HIP installation. With HIP 5, atomicInc and atomicDec
// are replaced: those call LLVM intrinsics (llvm.amdgcn.atomic.inc, .dec) that LLVM 17 removed, so
// that a program using them would not link. Adds the overloads of HIP 6.
#pragma once

#include <hip/hip_version.h>

#if HIP_VERSION_MAJOR < 6
#define atomicInc margay_hip5_atomicInc
#define atomicDec margay_hip5_atomicDec
#include_next <hip/amd_detail/amd_hip_atomic.h>
#undef atomicInc
#undef atomicDec

__device__ inline unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, "agent");
}
__device__ inline unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, "agent");
}

__device__ inline long long atomicMin(long long* address, long long value) {
  return __hip_atomic_fetch_min(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline long long atomicMax(long long* address, long long value) {
  return __hip_atomic_fetch_max(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// gfx942 has f64 in memory; of f32 and in LDS it is a loop of compare and swap.
#define MARGAY_ATOMIC_EXTREME(prefix, T)                                                       \
  __device__ inline T prefix##AtomicMax(T* address, T value) {                                 \
    return __hip_atomic_fetch_max(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }                                                                                            \
  __device__ inline T prefix##AtomicMin(T* address, T value) {                                 \
    return __hip_atomic_fetch_min(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }
MARGAY_ATOMIC_EXTREME(unsafe, float)
MARGAY_ATOMIC_EXTREME(unsafe, double)
MARGAY_ATOMIC_EXTREME(safe, float)
MARGAY_ATOMIC_EXTREME(safe, double)
#undef MARGAY_ATOMIC_EXTREME

__device__ inline unsigned short atomicCAS(unsigned short* address, unsigned short compare,
                                           unsigned short value) {
  __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return compare;
}
#else
#include_next <hip/amd_detail/amd_hip_atomic.h>
#endif
