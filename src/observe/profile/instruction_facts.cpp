#include "observe/profile/instruction_facts.h"

#include "observe/profile/time/timed_instruction.h"

#include "exec/program/bind.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "gpu/matrix_shapes.h"

namespace margay::profile {
namespace {

struct FloatCounters {
  Counter add, multiply, multiply_add, transcendental;
};
FloatCounters float_counters(NumberType type) {
  using enum Counter;
  if (type == NumberType::f16)
    return {SQ_INSTS_VALU_ADD_F16, SQ_INSTS_VALU_MUL_F16, SQ_INSTS_VALU_FMA_F16,
            SQ_INSTS_VALU_TRANS_F16};
  if (type == NumberType::f32)
    return {SQ_INSTS_VALU_ADD_F32, SQ_INSTS_VALU_MUL_F32, SQ_INSTS_VALU_FMA_F32,
            SQ_INSTS_VALU_TRANS_F32};
  return {SQ_INSTS_VALU_ADD_F64, SQ_INSTS_VALU_MUL_F64, SQ_INSTS_VALU_FMA_F64,
          SQ_INSTS_VALU_TRANS_F64};
}

void classify_floats(const Row& row, InstructionFacts& facts) {
  const FloatCounters counters = float_counters(row.number);
  const bool pairs = row.packed == PackedForm::halves || row.packed == PackedForm::words;
  const std::uint32_t elements = pairs ? 2 : 1;
  switch (row.operation) {
    case Operation::add:
      facts.kind = counters.add;
      facts.flops_per_lane = elements;
      break;
    case Operation::multiply:
      facts.kind = counters.multiply;
      facts.flops_per_lane = elements;
      break;
    case Operation::multiply_add:
    case Operation::multiply_then_add:
      facts.kind = counters.multiply_add;
      facts.flops_per_lane = 2 * elements;
      break;
    case Operation::dot:
      facts.kind = counters.multiply_add;
      facts.flops_per_lane = 4;
      break;
    case Operation::transcendental:
      facts.kind = counters.transcendental;
      facts.flops_per_lane = 1;
      break;
    case Operation::other:
    case Operation::of_bits:
    case Operation::min_max:
    case Operation::convert:
      break;
  }
}

/// Which counter a vector ALU instruction belongs to, and its operations per lane. Integer
/// instructions are those whose result has an integer type: for vcopy's six VALU instructions the
/// hardware counted add_u32, cmp_gt_i32 and ashrrev_i32 as 32-bit, two lshl_add_u64 as 64-bit
/// integers, and lshlrev_b64 as neither.
void classify_valu(const Row& row, InstructionFacts& facts) {
  if (row.operation == Operation::convert) {
    facts.kind = Counter::SQ_INSTS_VALU_CVT;
    return;
  }
  switch (row.number) {
    case NumberType::none:
      return;
    case NumberType::i32:
      facts.kind = Counter::SQ_INSTS_VALU_INT32;
      return;
    case NumberType::i64:
      facts.kind = Counter::SQ_INSTS_VALU_INT64;
      return;
    case NumberType::f16:
    case NumberType::f32:
    case NumberType::f64:
      return classify_floats(row, facts);
  }
}

void classify_matrix(const MfmaShape& shape, InstructionFacts& facts) {
  using enum Counter;
  facts.matrix_flops = 2u * shape.m * shape.m * shape.k * shape.blocks;
  switch (shape.a) {
    case MfmaType::f64:
      facts.matrix_kind = SQ_INSTS_VALU_MFMA_F64;
      facts.matrix_operations = SQ_INSTS_VALU_MFMA_MOPS_F64;
      return;
    case MfmaType::f32:
      facts.matrix_kind = SQ_INSTS_VALU_MFMA_F32;
      facts.matrix_operations = SQ_INSTS_VALU_MFMA_MOPS_F32;
      return;
    case MfmaType::xf32:
      facts.matrix_kind = SQ_INSTS_VALU_MFMA_XF32;
      facts.matrix_operations = SQ_INSTS_VALU_MFMA_MOPS_XF32;
      return;
    case MfmaType::f16:
      facts.matrix_kind = SQ_INSTS_VALU_MFMA_F16;
      facts.matrix_operations = SQ_INSTS_VALU_MFMA_MOPS_F16;
      return;
    case MfmaType::bf16:
      facts.matrix_kind = SQ_INSTS_VALU_MFMA_BF16;
      facts.matrix_operations = SQ_INSTS_VALU_MFMA_MOPS_BF16;
      return;
    case MfmaType::fp8:
    case MfmaType::bf8:
      facts.matrix_kind = SQ_INSTS_VALU_MFMA_F8;
      facts.matrix_operations = SQ_INSTS_VALU_MFMA_MOPS_F8;
      return;
    case MfmaType::i8:
      facts.matrix_kind = SQ_INSTS_VALU_MFMA_I8;
      facts.matrix_operations = SQ_INSTS_VALU_MFMA_MOPS_I8;
      return;
  }
}

Action action_of(const Instruction& i, const MemoryForm& form) {
  using Path = MemoryForm::Path;
  switch (form.path) {
    case Path::ds:
    case Path::ds_two:
      return Action::lds;
    case Path::global:
    case Path::flat:
    case Path::scratch:
    case Path::buffer:
      return form.bytes != 0 ? Action::vector_memory : Action::count;
    case Path::scalar:
      return Action::scalar_memory;
    case Path::none:
      break;
  }
  if (i.row->pause == Pause::counters) return Action::wait;
  if (i.row->flow == Flow::barrier) return Action::barrier;
  return Action::count;
}

void add_vector_memory(const InstructionFacts& facts, std::uint64_t n, Counters& c) {
  using enum Counter;
  c[SQ_INSTS_VMEM] += n;
  c[facts.form.is_write ? SQ_INSTS_VMEM_WR : SQ_INSTS_VMEM_RD] += n;
  c[facts.form.is_write ? SQ_INST_CYCLES_VMEM_WR : SQ_INST_CYCLES_VMEM_RD] += n;
  c[facts.is_buffer ? SQ_ACTIVE_INST_VMEM : SQ_ACTIVE_INST_FLAT] += n;
  if (!facts.is_buffer) c[SQ_INSTS_FLAT] += n;
  if (facts.action != Action::vector_memory) return;  // buffer_inv etc.
  c[TA_TOTAL_WAVEFRONTS_sum] += n;
  c[facts.is_buffer ? TA_BUFFER_WAVEFRONTS_sum : TA_FLAT_WAVEFRONTS_sum] += n;
  c[TCP_TA_TCP_STATE_READ_sum] += n;
  c[TD_LOAD_WAVEFRONT_sum] += n;
  if (facts.form.is_atomic) {
    c[TD_ATOMIC_WAVEFRONT_sum] += n;
    c[facts.is_buffer ? TA_BUFFER_ATOMIC_WAVEFRONTS_sum : TA_FLAT_ATOMIC_WAVEFRONTS_sum] += n;
  } else if (facts.form.is_write) {
    c[TD_STORE_WAVEFRONT_sum] += n;
    c[facts.is_buffer ? TA_BUFFER_WRITE_WAVEFRONTS_sum : TA_FLAT_WRITE_WAVEFRONTS_sum] += n;
  } else {
    c[facts.is_buffer ? TA_BUFFER_READ_WAVEFRONTS_sum : TA_FLAT_READ_WAVEFRONTS_sum] += n;
  }
}

void add_scalar_memory(const InstructionFacts& facts, std::uint64_t n, Counters& c) {
  using enum Counter;
  c[SQ_INSTS_SMEM] += n;
  c[SQ_INST_CYCLES_SMEM] += n;
  c[SQ_ACTIVE_INST_SCA] += n;
  // Two each, for one dword or two, in the only available data (vcopy on MI300X).
  c[SQ_INSTS_SMEM_NORM] += 2 * n;
  if (facts.action != Action::scalar_memory) return;  // s_memtime, s_dcache_inv
  c[SQC_DCACHE_REQ] += n;
  if (facts.form.is_atomic) c[SQC_DCACHE_ATOMIC] += n;
  if (facts.form.is_write) return;
  const unsigned dwords = facts.form.bytes / 4;
  c[dwords <= 1   ? SQC_DCACHE_REQ_READ_1
    : dwords <= 2 ? SQC_DCACHE_REQ_READ_2
    : dwords <= 4 ? SQC_DCACHE_REQ_READ_4
    : dwords <= 8 ? SQC_DCACHE_REQ_READ_8
                  : SQC_DCACHE_REQ_READ_16] += n;
}

}  // namespace

void add_executions(const InstructionFacts& facts, std::uint64_t n, std::uint64_t lanes,
                    Counters& c) {
  using enum Counter;
  c[SQ_INSTS] += n;
  switch (facts.instruction_class) {
    case InstructionClass::mfma:
      c[SQ_INSTS_MFMA] += n;
      if (facts.matrix_kind) c[*facts.matrix_kind] += n;
      if (facts.matrix_operations) c[*facts.matrix_operations] += n * facts.matrix_flops / 512;
      c[SQ_VALU_MFMA_BUSY_CYCLES] += n * facts.quad_cycles * kCyclesPerPass;
      [[fallthrough]];
    case InstructionClass::valu:
      c[SQ_INSTS_VALU] += n;
      if (facts.kind) c[*facts.kind] += n;
      c[SQ_ACTIVE_INST_VALU] += n * facts.quad_cycles;
      c[SQ_THREAD_CYCLES_VALU] += lanes * facts.quad_cycles;
      break;
    case InstructionClass::salu:
      c[SQ_INSTS_SALU] += n;
      c[SQ_INST_CYCLES_SALU] += n;
      c[SQ_ACTIVE_INST_SCA] += n;
      break;
    case InstructionClass::smem:
      add_scalar_memory(facts, n, c);
      break;
    case InstructionClass::lds:
      c[SQ_INSTS_LDS] += n;
      c[SQ_ACTIVE_INST_LDS] += n;
      break;
    case InstructionClass::vmem:
      add_vector_memory(facts, n, c);
      break;
    case InstructionClass::branch:
      c[SQ_INSTS_BRANCH] += n;
      c[SQ_ACTIVE_INST_MISC] += n;
      break;
    case InstructionClass::other:
      // Waits, barriers and s_nop issue in parallel with other instructions and are not counted as
      // active.
      if (!facts.is_message) return;
      c[SQ_INSTS_SENDMSG] += n;
      c[SQ_ACTIVE_INST_MISC] += n;
      break;
  }
  c[SQ_ACTIVE_INST_ANY] += n * facts.quad_cycles;
}

InstructionFacts::InstructionFacts(const Instruction& i, std::uint32_t its_number)
    : margay::InstructionFacts(i, its_number),
      bytes(static_cast<std::uint8_t>((&i)[1].vaddr - i.vaddr)),
      action(action_of(i, form)),
      instruction_class(i.row->instruction_class),
      quad_cycles(i.row->passes),
      is_message(i.row->is_message || i.row->flow == Flow::end),
      is_buffer(i.row->memory.path == MemoryPath::buffer),
      returns_value(i.row->returns_value) {
  const Row& row = *i.row;
  if (instruction_class == InstructionClass::valu) classify_valu(row, *this);
  if (row.shape != nullptr) classify_matrix(*row.shape, *this);
  if (instruction_class == InstructionClass::vmem)
    bypasses_l1 = (i.extra & (extra::kSc1 | extra::kNt)) != 0;
  if (instruction_class == InstructionClass::smem) bypasses_l1 = (i.extra & extra::kSc0) != 0;
  timed = timed_instruction(i, *this, bytes);
}

}  // namespace margay::profile
