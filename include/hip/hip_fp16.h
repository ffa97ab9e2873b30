// <hip/hip_fp16.h> of the HIP installation, plus the functions of HIP 6 that an older one lacks.
#pragma once

#include_next <hip/hip_fp16.h>
#include <hip/hip_version.h>

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
#include <hip/margay_detail/fp16.h>  // IWYU pragma: export
#endif
