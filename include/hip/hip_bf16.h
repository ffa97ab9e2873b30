// <hip/hip_bf16.h>: the HIP installation's own where it has one (HIP 5.6 and later), otherwise
// ours.
#pragma once

#if __has_include_next(<hip/hip_bf16.h>)
#include_next <hip/hip_bf16.h>
#else
#include <hip/margay_detail/bf16.h>  // IWYU pragma: export
#endif
