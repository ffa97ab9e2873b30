// Softmax for HIP programs: link softmax.hip and call softmax.
#pragma once

#include <hip/hip_runtime_api.h>

#include "plan.h"

namespace margay_softmax {

/// Enqueues y = softmax(x). A refused problem gives hipErrorInvalidValue; plan(problem) says why in
/// words.
hipError_t softmax(const Problem& problem, hipStream_t stream = nullptr);

}  // namespace margay_softmax
