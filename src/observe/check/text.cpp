// See text.h.
#include "observe/check/text.h"

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "observe/check/report.h"

namespace margay::check {
namespace {

constexpr std::string_view kPrefix = "========= ";
// Longer instructions than this do not push the source places of the others to the right.
constexpr std::size_t kMaxColumn = 64;
constexpr std::size_t kLongName = 48;

// Colours that are readable on dark and on light ground.
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kFaint = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string painted(std::string_view text, std::string_view colour, const TextOptions& options) {
  if (!options.colour || colour.empty() || text.empty()) return std::string(text);
  return fmt::format("{}{}{}", colour, text, kPlain);
}

std::string_view colour_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return kRed;
    case Severity::note:
      return kYellow;
    case Severity::advice:
      return {};
  }
  return {};
}

bool has_line(const Access& access) {
  return !access.frames.empty() && access.frames.front().line != 0;
}

/// The source line, or where there is none the offset in the function.
std::string first_place(const Access& access, const TextOptions& options) {
  if (has_line(access)) return place_of(access.frames.front(), options.directory);
  if (access.vaddr == kNoVaddr) return {};
  if (access.function.empty()) return fmt::format("at {:#x}", access.vaddr);
  return fmt::format("{}+{:#x}", short_function(access.function), access.function_offset);
}

std::string location(const Access& access) {
  std::string text;
  if (access.wave != kNoNumber) text += fmt::format("by wave {}", access.wave);
  if (access.lane != kNoNumber) {
    text += fmt::format("{}lane {}", text.empty() ? "by " : " ", access.lane);
  }
  if (!text.empty()) {
    const auto& [x, y, z] = access.workgroup;
    text += fmt::format(", workgroup ({},{},{})", x, y, z);
  }
  return text;
}

/// The columns of one access's line.
struct Row {
  std::string role;
  std::string location;
  std::string instruction;
  std::string place;
};

/// The widths to which columns are filled up.
struct Widths {
  std::size_t role = 0;
  std::size_t who = 0;
  std::size_t instruction = 0;
};

std::string who_of(const Row& row, std::size_t role_width) {
  if (row.location.empty()) return row.role + ":";
  return fmt::format("{:<{}} {}:", row.role, role_width, row.location);
}

std::string access_lines(const Access& access, const Row& row, const Widths& widths,
                         const TextOptions& options) {
  std::string line = fmt::format("{:<{}}", who_of(row, widths.role), widths.who);
  if (!row.instruction.empty() || !row.place.empty()) {
    line += fmt::format(" {:<{}}", row.instruction, widths.instruction);
  }
  const std::size_t indent = line.size() + 3;
  if (!row.place.empty()) line += "   " + painted(row.place, kBold, options);
  while (line.ends_with(' ')) line.pop_back();
  std::string text = fmt::format("{}  {}\n", kPrefix, line);
  for (std::size_t i = 1; i < access.frames.size(); ++i) {
    const std::string place = place_of(access.frames[i], options.directory);
    if (place.empty()) continue;
    const std::string_view arrow = i <= access.called ? "->" : "<-";
    text += fmt::format("{}  {:{}}{}\n", kPrefix, "", indent,
                        painted(fmt::format("{} {}", arrow, place), kFaint, options));
  }
  return text;
}

std::string accesses_text(const std::vector<Access>& accesses, const TextOptions& options) {
  std::vector<Row> rows;
  Widths widths;
  for (const Access& access : accesses) {
    rows.push_back(
        {access.role, location(access), access.instruction, first_place(access, options)});
    widths.role = std::max(widths.role, access.role.size());
  }
  for (const Row& row : rows) {
    widths.who = std::max(widths.who, who_of(row, widths.role).size());
    widths.instruction = std::max(widths.instruction, std::min(row.instruction.size(), kMaxColumn));
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += access_lines(accesses[i], rows[i], widths, options);
  }
  return text;
}

/// "kernel micro_tk, launch 1, seen 4096 times"; each part where it says something.
std::string circumstances(const Finding& finding) {
  std::vector<std::string> parts;
  if (!finding.kernel.empty()) parts.push_back("kernel " + short_function(finding.kernel));
  if (finding.launch != 0) parts.push_back(fmt::format("launch {}", finding.launch));
  if (finding.count > 1) parts.push_back(fmt::format("seen {} times", finding.count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Advice is a list: tool, what, where.
std::string advice_line(const Finding& finding, const TextOptions& options) {
  std::string line = fmt::format("{}{}: {}", kPrefix, tool_name(finding.tool), finding.message);
  if (!finding.accesses.empty()) {
    const Access& access = finding.accesses.front();
    const bool named = finding.message.find(access.instruction) != std::string::npos;
    if (!named) line += ": " + access.instruction;
    if (const std::string place = first_place(access, options); !place.empty()) {
      line += "   " + painted(place, kBold, options);
    }
  }
  return line + "\n";
}

/// Where the parameter list begins: the first parenthesis outside of template arguments that does
/// not open "(anonymous namespace)".
std::size_t parameter_list(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] != '(' || depth != 0) continue;
    if (!name.substr(i).starts_with(kAnonymous)) return i;
    i += kAnonymous.size() - 1;
  }
  return name.size();
}

/// Past the return type, which templates have: the last space outside of template arguments.
std::size_t past_return_type(std::string_view name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (name[i] == ' ' && depth == 0) begin = i + 1;
  }
  return begin;
}

std::string without_template_arguments(std::string_view name) {
  std::string text;
  int depth = 0;
  for (const char c : name) {
    if (c == '<' && depth++ == 0) text += "<...>";
    if (depth == 0) text += c;
    if (c == '>') --depth;
  }
  return text;
}

}  // namespace

TextOptions stderr_text_options() {
  TextOptions options;
  std::error_code ignored;
  options.directory = std::filesystem::current_path(ignored).string();
  // https://no-color.org: present and not empty means no colour.
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  options.colour = (no_color == nullptr || *no_color == '\0') &&
                   (term == nullptr || std::strcmp(term, "dumb") != 0) &&
                   isatty(STDERR_FILENO) != 0;
  return options;
}

std::string short_function(std::string_view name) {
  // An operator's name may hold any of the signs that are looked for.
  if (name.find("operator") != std::string_view::npos) return std::string(name);
  name = name.substr(0, parameter_list(name));
  name = name.substr(past_return_type(name));
  return name.size() <= kLongName ? std::string(name) : without_template_arguments(name);
}

std::string place_of(const SourceFrame& frame, std::string_view directory) {
  if (frame.line == 0 || frame.file.empty()) return {};
  std::string_view file = frame.file;
  while (directory.ends_with('/')) directory.remove_suffix(1);
  if (!directory.empty() && file.size() > directory.size() && file.starts_with(directory) &&
      file[directory.size()] == '/') {
    file.remove_prefix(directory.size() + 1);
  }
  std::string text = fmt::format("{}:{}", file, frame.line);
  if (!frame.function.empty()) text += " in " + short_function(frame.function);
  return text;
}

std::string text_of(const Finding& finding, const TextOptions& options) {
  if (finding.severity == Severity::advice) return advice_line(finding, options);
  const std::string_view note = finding.severity == Severity::note ? " (note)" : "";
  std::string text = fmt::format("{}{}: {}\n", kPrefix,
                                 painted(fmt::format("{}{}", tool_name(finding.tool), note),
                                         colour_of(finding.severity), options),
                                 painted(finding.message, kBold, options));
  text += accesses_text(finding.accesses, options);
  for (const std::string& line : finding.detail) text += fmt::format("{}  {}\n", kPrefix, line);
  if (!finding.hint.empty()) text += fmt::format("{}  fix: {}\n", kPrefix, finding.hint);
  if (const std::string line = circumstances(finding); !line.empty()) {
    text += fmt::format("{}  {}\n", kPrefix, painted(line, kFaint, options));
  }
  return text;
}

std::string text_of(const Finding& finding) { return text_of(finding, stderr_text_options()); }

std::string FindingPrinter::findings(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::advice) continue;
    if (shown_ < max_) {
      text += text_of(finding, options_);
      ++shown_;
    } else if (not_shown_++ == 0) {
      text += fmt::format(
          "{}{} shown; further ones are counted, not shown (--max-findings shows more)\n", kPrefix,
          counted(shown_, "finding"));
    }
  }
  return text;
}

std::string FindingPrinter::advice(std::span<const Finding> findings) const {
  // Instructions of one source line often say the same.
  std::vector<std::pair<std::string, std::uint64_t>> lines;
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::advice) continue;
    std::string line = text_of(finding, options_);
    const auto same = std::ranges::find(lines, line, &decltype(lines)::value_type::first);
    if (same == lines.end()) {
      lines.emplace_back(std::move(line), 1);
    } else {
      ++same->second;
    }
  }
  if (lines.empty()) return {};
  std::string text;
  for (auto& [line, instructions] : std::span(lines).first(std::min(lines.size(), max_))) {
    if (instructions > 1) line.insert(line.size() - 1, fmt::format(" (x{})", instructions));
    text += line;
  }
  if (lines.size() > max_) {
    text +=
        fmt::format("{}and {} more\n", kPrefix, counted(lines.size() - max_, "piece", "pieces"));
  }
  return fmt::format("{}{}\n", kPrefix, painted("advice", kBold, options_)) + text;
}

std::string summary_line(const Report& report, const TextOptions& options) {
  const Tally count = tally(report.findings);
  std::vector<std::string> parts;
  parts.push_back(count.errors == 0 ? "no errors"
                                    : painted(counted(count.errors, "error"), kRed, options));
  if (count.notes != 0) parts.push_back(counted(count.notes, "note"));
  if (count.advice != 0) {
    parts.push_back(counted(count.advice, "piece of advice", "pieces of advice"));
  }
  if (report.suppressed != 0) parts.push_back(fmt::format("{} suppressed", report.suppressed));
  std::string line = fmt::format("{}margay check: {} ({})", kPrefix, fmt::join(parts, ", "),
                                 fmt::join(report.tools, ", "));
  if (report.adversarial) line += fmt::format(", adversarial seed {}", report.seed);
  return line + "\n";
}

std::string counted(std::uint64_t number, std::string_view word, std::string_view plural) {
  if (number == 1) return fmt::format("1 {}", word);
  return plural.empty() ? fmt::format("{} {}s", number, word)
                        : fmt::format("{} {}", number, plural);
}

}  // namespace margay::check
