// A piece of work that a call describes and a stream or a graph does at its turn.
#pragma once

#include <functional>

#include "runtime/base/errors.h"

namespace margay::runtime {

using Work = std::function<Outcome()>;
/// Begins work and, where it cannot be ended now, gives what is left of it; else an empty function.
using Start = std::function<Answer<Work>()>;

}  // namespace margay::runtime
