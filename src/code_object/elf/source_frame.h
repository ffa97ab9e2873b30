// A source position of an instruction.
#pragma once

#include <cstdint>
#include <string>

namespace margay {

/// One line of a source-level call chain.
struct SourceFrame {
  std::string function;  ///< Demangled; without arguments where only line tables exist.
  std::string file;      ///< With the directory it was compiled in, where the compiler recorded it.
  std::uint32_t line = 0;  ///< 0: the compiler attributes the instruction to no line.
  std::uint32_t column = 0;
};

}  // namespace margay
