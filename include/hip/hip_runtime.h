// <hip/hip_runtime.h> of the HIP installation, plus the device functions of HIP 6.2 that an older
// one lacks.
#pragma once

#include <hip/hip_version.h>

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
// Renamed so as not to collide with those in margay_detail/coordinates.h. Structures of the API
// have members with these names.
#include <hip/hip_runtime_api.h>
#include <hip/margay_detail/wavefront_size.h>
#define threadIdx margay_hip5_threadIdx
#define blockIdx margay_hip5_blockIdx
#define blockDim margay_hip5_blockDim
#define gridDim margay_hip5_gridDim
// So as not to collide with that in margay_detail/shuffle.h.
#define __shfl margay_hip5_shfl
#endif
#include_next <hip/hip_runtime.h>
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#undef __shfl

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
#include <hip/margay_detail/coordinates.h>  // IWYU pragma: export
#include <hip/margay_detail/warp_sync.h>    // IWYU pragma: export

#if !__HIP_DEVICE_COMPILE__
// HIP 5.2 declares it in the device's half of the compilation only.
__device__ long long int wall_clock64();
#endif
#endif
