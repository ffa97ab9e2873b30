// See suppressions.h.
#include "report/check/suppressions.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "report/check/statement_text.h"
#include "report/check/text.h"
#include "report/check/tools.h"

namespace margay::check {
namespace {

constexpr std::string_view kForm =
    "TOOL[:KIND] [kernel=GLOB] [function=GLOB] [file=GLOB] [line=N] [message=GLOB]";

/// The error in a line, without its position.
struct Complaint {
  std::string what;
};
template <typename T>
using LineResult = std::expected<T, Complaint>;

std::unexpected<Complaint> complain(std::string what) {
  return std::unexpected(Complaint{std::move(what)});
}

/// Words separated by blanks, with quotes removed; a # at the start of a word ends the line.
LineResult<std::vector<std::string>> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kBlanks, at)) != std::string_view::npos && line[at] != '#') {
    std::string word;
    bool quoted = false;
    for (; at < line.size(); ++at) {
      const char c = line[at];
      if (!quoted && kBlanks.contains(c)) break;
      if (c == '"') {
        quoted = !quoted;
      } else {
        word += c;
      }
    }
    if (quoted) return complain("a quote is not closed");
    words.push_back(std::move(word));
  }
  return words;
}

LineResult<std::optional<Tool>> tool_of(std::string_view name) {
  if (name == "*") return std::nullopt;
  for (std::size_t i = 0; i < kToolCount; ++i) {
    if (tool_name(static_cast<Tool>(i)) == name) return static_cast<Tool>(i);
  }
  std::string known;
  for (const std::string& tool : names_of(ToolSet{}.set())) known += tool + ", ";
  return complain(fmt::format("\"{}\" is no tool; tools are {}and * for all", name, known));
}

LineResult<std::uint32_t> line_number(std::string_view value) {
  std::uint32_t number = 0;
  const auto [stop, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc{} || stop != value.data() + value.size() || number == 0) {
    return complain(fmt::format("line={} is not a line number", value));
  }
  return number;
}

LineResult<void> read_field(Suppression& suppression, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    return complain(fmt::format("\"{}\" is not of the form FIELD=VALUE", word));
  }
  const std::string_view field = word.substr(0, equals);
  const std::string value(word.substr(equals + 1));
  if (value.empty()) return complain(fmt::format("{}= has no value", field));
  if (field == "line") {
    if (suppression.line) return complain("line= is given twice");
    const auto number = line_number(value);
    if (!number) return std::unexpected(number.error());
    suppression.line = *number;
    return {};
  }
  std::optional<std::string>* target = field == "kernel"     ? &suppression.kernel
                                       : field == "function" ? &suppression.function
                                       : field == "file"     ? &suppression.file
                                       : field == "message"  ? &suppression.message
                                                             : nullptr;
  if (target == nullptr) {
    return complain(fmt::format(
        "there is no field {}; fields are kernel, function, file, line and message", field));
  }
  if (target->has_value()) return complain(fmt::format("{}= is given twice", field));
  *target = value;
  return {};
}

LineResult<std::optional<Suppression>> read_line(std::string_view line) {
  const auto words = words_of(line);
  if (!words) return std::unexpected(words.error());
  if (words->empty()) return std::nullopt;
  Suppression suppression;
  const std::string_view first = words->front();
  const std::size_t colon = std::min(first.find(':'), first.size());
  const auto tool = tool_of(first.substr(0, colon));
  if (!tool) return std::unexpected(tool.error());
  suppression.tool = *tool;
  if (colon < first.size()) {
    if (colon + 1 == first.size()) return complain("a kind is missing after the colon");
    suppression.kind = std::string(first.substr(colon + 1));
    if (std::ranges::none_of(kKinds, [&](const KindInfo& known) {
          return (!suppression.tool || *suppression.tool == known.tool) &&
                 glob_matches(*suppression.kind, known.name);
        }))
      return complain(
          fmt::format("{} finds no kind {}", first.substr(0, colon), *suppression.kind));
  }
  for (std::size_t i = 1; i < words->size(); ++i) {
    if (const auto read = read_field(suppression, (*words)[i]); !read) {
      return std::unexpected(read.error());
    }
  }
  return suppression;
}

/// A whole path, or a suffix of one that starts at a directory name.
bool file_matches(const std::string& glob, std::string_view file) {
  while (true) {
    if (glob_matches(glob, file)) return true;
    const std::size_t slash = file.find('/');
    if (slash == std::string_view::npos) return false;
    file.remove_prefix(slash + 1);
  }
}

bool frame_matches(const Suppression& suppression, const SourceFrame& frame) {
  return (!suppression.function || function_matches(*suppression.function, frame.function)) &&
         (!suppression.file || file_matches(*suppression.file, frame.file)) &&
         (!suppression.line || *suppression.line == frame.line);
}

bool access_matches(const Suppression& suppression, const Access& access) {
  for (const SourceFrame& frame : access.frames) {
    if (frame_matches(suppression, frame)) return true;
  }
  // Without debug information the symbol table still has the function.
  return frame_matches(suppression, SourceFrame{.function = access.function, .file = {}});
}

}  // namespace

Result<Suppressions> parse_suppressions(std::string_view text, const std::string& name) {
  Suppressions suppressions;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto line = read_line(text.substr(0, end));
    if (!line) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("Line {} of the suppressions is wrong: {}.", number, line.error().what),
          fmt::format("{}:{}", name, number), fmt::format("A line is {}.", kForm));
    }
    if (line->has_value()) suppressions.lines.push_back(**line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return suppressions;
}

Result<Suppressions> read_suppressions(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Streaming the buffer of an empty file fails although there is no error.
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.fail()) {
    return fail(ErrorCode::not_found,
                fmt::format("The suppressions cannot be read: {}.", std::strerror(errno)), path,
                "Name a text file of suppressions; docs/check.md describes it.");
  }
  return parse_suppressions(text.view(), path);
}

bool matches(const Suppression& suppression, const Finding& finding) {
  if (suppression.tool && *suppression.tool != finding.tool()) return false;
  if (suppression.kind && !glob_matches(*suppression.kind, kind_name(finding.kind))) return false;
  if (suppression.kernel && !function_matches(*suppression.kernel, finding.kernel)) return false;
  if (suppression.message && !glob_matches(*suppression.message, in_words(finding.message)))
    return false;
  if (!suppression.function && !suppression.file && !suppression.line) return true;
  for (const Access& access : finding.accesses) {
    if (access_matches(suppression, access)) return true;
  }
  return false;
}

std::uint64_t take_out(std::vector<Finding>& findings, const Suppressions& suppressions) {
  return std::erase_if(findings, [&](const Finding& finding) {
    for (const Suppression& suppression : suppressions.lines) {
      if (matches(suppression, finding)) return true;
    }
    return false;
  });
}

void apply(Report& report, const Suppressions& suppressions) {
  report.suppressed += take_out(report.findings, suppressions);
}

bool function_matches(std::string_view pattern, std::string_view function) {
  if (glob_matches(pattern, function) || glob_matches(pattern, qualified_function(function)))
    return true;
  const std::string name = short_function(function);
  if (glob_matches(pattern, name)) return true;
  const std::string_view plain = std::string_view(name).substr(0, name.find('<'));
  if (glob_matches(pattern, plain)) return true;
  const std::size_t colons = plain.rfind("::");
  return colons != std::string_view::npos && glob_matches(pattern, plain.substr(colons + 2));
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  // The last *, and the text it was matched from: on a mismatch it matches one character more.
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  std::size_t p = 0;
  std::size_t t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace margay::check
