// <hip/amd_detail/amd_hip_atomic.h> of the HIP installation, with atomicInc and atomicDec replaced
// where they are HIP 5's: those call LLVM intrinsics (llvm.amdgcn.atomic.inc, .dec) that LLVM 17
// removed, so that a program using them would not link.
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
#else
#include_next <hip/amd_detail/amd_hip_atomic.h>
#endif
