// <hip/amd_detail/amd_math_functions.h> of the HIP installation, after our vector types: HIP 5.2's
// includes its own by their relative name.
#pragma once

#include <hip/amd_detail/amd_hip_vector_types.h>

#include_next <hip/amd_detail/amd_math_functions.h>
