// Suppressions: known findings that are not reported. A file of lines
//
//   TOOL[:KIND] [kernel=GLOB] [function=GLOB] [file=GLOB] [line=N] [message=GLOB]   # comment
//
// TOOL may be *; KIND and the globs accept * (any text) and ? (one character). A value with spaces
// is written in double quotes. A finding is suppressed when one line matches it in every field it
// names; function, file and line must match the same frame of any access.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/check/finding.h"

namespace margay::check {

/// One line. Absent fields match everything.
struct Suppression {
  std::optional<Tool> tool;
  std::optional<std::string> kind;
  std::optional<std::string> kernel;
  std::optional<std::string> function;
  std::optional<std::string> file;
  std::optional<std::uint32_t> line;
  std::optional<std::string> message;
};

/// A file's lines.
struct Suppressions {
  std::vector<Suppression> lines;
};

/// An error names the line and the reason; `name` is the file's, for the message.
[[nodiscard]] Result<Suppressions> parse_suppressions(std::string_view text,
                                                      const std::string& name);
[[nodiscard]] Result<Suppressions> read_suppressions(const std::string& path);

[[nodiscard]] bool matches(const Suppression& suppression, const Finding& finding);

/// Removes the matching findings from `findings`; returns their number.
std::uint64_t take_out(std::vector<Finding>& findings, const Suppressions& suppressions);
/// The same for a report, which counts them.
void apply(Report& report, const Suppressions& suppressions);

/// `*` matches any text, `?` one character; the whole of `text` has to match.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

/// The same for a demangled function: its full name, the short name in text output
/// (short_function()), or that without template arguments, with or without namespaces.
[[nodiscard]] bool function_matches(std::string_view pattern, std::string_view function);

}  // namespace margay::check
