// The DWARF sections of a code object, decompressed, and the code addresses they may refer to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "code_object/elf/byte_reader.h"

namespace margay::code_object {

struct DwarfSections {
  Bytes abbrev, info, line, line_str, str, str_offsets, addr, ranges, rnglists;
  /// Sorted executable ranges [first, last). The linker points debug information of discarded
  /// functions at address 0 or 1, which must not cover real code.
  using CodeRange = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<CodeRange> code;

  /// [begin, end) cut to the executable range that holds `begin`; empty or reversed when there is
  /// none.
  [[nodiscard]] CodeRange clip_to_code(std::uint64_t begin, std::uint64_t end) const {
    const auto after = std::ranges::upper_bound(code, begin, {}, &CodeRange::first);
    if (after == code.begin()) return {begin, begin};
    return {begin, std::min(end, std::prev(after)->second)};
  }
};

/// The string at `offset` of a string section; empty when there is none.
[[nodiscard]] inline std::string_view string_at(Bytes section, std::uint64_t offset) {
  return offset < section.size() ? ByteReader(section, offset).read_c_string() : std::string_view{};
}

}  // namespace margay::code_object
