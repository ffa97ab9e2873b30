// <hip/hip_fp8.h>: the HIP installation's own where it has one (HIP 6.2 and later), otherwise
// ours.
#pragma once

#if __has_include_next(<hip/hip_fp8.h>)
#include_next <hip/hip_fp8.h>
#else
#include <hip/margay_detail/fp8.h>  // IWYU pragma: export
#endif
