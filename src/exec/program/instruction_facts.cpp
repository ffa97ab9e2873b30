#include "exec/program/instruction_facts.h"

#include "exec/rows/row_table.h"

namespace margay {
namespace {

CountedBy counted_by(const Row& row, const MemoryForm& form) {
  using Path = MemoryForm::Path;
  switch (form.path) {
    case Path::none:
      // Lane exchanges use the LDS crossbar; clocks return like scalar loads.
      if (row.instruction_class == InstructionClass::lds) return {.lgkm = true};
      if (row.instruction_class == InstructionClass::smem && reads(row.hardware))
        return {.lgkm = true, .in_order = false};
      return {};
    case Path::ds:
    case Path::ds_two:
      return {.lgkm = true};
    case Path::scalar:
      return {.lgkm = true, .in_order = false};
    case Path::flat:
      // Either path may serve it, so that only a wait for zero proves completion: lgkmcnt(0) for
      // LDS, vmcnt(0) for memory, both for its registers.
      return {.vm = true, .lgkm = true, .in_order = false};
    case Path::global:
    case Path::scratch:
    case Path::buffer:
      return {.vm = true};
  }
  return {};
}

}  // namespace

InstructionFacts::InstructionFacts(const Instruction& i, std::uint32_t its_number)
    : instruction(&i),
      number(its_number),
      vaddr(i.vaddr),
      form(memory_form(i)),
      counted(counted_by(*i.row, form)),
      wait(i.row->pause == Pause::counters ? wait_counts(i.extra) : WaitCounts{}),
      use(register_use(i)) {}

}  // namespace margay
