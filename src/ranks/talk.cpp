#include "ranks/talk.h"

#include "exec/program/lane_access.h"
#include "exec/program/program.h"
#include "exec/rows/row.h"

namespace margay::ranks {
namespace {

/// What an instruction has to do with other workgroups; empty: nothing.
///
/// Loads that must see what another workgroup stores have sc1 on gfx942 (LLVM, "User Guide for
/// AMDGPU Backend", Memory Model gfx942: load atomic, agent and system scope); any other may be
/// answered by the compute unit's own cache, so that no program can wait with it.
std::string talks(const Instruction& i) {
  const MemoryForm form = memory_form(i);
  const bool is_global = form.path == MemoryPath::global || form.path == MemoryPath::flat ||
                         form.path == MemoryPath::buffer || form.path == MemoryPath::scalar;
  if (is_global && form.is_atomic) return "atomics";
  if (is_global && form.is_read && form.agent_scope) return "coherent-reads";
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

std::string why_code_is_alone(Program& program) {
  std::string why;
  program.for_each_reachable([&](const Instruction& i) {
    if (why.empty()) why = talks(i);
  });
  return why;
}

}  // namespace margay::ranks
