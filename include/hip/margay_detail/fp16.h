// __half and __half2 for HIP programs: types, operators and functions of HIP 6 and 7.
//
// Each is computed in binary16 with one rounding, on the host as on the device. A function returns
// what ROCm's returns, even where that differs from what its name says: __half2int_rn and similar
// functions truncate regardless of their suffix, and __float2half_rz, _rd and _ru round to nearest
// on the host. Sources: HIP API reference, "Half precision", ROCm 6.3 and 7.2; ROCm/clr,
// amd_hip_fp16.h, for which functions the host has and what NaN gives. Where 6 and 7 differ it is
// as in 7.
//
// C++11: many makefiles say -std=c++11 or c++14. Part of hip/hip_fp16.h; do not include it alone.
#pragma once

#include <hip/amd_detail/amd_hip_common.h>
#include <hip/amd_detail/amd_hip_vector_types.h>
#include <hip/amd_detail/host_defines.h>

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

#define __HOST_DEVICE__ __host__ __device__

#include <hip/amd_detail/hip_fp16_math_fwd.h>
#include <hip/margay_detail/fp16_types.h>  // IWYU pragma: export

// Uses the types: must come after them.
#include <hip/margay_detail/fp16_functions.h>  // IWYU pragma: export

// Uses the functions.
#include <hip/margay_detail/fp16_device.h>  // IWYU pragma: export
