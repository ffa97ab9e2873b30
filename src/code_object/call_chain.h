// Finds the user's line among the source lines of an instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "code_object/elf/source_frame.h"

namespace margay {

/// A call chain: the user's innermost line first, then the library functions it called, inwards,
/// then the user's own callers, outwards.
struct CallChain {
  std::vector<SourceFrame> frames;
  std::uint32_t called = 0;  ///< The number of frames after the first that the first one called.
};
[[nodiscard]] CallChain user_first(std::vector<SourceFrame> innermost_first);

}  // namespace margay
