// A piece of work that a call describes and a stream or a graph executes in order.
#pragma once

#include <functional>

#include "runtime/base/errors.h"

namespace margay::runtime {

using Work = std::function<Outcome()>;
/// Begins work and, if it cannot be completed now, returns its continuation; otherwise an empty
/// function.
using Start = std::function<Answer<Work>()>;

}  // namespace margay::runtime
