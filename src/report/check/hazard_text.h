// What goes wrong without wait states, in words.
#pragma once

#include <string_view>

#include "gpu/wait_states.h"

namespace margay::check {

/// A clause: "a VALU result is read by a matrix instruction".
[[nodiscard]] std::string_view hazard_text(wait_states::Hazard hazard);

}  // namespace margay::check
