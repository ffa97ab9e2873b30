// Attention for HIP programs: link attention_bf16.hip and call attention_bf16.
#pragma once

#include <hip/hip_runtime_api.h>

#include "plan.h"

namespace margay_attention {

/// Enqueues o = softmax(scale q k^T) v. An unsupported problem gives hipErrorInvalidValue;
/// plan(problem) gives the reason as text.
hipError_t attention_bf16(const Problem& problem, hipStream_t stream = nullptr);

}  // namespace margay_attention
