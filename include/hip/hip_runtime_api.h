// <hip/hip_runtime_api.h> of the HIP installation, plus what programs written for HIP 6 and 7 take
// from it and an older one lacks: margay_detail/runtime_api.h.
#pragma once

#include <hip/hip_version.h>

#if defined(__cplusplus) && defined(__HIP__) && HIP_VERSION_MAJOR < 6
// Two structures have different members in HIP 6: HIP 5's are renamed to these names.
#define hipDeviceProp_t margay_hip5_hipDeviceProp_t
#define hipGetDeviceProperties margay_hip5_hipGetDeviceProperties
#define hipChooseDevice margay_hip5_hipChooseDevice
#define hipPointerAttribute_t margay_hip5_hipPointerAttribute_t
#define hipPointerGetAttributes margay_hip5_hipPointerGetAttributes
// Adds to an enumeration the kinds that HIP 5 has no name for, so that a switch can list all of
// them.
#define hipMemoryTypeUnified \
  hipMemoryTypeUnified, hipMemoryTypeManaged = 4, hipMemoryTypeUnregistered = 5
#include_next <hip/hip_runtime_api.h>
#undef hipMemoryTypeUnified
#undef hipDeviceProp_t
#undef hipGetDeviceProperties
#undef hipChooseDevice
#undef hipPointerAttribute_t
#undef hipPointerGetAttributes
#include <hip/margay_detail/runtime_api.h>  // IWYU pragma: export
#else
#include_next <hip/hip_runtime_api.h>
#endif
