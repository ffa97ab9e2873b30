// <hip/hip_cooperative_groups.h> of the HIP installation. HIP 5.2's only compiles after
// hip_runtime.h, which later versions include themselves.
#pragma once

#include <hip/hip_runtime.h>

// After the above, which it needs.
#include_next <hip/hip_cooperative_groups.h>
