#include "observe/profile/time/timed_instruction.h"

#include <algorithm>

#include "exec/rows/row_table.h"
#include "gpu/matrix_shapes.h"

namespace margay::profile {
namespace {

using timing::Unit;

/// Between f32 and integers of 32 bits.
bool converts_integer(const Row& row) {
  if (row.operation != Operation::convert || row.source_count != 1) return false;
  const FloatKind from = row.float_use.sources[0], to = row.float_use.result;
  if (from == FloatKind::f32) return to == FloatKind::none;
  return from == FloatKind::none && to == FloatKind::f32 && row.definedness.looked_at[0] == ~0u;
}

Unit valu_unit(const Row& row) {
  if (converts_integer(row)) return Unit::conversion;
  if (row.operation == Operation::transcendental) return Unit::transcendental;
  const bool on_words = row.packed == PackedForm::words || row.packed == PackedForm::moves;
  return on_words || row.operation == Operation::dot ? Unit::packed : Unit::valu;
}

/// LLVM pull request 233721 (thread traces of MI308X): those that are not XDL.
bool holds_vector(const Row& row) {
  return row.shape != nullptr && (row.shape->a == MfmaType::f32 || row.shape->a == MfmaType::f64);
}

/// Of what neither computes nor reaches memory.
Unit other_unit(const Row& row) {
  switch (row.pause) {
    case Pause::counters:
      return Unit::wait;
    case Pause::turns:
      return Unit::idle;
    case Pause::sleep:
      return Unit::sleep;
    case Pause::priority:
      return Unit::priority;
    case Pause::none:
      break;
  }
  if (row.flow == Flow::barrier) return Unit::barrier;
  if (row.flow == Flow::end) return Unit::end;
  return row.is_message ? Unit::message : Unit::salu;
}

Unit unit_of(const Row& row) {
  switch (row.instruction_class) {
    case InstructionClass::valu:
      return valu_unit(row);
    case InstructionClass::mfma:
      return Unit::matrix;
    case InstructionClass::salu:
      return Unit::salu;
    case InstructionClass::smem:
      return Unit::scalar_memory;
    case InstructionClass::lds:
      return Unit::lds;
    case InstructionClass::vmem:
      return Unit::vector_memory;
    case InstructionClass::branch:
      return Unit::branch;
    case InstructionClass::other:
      return other_unit(row);
  }
  return Unit::salu;
}

std::uint16_t turns_of(const Row& row, std::uint32_t immediate) {
  switch (row.pause) {
    case Pause::turns:  // MI300 ISA guide, s_nop: 1 to 16
      return static_cast<std::uint16_t>((immediate & 15) + 1);
    case Pause::sleep:  // 64 cycles times the lower 7 bits
      return static_cast<std::uint16_t>((immediate & 127) * 16 + 1);
    case Pause::priority:
      return static_cast<std::uint16_t>(immediate & 3);
    default:
      return row.passes;
  }
}

/// DS with two accesses moves twice as much.
std::uint8_t lane_bytes(const margay::InstructionFacts& facts) {
  const unsigned accesses = facts.form.path == MemoryPath::ds_two ? 2 : 1;
  return static_cast<std::uint8_t>(std::min(facts.form.bytes * accesses, 255u));
}

}  // namespace

timing::Instruction timed_instruction(const Instruction& i, const margay::InstructionFacts& facts,
                                      std::uint8_t bytes) {
  const Row& row = *i.row;
  timing::Instruction out;
  out.vaddr = facts.vaddr;
  out.bytes = bytes;
  out.unit = unit_of(row);
  out.turns = turns_of(row, i.extra);
  out.holds_vector = holds_vector(row);
  out.counts_vm = facts.counted.vm;
  out.counts_lgkm = facts.counted.lgkm;
  out.wait_vm = facts.wait.vm;
  out.wait_lgkm = facts.wait.lgkm;
  out.has_work = facts.counted.vm || facts.counted.lgkm;
  out.is_atomic = facts.form.is_atomic;
  out.is_scratch = facts.form.path == MemoryPath::scratch;
  out.is_store = facts.form.is_write && !facts.form.is_read;
  out.sees_others = facts.form.is_read && !facts.form.is_atomic && facts.form.agent_scope;
  out.syncs_grid = row.flow == Flow::grid_barrier || row.cache == CacheAction::write_back;
  if (facts.form.path == MemoryPath::none && out.unit == Unit::lds) {
    out.lane_bytes_out = out.lane_bytes_in = 4;  // lane exchanges
  } else {
    if (facts.form.is_write || facts.form.is_atomic) out.lane_bytes_out = lane_bytes(facts);
    if (facts.form.is_read || row.returns_value) out.lane_bytes_in = lane_bytes(facts);
  }
  return out;
}

}  // namespace margay::profile
