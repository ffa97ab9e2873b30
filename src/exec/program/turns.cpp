#include "exec/program/turns.h"

#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay {
namespace {

/// The first time a wave reaches the store it yields, the second time it continues.
const Instruction* run_after_others(Wave& wave, const Instruction& i) {
  if (wave.group->gives_way && wave.gave_way_at != &i) {
    wave.gave_way_at = &i;
    wave.next = &i;
    --wave.instructions;  // the run loop counts one
    return nullptr;
  }
  wave.gave_way_at = nullptr;
  return i.row->plain(wave, i);
}

/// The effect of an instruction on LDS, as far as the order of waves is concerned. Atomics are
/// correct with waves in any order; flat accesses may be to LDS, but rarely are.
enum class LdsUse : std::uint8_t { none, read, store, barrier };

LdsUse lds_use(const Instruction& i) {
  if (i.row == nullptr) return LdsUse::none;
  const Row& row = *i.row;
  if (row.instruction_class == InstructionClass::lds) {
    if (row.is_load) return LdsUse::read;
    return row.is_store && !row.returns_value ? LdsUse::store : LdsUse::none;
  }
  if (row.instruction_class == InstructionClass::vmem && row.is_load) {
    const bool buffer = row.memory.path == MemoryPath::buffer && (i.extra & extra::kToLds) != 0;
    return buffer || row.memory.to_lds ? LdsUse::store : LdsUse::none;
  }
  return row.flow == Flow::barrier ? LdsUse::barrier : LdsUse::none;
}

bool goes_on(const Instruction& i) {
  if (i.row == nullptr) return false;
  const Flow flow = i.row->flow;
  return flow != Flow::branch && flow != Flow::jump && flow != Flow::end;
}

}  // namespace

// A forward data flow over the function, to its fixed point: whether LDS may have been read since
// the last barrier, or since the wave last yielded.
void end_turns_before_rewrites(std::vector<Instruction>& instructions, bool is_entry) {
  const std::size_t count = instructions.size();
  std::vector<LdsUse> uses(count);
  bool any_store = false;
  for (std::size_t n = 0; n < count; ++n) {
    uses[n] = lds_use(instructions[n]);
    any_store = any_store || uses[n] == LdsUse::store;
  }
  if (!any_store) return;
  std::vector<bool> read_before(count, false);
  read_before[0] = !is_entry;
  for (bool changed = true; changed;) {
    changed = false;
    const auto flow_to = [&](std::size_t n) {
      if (n >= count || read_before[n]) return;
      read_before[n] = changed = true;
    };
    for (std::size_t n = 0; n < count; ++n) {
      const Instruction& i = instructions[n];
      bool after = uses[n] == LdsUse::read || (uses[n] == LdsUse::none && read_before[n]);
      // Functions that are called may read anything.
      if (i.row != nullptr && i.row->flow == Flow::call) after = true;
      if (!after) continue;
      if (goes_on(i)) flow_to(n + 1);
      if (i.row != nullptr && is_relative_branch(*i.row))
        flow_to(static_cast<std::size_t>(static_cast<std::int64_t>(n) + i.offset));
    }
  }
  for (std::size_t n = 0; n < count; ++n) {
    Instruction& i = instructions[n];
    if (uses[n] == LdsUse::store && read_before[n] && i.execute == i.row->plain)
      i.execute = run_after_others;
  }
}

bool ends_turn(const Instruction& i) { return i.execute == run_after_others; }

}  // namespace margay
