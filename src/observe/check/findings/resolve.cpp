#include "observe/check/findings/resolve.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "code_object/call_chain.h"

namespace margay::check {
namespace {

/// How far back to search for a line when the compiler attributes an instruction to none.
constexpr std::uint64_t kNearbyBytes = 256;

/// The nearest instruction with a line: one that was merged or moved has none.
std::vector<SourceFrame> frames_with_lines(const Program& program, std::uint64_t vaddr) {
  std::vector<SourceFrame> frames = program.object().source_at(vaddr);
  std::erase_if(frames, [](const SourceFrame& frame) { return frame.line == 0; });
  return frames;
}

void find_lines(Access& access, const Program& program, std::uint64_t function_start) {
  std::vector<SourceFrame> frames = frames_with_lines(program, access.vaddr);
  for (std::uint64_t back = 4; frames.empty() && back <= kNearbyBytes &&
                               access.vaddr - back >= function_start && access.vaddr >= back;
       back += 4) {
    frames = frames_with_lines(program, access.vaddr - back);
    access.nearby = !frames.empty();
  }
  CallChain chain = user_first(std::move(frames));
  access.frames = std::move(chain.frames);
  access.called = chain.called;
}

}  // namespace

void resolve(std::vector<Finding>& findings, const Program& program) {
  for (Finding& finding : findings) {
    finding.computes = program.computes();
    for (Access& access : finding.accesses) {
      if (access.vaddr == kNoVaddr) continue;
      access.pc = program.base_address() + access.vaddr;
      access.instruction = program.instruction_text(access.vaddr);
      const auto [function, start] = program.function_of(access.vaddr);
      access.function = function;
      access.function_offset = access.vaddr - start;
      find_lines(access, program, start);
    }
    const bool has_lines = std::ranges::any_of(
        finding.accesses, [](const Access& access) { return !access.frames.empty(); });
    if (finding.fix == Fix::tied_wait && !has_lines) finding.fix = Fix::wait;
  }
}

}  // namespace margay::check
