// <hip/amd_detail/amd_hip_complex.h> of the HIP installation, or ours where that is older than HIP
// 6: HIP 5.2's has operators for float2 and double2 that multiply and divide complex numbers. In
// HIP 6 and 7 they are the operators of vectors.
#pragma once

#include <hip/hip_version.h>

#if defined(__cplusplus) && HIP_VERSION_MAJOR < 6
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COMPLEX_H
#include <hip/margay_detail/complex.h>  // IWYU pragma: export
#else
#include_next <hip/amd_detail/amd_hip_complex.h>
#endif
