// __shfl as HIP 6 and CUDA have it. Part of hip/hip_runtime.h and hip/hip_fp16.h; do not include it
// alone.
//
// C++11: many makefiles say -std=c++11 or c++14.
#pragma once

#define __shfl margay_hip5_shfl
#include <hip/amd_detail/amd_device_functions.h>
#undef __shfl

/// The value of a lane of the same group of `width` lanes, a power of two. `lane` counts modulo
/// `width`; HIP 5.2's goes on into the next group.
template <typename T>
__device__ inline T __shfl(T value, int lane, int width = warpSize) {
  return margay_hip5_shfl(value, lane & (width - 1), width);
}
