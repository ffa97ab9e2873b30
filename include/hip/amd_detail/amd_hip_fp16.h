// <hip/amd_detail/amd_hip_fp16.h> of the HIP installation, or ours where that is older than HIP 6
// and the compiler knows HIP. HIP 5.2's __half has no arithmetic on the host, and the members of
// its
// __half2 are integers.
#pragma once

#include <hip/hip_version.h>

#if defined(__cplusplus) && defined(__HIP__) && HIP_VERSION_MAJOR < 6
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_FP16_H
#include <hip/margay_detail/fp16.h>  // IWYU pragma: export
#else
#include_next <hip/amd_detail/amd_hip_fp16.h>
#endif
