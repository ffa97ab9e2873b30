// Softmax for HIP programs: link softmax.hip and call softmax.
#pragma once

#include <hip/hip_runtime_api.h>

#include "plan.h"

namespace margay_softmax {

/// Enqueues y = softmax(x). An unsupported problem gives hipErrorInvalidValue; plan(problem) gives
/// the reason as text.
hipError_t softmax(const Problem& problem, hipStream_t stream = nullptr);

}  // namespace margay_softmax
