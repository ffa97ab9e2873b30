#include "ranks/talk.h"

#include "exec/program/lane_access.h"
#include "exec/program/program.h"
#include "exec/rows/row.h"
#include "exec/state/extra.h"

namespace margay::ranks {
namespace {

/// What an instruction has to do with other workgroups.
///
/// Loads that must see what another workgroup stores have sc1 on gfx942 (LLVM, "User Guide for
/// AMDGPU Backend", Memory Model gfx942: load atomic, agent and system scope); any other may be
/// answered by the compute unit's own cache, so that no program can wait with it.
CodeTalk talk_of(const Instruction& i) {
  const MemoryForm form = memory_form(i);
  const bool is_global = form.path == MemoryPath::global || form.path == MemoryPath::flat ||
                         form.path == MemoryPath::buffer || form.path == MemoryPath::scalar;
  if (is_global && form.is_atomic) {
    const bool returns = (i.extra & extra::kSc0) != 0;
    if (returns || i.row->memory.combine == Combine::none)
      return {.why_alone = "atomics", .combines = false};
    return {.why_alone = {}, .combines = true};
  }
  if (is_global && form.is_read && form.agent_scope)
    return {.why_alone = "coherent-reads", .combines = false};
  return {};
}

}  // namespace

std::string why_this_launch_is_alone(const SpreadableLaunch& launch) {
  if (launch.observed && launch.parts == nullptr) return "watched";
  if (launch.request.cooperative) return "cooperative";
  if (launch.calls_host) return "calls-host";
  if (launch.request.grid.count() < 2) return "one-workgroup";
  return {};
}

CodeTalk talk_of(Program& program) {
  CodeTalk all;
  program.for_each_reachable([&](const Instruction& i) {
    CodeTalk one = talk_of(i);
    if (all.why_alone.empty()) all.why_alone = std::move(one.why_alone);
    all.combines |= one.combines;
  });
  return all;
}

}  // namespace margay::ranks
