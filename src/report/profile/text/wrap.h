// Sentences on a terminal of 80 columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace margay::profile {

inline constexpr std::size_t kColumns = 80;

/// Broken between words so that no line is longer than a terminal is wide; `first` columns are used
/// already, further lines begin in column `indent`.
[[nodiscard]] inline std::string wrapped(std::string_view text, std::size_t first,
                                         std::size_t indent) {
  std::string out;
  std::size_t column = first;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (column != first && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (at != 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at = end + 1;
  }
  return out;
}

}  // namespace margay::profile
