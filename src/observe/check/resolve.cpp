#include "observe/check/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "observe/call_chain.h"

namespace margay::check {
namespace {

/// What two findings of the same source lines share; empty when a line is not known.
std::string signature(const Finding& finding) {
  std::string text = fmt::format("{}|{}|{}|{}", tool_name(finding.tool), finding.kind,
                                 severity_name(finding.severity), finding.kernel);
  for (const Access& access : finding.accesses) {
    if (access.vaddr == kNoVaddr) continue;
    if (access.frames.empty() || access.frames.front().line == 0) return {};
    text += '|' + access.role;
    for (const SourceFrame& frame : access.frames)
      text += fmt::format(";{}:{}", frame.file, frame.line);
  }
  return text;
}

/// A race that a barrier would end: the first place where one would is after the earlier access.
void name_place_of_barrier(Finding& finding) {
  if (finding.tool != Tool::racecheck || !finding.hint.starts_with("put ") ||
      finding.accesses.size() < 2 || finding.accesses[1].frames.empty())
    return;
  const SourceFrame& earlier = finding.accesses[1].frames.front();
  if (earlier.line != 0)
    finding.hint +=
        fmt::format("; nearest place for one: after {}:{}",
                    std::filesystem::path(earlier.file).filename().string(), earlier.line);
}

}  // namespace

void resolve(std::vector<Finding>& findings, const Program& program) {
  for (Finding& finding : findings)
    for (Access& access : finding.accesses) {
      if (access.vaddr == kNoVaddr) continue;
      access.pc = program.base_address() + access.vaddr;
      access.instruction = program.instruction_text(access.vaddr);
      const auto [function, start] = program.function_of(access.vaddr);
      access.function = function;
      access.function_offset = access.vaddr - start;
      CallChain chain = user_first(program.object().source_at(access.vaddr));
      access.frames = std::move(chain.frames);
      access.called = chain.called;
    }
  for (Finding& finding : findings) name_place_of_barrier(finding);
}

void merge_lines(std::vector<Finding>& findings) {
  struct Known {
    std::size_t index;
    std::size_t instructions;
  };
  std::map<std::string, Known> known;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const std::string key = signature(finding);
    if (!key.empty()) {
      const auto [at, fresh] = known.try_emplace(key, Known{kept.size(), 1});
      if (!fresh) {
        kept[at->second.index].count += finding.count;
        ++at->second.instructions;
        continue;
      }
    }
    kept.push_back(std::move(finding));
  }
  for (const auto& [key, entry] : known)
    if (entry.instructions > 1)
      kept[entry.index].detail.push_back(
          fmt::format("the same at {} pairs of instructions of these lines", entry.instructions));
  findings = std::move(kept);
}

}  // namespace margay::check
