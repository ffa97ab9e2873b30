// <hip/hip_runtime.h> of the HIP installation, plus the device functions of HIP 6.2 that an older
// one lacks.
#pragma once

#include_next <hip/hip_runtime.h>

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
#include <hip/margay_detail/warp_sync.h>  // IWYU pragma: export

#if !__HIP_DEVICE_COMPILE__
// HIP 5.2 declares it in the device's half of the compilation only.
__device__ long long int wall_clock64();
#endif
#endif
