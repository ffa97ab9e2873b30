// Anything at all as a profile, through everything that reads profiles: for tests and the fuzzer.
#pragma once

#include <string_view>

namespace margay::profile {

/// Crashes if something does; what is refused is fine.
void exercise(std::string_view text);

}  // namespace margay::profile
