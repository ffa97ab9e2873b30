// A symbol of a code object.
#pragma once

#include <cstdint>
#include <string>

namespace margay {

/// A named range of the image.
struct Symbol {
  enum class Kind : std::uint8_t { function, object, other };
  std::string name;
  std::uint64_t vaddr = 0;
  std::uint64_t size_bytes = 0;
  Kind kind = Kind::other;
};

}  // namespace margay
