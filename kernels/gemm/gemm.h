// GEMM for HIP programs: link gemm_bf16.hip and call gemm_bf16.
#pragma once

#include <hip/hip_runtime_api.h>

#include "plan.h"

namespace margay_gemm {

/// Enqueues C = alpha A op(B) + beta C. An unsupported problem gives hipErrorInvalidValue;
/// plan(problem) gives the reason as text.
hipError_t gemm_bf16(const Problem& problem, hipStream_t stream = nullptr);

}  // namespace margay_gemm
