#include "report/check/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace margay::check {
namespace {

bool has_line(const Access& access) {
  return !access.frames.empty() && access.frames.front().line != 0;
}

std::string file_and_line(const std::string& file, std::uint32_t line) {
  return fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line);
}

std::string line_of(const Access& access) {
  if (!has_line(access)) return {};
  return fmt::format("{}:{}", access.frames.front().file, access.frames.front().line);
}

/// All source lines of all instructions; empty when one is not known.
std::string all_lines(const Finding& finding) {
  std::string text;
  for (const Access& access : finding.accesses) {
    if (access.vaddr == kNoVaddr) continue;
    if (!has_line(access)) return {};
    text += '|' + access.role;
    for (const SourceFrame& frame : access.frames)
      text += fmt::format(";{}:{}", frame.file, frame.line);
  }
  return text.empty() ? text : finding.kind + text;
}

/// The access of a race that changes memory, with its line; null when there is none.
const Access* write_of(const Finding& finding) {
  const auto at = std::ranges::find_if(finding.accesses,
                                       [](const Access& access) { return access.role != "read"; });
  return at != finding.accesses.end() && has_line(*at) ? &*at : nullptr;
}

/// Where what a line writes has to be handed over to readers, that two write it is the same fault.
void join_writers(std::vector<Finding>& findings) {
  std::set<std::string> handed_over;
  for (const Finding& finding : findings)
    if (finding.fix == Fix::hand_over)
      if (const Access* const write = write_of(finding))
        handed_over.insert(finding.kernel + line_of(*write));
  for (Finding& finding : findings)
    if (finding.fix == Fix::own_part &&
        std::ranges::all_of(finding.accesses, [&](const Access& access) {
          return has_line(access) && handed_over.contains(finding.kernel + line_of(access));
        }))
      finding.fix = Fix::hand_over;
}

/// What makes two findings of a tool and kernel one; empty: nothing does.
std::string cause_of(const Finding& finding) {
  switch (finding.fix) {
    case Fix::barrier:
      if (const FixPlace& at = finding.fix_place; at.line != 0)
        return fmt::format("barrier|{}:{}:{}", at.file, at.line, at.column);
      return all_lines(finding);
    case Fix::wait_barrier:
      if (finding.accesses.size() < 2 || !has_line(finding.accesses[1])) return all_lines(finding);
      return "wait before barrier|" + line_of(finding.accesses[1]);
    case Fix::own_part:
      return "own part";
    case Fix::tied_wait:
      if (finding.accesses.size() < 2 || !has_line(finding.accesses[1])) return all_lines(finding);
      return "load|" + line_of(finding.accesses[1]);
    case Fix::hand_over:
      if (const Access* const write = write_of(finding)) return "hand over|" + line_of(*write);
      return all_lines(finding);
    case Fix::stage:
      return "stage";
    case Fix::in_words:
    case Fix::one_writer:
    case Fix::wait_states:
    case Fix::outside_branch:
      break;
  }
  // What was never written, by who reads it.
  if (finding.tool == Tool::initcheck && !finding.accesses.empty() &&
      has_line(finding.accesses.front()))
    return finding.kind + '|' + line_of(finding.accesses.front());
  return all_lines(finding);
}

/// Which of the two is meant is not known: whoever fills what the next turn reads has one index
/// wrong, whoever fills what this turn reads lacks a barrier.
std::string stage_fix(const Finding& finding) {
  std::string lines;
  for (const Access& access : finding.accesses)
    if (has_line(access))
      lines += (lines.empty() ? " in " : " and ") +
               file_and_line(access.frames.front().file, access.frames.front().line);
  return fmt::format(
      "check the stage index{}: both move on after each barrier, and in one turn of the loop they "
      "are at the same stage. If a turn is to fill the stage that a later one reads, one of them "
      "is off; only if it reads what it fills itself, __syncthreads() is missing between",
      lines);
}

}  // namespace

std::string fix_in_words(const Finding& finding) {
  if (!finding.hint.empty()) return finding.hint;
  const FixPlace& at = finding.fix_place;
  switch (finding.fix) {
    case Fix::barrier:
      if (at.end_of_loop != 0)
        return fmt::format(
            "put __syncthreads() at the end of the loop of {}, before its closing "
            "brace in line {}",
            file_and_line(at.file, at.end_of_loop), at.line);
      if (at.line != 0)
        return fmt::format("put __syncthreads() in front of {}", file_and_line(at.file, at.line));
      if (finding.accesses.size() > 1 && has_line(finding.accesses[0]) &&
          has_line(finding.accesses[1]) &&
          line_of(finding.accesses[0]) != line_of(finding.accesses[1])) {
        const SourceFrame &later = finding.accesses[0].frames.front(),
                          &earlier = finding.accesses[1].frames.front();
        return fmt::format("put __syncthreads() between {} and {}",
                           file_and_line(earlier.file, earlier.line),
                           file_and_line(later.file, later.line));
      }
      return "put a barrier (__syncthreads) between the two";
    case Fix::wait_barrier:
      return "wait for it (s_waitcnt) before the barrier";
    case Fix::own_part:
      return "each workgroup must own its part of the output: check the grid, and the index that "
             "is "
             "made of blockIdx";
    case Fix::one_writer:
      return "let one of them write it";
    case Fix::tied_wait:
      return "make the wait name the load's registers as \"+v\" operands, so that the compiler "
             "cannot "
             "move their uses before it";
    case Fix::wait_states:
      return "put independent instructions or s_nop between the two; the compiler does so only for "
             "instructions it knows, not inside inline assembly";
    case Fix::outside_branch:
      return "move the barrier out of the branch, so that all take it";
    case Fix::hand_over:
      return "hand it over: after the earlier access a release (__threadfence) and an atomic, "
             "before "
             "the later one that atomic and an acquire (__threadfence); no barrier is on the way "
             "of "
             "both";
    case Fix::stage:
      return stage_fix(finding);
    case Fix::in_words:
      break;
  }
  return {};
}

void group_by_cause(std::vector<Finding>& findings) {
  join_writers(findings);
  std::map<std::string, std::size_t> known;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    if (finding.cause.empty()) finding.cause = cause_of(finding);
    if (!finding.cause.empty()) {
      const std::string key =
          fmt::format("{}|{}|{}|{}", tool_name(finding.tool), severity_name(finding.severity),
                      finding.kernel, finding.cause);
      const auto [at, fresh] = known.try_emplace(key, kept.size());
      if (!fresh) {
        Finding& first = kept[at->second];
        first.count += finding.count;
        first.others.push_back({std::move(finding.kind), std::move(finding.message),
                                std::move(finding.accesses), finding.count});
        continue;
      }
    }
    kept.push_back(std::move(finding));
  }
  for (Finding& finding : kept) finding.hint = fix_in_words(finding);
  findings = std::move(kept);
}

}  // namespace margay::check
