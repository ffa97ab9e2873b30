#include "observe/check/instructions/facts.h"

#include <bit>

#include "exec/program/bind.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "observe/check/instructions/polls.h"

namespace margay::check {
namespace {

Action action_of(const Instruction& i, const InstructionFacts& facts) {
  if (facts.writes_back || facts.invalidates) return Action::fence;
  if (i.row->flow == Flow::grid_barrier) return Action::grid_barrier;
  if (facts.form.path != MemoryForm::Path::none || facts.counted.vm || facts.counted.lgkm)
    return Action::memory;
  if (i.row->pause == Pause::counters) return Action::wait;
  if (i.row->flow == Flow::barrier) return Action::barrier;
  if (i.row->flow == Flow::end) return Action::end;
  if (i.row->instruction_class == InstructionClass::mfma) return Action::matrix;
  return Action::none;
}

/// Source: LLVM, AMDGPU backend, memory model GFX942: sc0 is workgroup scope, sc1 agent, both
/// system; sc0 of an atomic returns the old value, and all atomics are performed in L2.
void find_sync(const Instruction& i, InstructionFacts& facts) {
  const bool sc1 = (i.extra & extra::kSc1) != 0;
  facts.writes_back = i.row->cache == CacheAction::write_back && sc1;
  facts.invalidates = i.row->cache == CacheAction::invalidate && sc1;
  const MemoryForm& form = facts.form;
  using Path = MemoryForm::Path;
  if (form.path == Path::none || form.path == Path::scratch || form.to_lds) return;
  const bool in_lds = form.path == Path::ds || form.path == Path::ds_two;
  // A flat access may be to LDS. With both bits it is a volatile access, which is to data unless a
  // wave polls it.
  facts.lds_atomic =
      form.is_atomic || (form.path == Path::flat && (i.extra & extra::kSc0) != 0 && !sc1);
  if (form.is_atomic) {
    facts.scoped = facts.agent_scope = !in_lds;
    facts.releases_word = true;
    facts.compares = i.row->memory.compares_bits;
    facts.swaps = i.row->memory.swaps;
    const auto& scalars = facts.use.scalar_writes;
    facts.acquires_word = facts.use.destination.count != 0 ||
                          (form.path == Path::scalar && (scalars[0] | scalars[1]) != 0);
    return;
  }
  if (form.is_read) facts.polls = is_poll(i);
  if (form.path == Path::scalar) {
    // With GLC it is one of L2, as an atomic is: what reads and writes flags has no other way.
    facts.scoped = facts.agent_scope = (i.extra & extra::kSc0) != 0;
  } else if (!in_lds) {
    facts.agent_scope = sc1;
    facts.scoped = sc1 || (i.extra & extra::kSc0) != 0;
  }
  facts.releases_word = facts.scoped && form.is_write;
  facts.acquires_word = form.is_read && (facts.scoped || facts.polls);
}

}  // namespace

bool StageMemo::moves(unsigned wave, std::uint32_t phase, const LaneAccess& access) {
  if (moves_ || access.active == 0 || (phase_ != 0 && wave != wave_) || phase == phase_)
    return false;
  const std::uint64_t first = access.at[std::countr_zero(access.active)];
  const std::uint64_t last = access.at[63 - std::countl_zero(access.active)];
  // Phases start again in the next workgroup.
  moves_ = phase_ != 0 && phase > phase_ && access.active == active_ && first != first_ &&
           first - first_ == last - last_;
  phase_ = phase;
  active_ = access.active;
  first_ = first;
  last_ = last;
  wave_ = static_cast<std::uint8_t>(wave);
  return moves_;
}

InstructionFacts::InstructionFacts(const Instruction& i, std::uint32_t its_number)
    : margay::InstructionFacts(i, its_number), hazard(hazard_facts(i, use)) {
  for (std::size_t n = 0; n < touched.size(); ++n) touched[n] = use.reads[n] | use.writes[n];
  for (std::size_t n = 0; n < 2; ++n)
    scalar_touched[n] = use.scalar_reads[n] | use.scalar_writes[n];
  const auto kind = i.row->instruction_class;
  if (kind == InstructionClass::valu || kind == InstructionClass::salu ||
      kind == InstructionClass::branch)
    result = result_rule(i);
  moves_registers =
      i.modifiers.form == OperandForm::indexed || i.row->relative != RelativeScalar::none;
  find_sync(i, *this);
  action = action_of(i, *this);
}

}  // namespace margay::check
