// <hip/hip_fp16.h> of the HIP installation, which includes amd_detail/amd_hip_fp16.h.
#pragma once

#include_next <hip/hip_fp16.h>
