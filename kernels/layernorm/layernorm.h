// Layernorm for HIP programs: link layernorm_bf16.hip and call layernorm_bf16.
#pragma once

#include <hip/hip_runtime_api.h>

#include "plan.h"

namespace margay_layernorm {

/// Enqueues the problem. An unsupported one gives hipErrorInvalidValue; plan(problem) gives the
/// reason as text.
hipError_t layernorm_bf16(const Problem& problem, hipStream_t stream = nullptr);

}  // namespace margay_layernorm
