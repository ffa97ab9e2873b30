// <hip/hip_cooperative_groups.h> of the HIP installation, or ours where that is older than HIP 6.
#pragma once

#include <hip/hip_runtime.h>

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
#include <hip/margay_detail/cooperative_groups.h>  // IWYU pragma: export
#else
// After hip_runtime.h, without which HIP 5.2's does not compile.
#include_next <hip/hip_cooperative_groups.h>
#endif
