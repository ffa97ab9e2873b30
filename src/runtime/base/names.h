// Names of kernels and variables, for messages.
#pragma once

#include <string>

#include "code_object/demangle.h"

namespace margay::runtime {

/// The source-level name of a kernel or variable: demangled if possible.
[[nodiscard]] inline std::string readable_name(const std::string& symbol) {
  return code_object::demangled(symbol);
}

}  // namespace margay::runtime
