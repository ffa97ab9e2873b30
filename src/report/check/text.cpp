// See text.h.
#include "report/check/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "report/check/fix_text.h"
#include "report/check/report.h"
#include "report/check/statement_text.h"

namespace margay::check {
namespace {

using report::kBold, report::kFaint, report::kRed, report::kYellow, report::painted;

constexpr std::string_view kPrefix = "========= ";
// Longer entries do not widen the column in other lines.
constexpr std::size_t kMaxColumn = 64;
// At most this many lines where the same cause showed are named without --full.
constexpr std::size_t kMaxOtherLines = 6;

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

/// The source line, or if there is none the offset in the function.
std::string first_place(const Access& access, const TextOptions& options) {
  if (has_line(access))
    return (access.nearby ? "near " : "") + short_place_of(access.frames.front(), options);
  if (access.vaddr == kNoVaddr) return {};
  if (access.function.empty()) return fmt::format("at {:#x}", access.vaddr);
  return fmt::format("{}+{:#x}", short_function(access.function), access.function_offset);
}

std::string location(const Access& access) {
  std::string text;
  if (access.wave != kNoNumber) text += fmt::format("wave {}", access.wave);
  if (access.lane != kNoNumber) {
    text += fmt::format("{}lane {}", text.empty() ? "" : " ", access.lane);
  }
  if (!text.empty()) {
    const auto& [x, y, z] = access.workgroup;
    text += fmt::format(", workgroup ({},{},{})", x, y, z);
  }
  return text;
}

/// The columns of one access's line.
struct Row {
  std::string_view role;
  std::string place;
  std::string instruction;
  std::string location;
};

/// The widths to which columns are filled up.
struct Widths {
  std::size_t role = 0;
  std::size_t place = 0;
  std::size_t instruction = 0;
};

/// What the user's line calls, in one line: the function it names and the depth of the calls.
std::string folded_calls(const Access& access) {
  const std::size_t called = std::min<std::size_t>(access.called, access.frames.size() - 1);
  if (called == 0 || access.frames[1].function.empty()) return {};
  std::string text = "-> " + short_function(access.frames[1].function);
  if (called > 1) text += fmt::format(" ({} frames)", called);
  return text;
}

/// The lines that the user's line was called from, in one line.
std::string folded_callers(const Access& access, const TextOptions& options) {
  std::string text;
  for (std::size_t i = std::size_t{access.called} + 1; i < access.frames.size(); ++i)
    if (const std::string place = short_place_of(access.frames[i], options); !place.empty())
      text += (text.empty() ? "<- " : " <- ") + place;
  return text;
}

/// Frames beyond the first: each in a line, or folded.
std::vector<std::string> further_frames(const Access& access, const TextOptions& options) {
  std::vector<std::string> lines;
  if (!has_line(access)) return lines;
  if (options.full) {
    for (std::size_t i = 1; i < access.frames.size(); ++i)
      if (const std::string place = short_place_of(access.frames[i], options); !place.empty())
        lines.push_back(fmt::format("{} {}", i <= access.called ? "->" : "<-", place));
    return lines;
  }
  for (std::string line : {folded_calls(access), folded_callers(access, options)})
    if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string access_lines(const Access& access, const Row& row, const Widths& widths,
                         const TextOptions& options) {
  // Escape sequences have no width.
  const auto column = [&](const std::string& text, std::size_t width, std::string_view colour) {
    return painted(text, colour, options) + std::string(width - std::min(width, text.size()), ' ');
  };
  std::string line = column(std::string(row.role), widths.role, {});
  if (widths.place != 0) line += "  " + column(row.place, widths.place, kBold);
  if (widths.instruction != 0)
    line += "  " + column(row.instruction, row.location.empty() ? 0 : widths.instruction, {});
  if (!row.location.empty()) line += "  " + row.location;
  while (line.ends_with(' ')) line.pop_back();
  std::string text = fmt::format("{}  {}\n", kPrefix, line);
  for (const std::string& frame : further_frames(access, options))
    text +=
        fmt::format("{}  {:{}}  {}\n", kPrefix, "", widths.role, painted(frame, kFaint, options));
  return text;
}

std::string accesses_text(const std::vector<Access>& accesses, const TextOptions& options) {
  std::vector<Row> rows;
  Widths widths;
  for (const Access& access : accesses)
    rows.push_back({role_name(access.role), first_place(access, options), access.instruction,
                    location(access)});
  for (const Row& row : rows) {
    widths.role = std::max(widths.role, row.role.size());
    widths.place = std::max(widths.place, std::min(row.place.size(), kMaxColumn));
    widths.instruction = std::max(widths.instruction, std::min(row.instruction.size(), kMaxColumn));
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += access_lines(accesses[i], rows[i], widths, options);
  }
  return text;
}

/// Lines of the user for the other instructions, without those shown.
std::vector<std::string> other_lines(const Finding& finding, const TextOptions& options) {
  std::vector<std::string> lines;
  const auto add = [&](const Access& access) {
    if (!has_line(access)) return;
    SourceFrame frame = access.frames.front();
    frame.function.clear();
    std::string place = short_place_of(frame, options);
    if (std::ranges::find(lines, place) == lines.end()) lines.push_back(std::move(place));
  };
  for (const Access& access : finding.accesses) add(access);
  const auto shown = static_cast<std::ptrdiff_t>(lines.size());
  for (const Occurrence& other : finding.others)
    for (const Access& access : other.accesses) add(access);
  lines.erase(lines.begin(), lines.begin() + shown);
  return lines;
}

/// The other places of the same cause: in one line, or each with --full.
std::string others_text(const Finding& finding, const TextOptions& options) {
  if (finding.others.empty()) return {};
  const std::string_view what =
      finding.accesses.size() > 1 ? "pairs of instructions" : "instructions";
  std::string line = fmt::format("{} {} in all", finding.others.size() + 1, what);
  if (!options.full) {
    std::vector<std::string> lines = other_lines(finding, options);
    if (lines.size() > kMaxOtherLines) {
      const std::size_t left = lines.size() - kMaxOtherLines;
      lines.resize(kMaxOtherLines);
      lines.push_back(fmt::format("{} more", left));
    }
    if (!lines.empty()) line += fmt::format(", also in {}", fmt::join(lines, ", "));
    return fmt::format("{}  {} (--full lists them)\n", kPrefix, line);
  }
  std::string text = fmt::format("{}  {}; the others:\n", kPrefix, line);
  for (const Occurrence& other : finding.others) {
    text += fmt::format("{}  {}\n", kPrefix, in_words(other.message));
    text += accesses_text(other.accesses, options);
  }
  return text;
}

/// "kernel micro_tk, launch 1, seen 4096 times"; empty parts are omitted.
std::string circumstances(const Finding& finding) {
  std::vector<std::string> parts;
  if (!finding.kernel.empty()) parts.push_back("kernel " + short_function(finding.kernel));
  if (finding.launch != 0) parts.push_back(fmt::format("launch {}", finding.launch));
  if (finding.count > 1) parts.push_back(fmt::format("seen {} times", finding.count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Waits and barriers of a kernel that was made of operations are its compiler's.
std::string_view whose_fix(const Finding& finding) {
  const bool is_compilers = finding.fix == Fix::wait_barrier || finding.fix == Fix::tied_wait;
  return is_compilers && !finding.computes.empty() ? "fix, in the compiler" : "fix";
}

/// Advice is a list: tool, what, where.
std::string advice_line(const Finding& finding, const TextOptions& options) {
  const std::string message = in_words(finding.message);
  std::string line = fmt::format("{}{}: {}", kPrefix, tool_name(finding.tool()), message);
  if (!finding.accesses.empty()) {
    const Access& access = finding.accesses.front();
    const bool named = message.find(access.instruction) != std::string::npos;
    if (!named) line += ": " + access.instruction;
    if (const std::string place = first_place(access, options); !place.empty()) {
      line += "   " + painted(place, kBold, options);
    }
  }
  return line + "\n";
}

}  // namespace

std::string text_of(const Finding& finding, const TextOptions& options) {
  if (finding.severity == Severity::advice) return advice_line(finding, options);
  const std::string_view note = finding.severity == Severity::note ? " (note)" : "";
  std::string text = fmt::format("{}{}: {}\n", kPrefix,
                                 painted(fmt::format("{}{}", tool_name(finding.tool()), note),
                                         colour_of(finding.severity), options),
                                 painted(in_words(finding.message), kBold, options));
  text += accesses_text(finding.accesses, options);
  for (const Statement& line : finding.detail)
    text += fmt::format("{}  {}\n", kPrefix, in_words(line));
  if (const std::string fix = fix_in_words(finding); !fix.empty())
    text += fmt::format("{}  {}: {}\n", kPrefix, whose_fix(finding), fix);
  text += others_text(finding, options);
  if (const std::string line = circumstances(finding); !line.empty()) {
    text += fmt::format("{}  {}\n", kPrefix, painted(line, kFaint, options));
  }
  if (!finding.computes.empty())
    text += fmt::format("{}  computes {}\n", kPrefix,
                        report::operations_text(finding.computes, options));
  return text;
}

std::string text_of(const Finding& finding) { return text_of(finding, stderr_text_options()); }

std::string FindingPrinter::findings(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::advice) continue;
    if (shown_ < max_) {
      if (finding.fix == Fix::wait_states && !std::exchange(wait_states_headed_, true))
        text += fmt::format("{}{}\n", kPrefix, painted("wait states", kBold, options_));
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
  // Instructions of one source line often give the same text.
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

}  // namespace margay::check
