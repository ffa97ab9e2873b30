#include "observe/check/facts.h"

#include <string_view>

#include "exec/row_table.h"

namespace margay::check {
namespace {

Counters counters_of(const Instruction& i, const MemoryForm& form) {
  using Path = MemoryForm::Path;
  const std::string_view name = i.row->mnemonic;
  switch (form.path) {
    case Path::none:
      // Lane exchanges use the LDS crossbar; clocks come back like scalar loads.
      if (i.row->instruction_class == InstructionClass::lds) return {.lgkm = true};
      if (name == "s_memtime" || name == "s_memrealtime") return {.lgkm = true, .in_order = false};
      return {};
    case Path::ds:
    case Path::ds_two:
      return {.lgkm = true};
    case Path::scalar:
      return {.lgkm = true, .in_order = false};
    case Path::flat:
      // Either path may serve it, so that only a wait for zero proves anything.
      return {.vm = true, .lgkm = true, .in_order = false};
    case Path::global:
    case Path::scratch:
    case Path::buffer:
      return {.vm = true};
  }
  return {};
}

Action action_of(const Instruction& i, const MemoryForm& form, const Counters& counters) {
  const std::string_view name = i.row->mnemonic;
  if (form.path != MemoryForm::Path::none || counters.vm || counters.lgkm) return Action::memory;
  if (name == "s_waitcnt") return Action::wait;
  if (name == "s_barrier") return Action::barrier;
  if (name.starts_with("s_endpgm")) return Action::end;
  if (i.row->instruction_class == InstructionClass::mfma) return Action::matrix;
  return Action::none;
}

}  // namespace

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
  facts->form = memory_form(i);
  facts->counters = counters_of(i, facts->form);
  facts->action = action_of(i, facts->form, facts->counters);
  facts->releases = i.row->mnemonic == "buffer_wbl2";
  facts->acquires = i.row->mnemonic == "buffer_inv";
  if (facts->action == Action::wait) facts->wait = wait_counts(i.extra);
  if (facts->action == Action::wait || facts->action == Action::barrier) {
    facts->site = static_cast<std::uint32_t>(sites_.size());
    sites_.push_back(facts.get());
  }
  return facts;
}

}  // namespace margay::check
