// A member of a kernel's arguments, as debug information describes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay {

/// A pointer or an integer somewhere inside a kernel's explicit arguments, from debug information.
struct ArgumentField {
  enum class Kind : std::uint8_t { pointer, integer };
  Kind kind = Kind::pointer;
  bool is_signed = false;          ///< Of an integer.
  std::uint32_t offset_bytes = 0;  ///< From the start of the kernel-argument segment.
  std::uint32_t size_bytes = 0;
  /// Parameter and member names: "x", "g.a.raw_ptr", "g.in[2].raw_ptr". Base classes add nothing.
  std::string path;
  /// The types that enclose it, outermost first, with their namespaces; base classes count:
  /// "micro_globals", "kittens::gl<float, -1, -1, -1, -1>", "kittens::detail::gl_dim<0, -1>".
  std::vector<std::string> enclosing;
  // Of a pointer: what it points at, without const and typedefs; empty and 0 when not known.
  std::string pointee;
  std::uint32_t pointee_bytes = 0;
};

}  // namespace margay
