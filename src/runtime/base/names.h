// Names of kernels and variables, for sentences.
#pragma once

#include <string>

#include "code_object/demangle.h"

namespace margay::runtime {

/// The source-level name of a kernel or variable: demangled where it can be.
[[nodiscard]] inline std::string readable_name(const std::string& symbol) {
  return code_object::demangled(symbol);
}

}  // namespace margay::runtime
