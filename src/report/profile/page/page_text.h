// Escapes text for markup.
#pragma once

#include <string>
#include <string_view>

namespace margay::profile {

[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace margay::profile
