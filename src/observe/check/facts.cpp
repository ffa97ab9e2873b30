#include "observe/check/facts.h"

#include <bit>
#include <cstdlib>
#include <new>

#include "exec/bind.h"
#include "exec/row_table.h"
#include "observe/check/polls.h"

namespace margay::check {
namespace {

Counters counters_of(const Instruction& i, const MemoryForm& form) {
  using Path = MemoryForm::Path;
  switch (form.path) {
    case Path::none:
      // Lane exchanges use the LDS crossbar; clocks come back like scalar loads.
      if (i.row->instruction_class == InstructionClass::lds) return {.lgkm = true};
      if (i.row->instruction_class == InstructionClass::smem && reads(i.row->hardware))
        return {.lgkm = true, .in_order = false};
      return {};
    case Path::ds:
    case Path::ds_two:
      return {.lgkm = true};
    case Path::scalar:
      return {.lgkm = true, .in_order = false};
    case Path::flat:
      // Either path may serve it, so that only a wait for zero proves anything: lgkmcnt(0) of what
      // it does in LDS, vmcnt(0) of what it does in memory, both of its registers.
      return {.vm = true, .lgkm = true, .in_order = false};
    case Path::global:
    case Path::scratch:
    case Path::buffer:
      return {.vm = true};
  }
  return {};
}

Action action_of(const Instruction& i, const MemoryForm& form, const Counters& counters) {
  if (form.path != MemoryForm::Path::none || counters.vm || counters.lgkm) return Action::memory;
  if (i.row->is_wait) return Action::wait;
  if (i.row->flow == Flow::barrier) return Action::barrier;
  if (i.row->flow == Flow::end) return Action::end;
  if (i.row->instruction_class == InstructionClass::mfma) return Action::matrix;
  return Action::none;
}

/// Source: LLVM, AMDGPU backend, memory model GFX942: sc0 is workgroup scope, sc1 agent, both
/// system; of an atomic sc0 returns the old value, and all of them are made in L2.
void find_sync(const Instruction& i, InstructionFacts& facts) {
  const bool sc1 = (i.extra & extra::kSc1) != 0;
  facts.writes_back = i.row->cache == CacheAction::write_back && sc1;
  facts.invalidates = i.row->cache == CacheAction::invalidate && sc1;
  const MemoryForm& form = facts.form;
  using Path = MemoryForm::Path;
  if (form.path == Path::none || form.path == Path::scratch || form.to_lds) return;
  const bool in_lds = form.path == Path::ds || form.path == Path::ds_two;
  // A flat access may turn out to be one of LDS. With both bits it is a volatile one, which is data
  // unless somebody polls it.
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
  if (!in_lds && form.path != Path::scalar) {
    facts.agent_scope = sc1;
    facts.scoped = sc1 || (i.extra & extra::kSc0) != 0;
  }
  facts.releases_word = facts.scoped && form.is_write;
  facts.acquires_word = form.is_read && (facts.scoped || facts.polls);
}

}  // namespace

FactsTable::FactsTable(std::uint64_t begin, std::uint64_t end)
    : begin_(begin),
      facts_(static_cast<InstructionFacts**>(std::calloc((end - begin) / 4 + 1, sizeof(void*)))) {
  if (facts_ == nullptr) throw std::bad_alloc();
}

void FactsTable::Free::operator()(InstructionFacts** table) const { std::free(table); }

bool StageMemo::moves(unsigned wave, std::uint32_t phase, const LaneAccess& access) {
  if (moves_ || access.active == 0 || (phase_ != 0 && wave != wave_) || phase == phase_)
    return false;
  const std::uint64_t first = access.at[std::countr_zero(access.active)];
  const std::uint64_t last = access.at[63 - std::countl_zero(access.active)];
  // In the next workgroup phases begin anew.
  moves_ = phase_ != 0 && phase > phase_ && access.active == active_ && first != first_ &&
           first - first_ == last - last_;
  phase_ = phase;
  active_ = access.active;
  first_ = first;
  last_ = last;
  wave_ = static_cast<std::uint8_t>(wave);
  return moves_;
}

std::unique_ptr<InstructionFacts> FactsTable::make(const Instruction& i) {
  auto facts = std::make_unique<InstructionFacts>();
  facts->instruction = &i;
  facts->vaddr = i.vaddr;
  facts->use = register_use(i);
  facts->hazard = hazard_facts(i, facts->use);
  for (std::size_t n = 0; n < facts->touched.size(); ++n)
    facts->touched[n] = facts->use.reads[n] | facts->use.writes[n];
  for (std::size_t n = 0; n < 2; ++n)
    facts->scalar_touched[n] = facts->use.scalar_reads[n] | facts->use.scalar_writes[n];
  const auto kind = i.row->instruction_class;
  if (kind == InstructionClass::valu || kind == InstructionClass::salu ||
      kind == InstructionClass::branch)
    facts->result = result_rule(i);
  facts->moves_registers =
      i.modifiers.form == OperandForm::indexed || i.row->relative != RelativeScalar::none;
  facts->form = memory_form(i);
  facts->counters = counters_of(i, facts->form);
  facts->action = action_of(i, facts->form, facts->counters);
  find_sync(i, *facts);
  if (facts->action == Action::wait) facts->wait = wait_counts(i.extra);
  if (facts->writes_back || facts->invalidates) facts->action = Action::fence;
  if (facts->action == Action::wait || facts->action == Action::barrier ||
      facts->action == Action::fence) {
    facts->site = static_cast<std::uint32_t>(sites_.size());
    sites_.push_back(facts.get());
  }
  return facts;
}

}  // namespace margay::check
