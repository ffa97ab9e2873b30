// Readable names of C++ functions.
#pragma once

#include <string>
#include <string_view>

namespace margay::code_object {

/// `name` demangled; as it is when it is not a mangled name, or one whose text would be absurd.
[[nodiscard]] std::string demangled(std::string_view name);

}  // namespace margay::code_object
