// The text of source lines, for interleaving with instructions, and short names for their files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace margay::assembly {

/// Reads each file once, when first asked for. The names come from untrusted debug information:
/// only regular files of ordinary size are read.
class SourceText {
 public:
  /// Line `line` (from 1) of `file`, without control characters; nothing when it cannot be read.
  [[nodiscard]] std::optional<std::string> line(const std::string& file, std::uint32_t line);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

/// The shortest unique name of each file: its last component, or more if two files share it.
[[nodiscard]] std::map<std::string, std::string> short_names(const std::set<std::string>& files);

/// `text` with tabs as two spaces and without other characters that would move a terminal's cursor.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace margay::assembly
