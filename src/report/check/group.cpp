#include "report/check/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace margay::check {
namespace {

bool has_line(const Access& access) {
  return !access.frames.empty() && access.frames.front().line != 0;
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
    text += fmt::format("|{}", role_name(access.role));
    for (const SourceFrame& frame : access.frames)
      text += fmt::format(";{}:{}", frame.file, frame.line);
  }
  return text.empty() ? text : std::string(kind_name(finding.kind)) + text;
}

/// The access of a race that changes memory, with its line; null when there is none.
const Access* write_of(const Finding& finding) {
  const auto at = std::ranges::find_if(
      finding.accesses, [](const Access& access) { return access.role != Role::read; });
  return at != finding.accesses.end() && has_line(*at) ? &*at : nullptr;
}

/// If the value a line writes must be handed over to readers, two writers of it are the same fault.
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

/// The common cause by which two findings of a tool and kernel are merged; empty: none.
std::string cause_of(const Finding& finding) {
  switch (finding.fix) {
    case Fix::barrier:
    case Fix::branch_barrier:
      if (const FixPlace& at = finding.fix_place; at.line != 0)
        return fmt::format("barrier|{}:{}:{}", at.file, at.line, at.column);
      return all_lines(finding);
    case Fix::wait_barrier:
      if (finding.accesses.size() < 2 || !has_line(finding.accesses[1])) {
        // A compiler of graphs left out the wait everywhere in the kernel, or nowhere.
        return finding.computes.empty() ? all_lines(finding) : "wait before barrier";
      }
      return "wait before barrier|" + line_of(finding.accesses[1]);
    case Fix::own_part:
      return "own part";
    case Fix::tied_wait:
    case Fix::wait:
      if (finding.accesses.size() < 2 || !has_line(finding.accesses[1])) return all_lines(finding);
      return "load|" + line_of(finding.accesses[1]);
    case Fix::hand_over:
      if (const Access* const write = write_of(finding)) return "hand over|" + line_of(*write);
      return all_lines(finding);
    case Fix::stage:
      return "stage";
    default:
      break;
  }
  // Values never written, by the reader.
  if (finding.tool() == Tool::initcheck && !finding.accesses.empty() &&
      has_line(finding.accesses.front()))
    return fmt::format("{}|{}", kind_name(finding.kind), line_of(finding.accesses.front()));
  return all_lines(finding);
}

}  // namespace

void group_by_cause(std::vector<Finding>& findings) {
  join_writers(findings);
  std::map<std::string, std::size_t> known;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    if (finding.cause.empty()) finding.cause = cause_of(finding);
    if (!finding.cause.empty()) {
      const std::string key =
          fmt::format("{}|{}|{}|{}", tool_name(finding.tool()), severity_name(finding.severity),
                      finding.kernel, finding.cause);
      const auto [at, fresh] = known.try_emplace(key, kept.size());
      if (!fresh) {
        Finding& first = kept[at->second];
        first.count += finding.count;
        first.others.push_back(
            {finding.kind, std::move(finding.message), std::move(finding.accesses), finding.count});
        continue;
      }
    }
    kept.push_back(std::move(finding));
  }
  findings = std::move(kept);
}

}  // namespace margay::check
