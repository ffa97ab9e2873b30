// Readable names of C++ functions.
#pragma once

#include <string>
#include <string_view>

namespace margay::code_object {

/// `name` demangled; unchanged if it is not a mangled name or its text would be excessively long.
[[nodiscard]] std::string demangled(std::string_view name);

}  // namespace margay::code_object
