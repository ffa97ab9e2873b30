// Compiles HIP source while a program runs: `margay hipcc --genco` in a directory of its own.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace margay::runtime {

struct RtcSource {
  std::string name;  ///< Its name in diagnostics and line tables.
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  ///< Name in #include, and text.
  std::vector<std::string> name_expressions;                 ///< Kernels and variables, in C++.
  std::vector<std::string> options;
};

struct RtcResult {
  std::string log;                                   ///< The compiler's output.
  std::vector<std::byte> code;                       ///< Empty: it did not compile.
  std::map<std::string, std::string> lowered_names;  ///< By name expression.
};

/// An error here is not a compiler error (those are in the log), but a missing compiler, or no
/// space for its files.
[[nodiscard]] Result<RtcResult> rtc_compile(const RtcSource& source);

}  // namespace margay::runtime

/// What a hiprtcProgram points to.
struct _hiprtcProgram {
  std::mutex mutex;
  margay::runtime::RtcSource source;
  margay::runtime::RtcResult result;
  bool compiled = false;  ///< Whether a compilation was tried.
};
