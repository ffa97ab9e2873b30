#include "observe/profile/instruction_facts.h"

#include <algorithm>
#include <string_view>

#include "exec/bind.h"
#include "exec/row_table.h"
#include "mfma/passes.h"

namespace margay::profile {
namespace {

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

bool is_transcendental(std::string_view operation) {
  return starts_with_any(operation, {"exp_", "log_", "rcp_", "rsq_", "sqrt_", "sin_", "cos_"});
}

/// "f32" of "add_f32" and "fma_mix_f32", "u64" of "mad_u64_u32": the type of the result.
std::string_view result_type(std::string_view operation) {
  for (std::size_t at = 0; at < operation.size();) {
    const std::size_t end = std::min(operation.find('_', at), operation.size());
    const std::string_view part = operation.substr(at, end - at);
    if (part.size() == 3 && (part[0] == 'f' || part[0] == 'i' || part[0] == 'u') &&
        part.find_first_not_of("0123456789", 1) == part.npos)
      return part;
    at = end + 1;
  }
  return {};
}

struct FloatCounters {
  Counter add, multiply, multiply_add, transcendental;
};
std::optional<FloatCounters> float_counters(std::string_view type) {
  using enum Counter;
  if (type == "f16")
    return FloatCounters{SQ_INSTS_VALU_ADD_F16, SQ_INSTS_VALU_MUL_F16, SQ_INSTS_VALU_FMA_F16,
                         SQ_INSTS_VALU_TRANS_F16};
  if (type == "f32")
    return FloatCounters{SQ_INSTS_VALU_ADD_F32, SQ_INSTS_VALU_MUL_F32, SQ_INSTS_VALU_FMA_F32,
                         SQ_INSTS_VALU_TRANS_F32};
  if (type == "f64")
    return FloatCounters{SQ_INSTS_VALU_ADD_F64, SQ_INSTS_VALU_MUL_F64, SQ_INSTS_VALU_FMA_F64,
                         SQ_INSTS_VALU_TRANS_F64};
  return std::nullopt;
}

/// Which counter a vector ALU instruction belongs to, and its operations per lane. Integer
/// instructions are those whose result has an integer type: of vcopy's six VALU instructions the
/// hardware counted add_u32, cmp_gt_i32 and ashrrev_i32 as 32-bit, two lshl_add_u64 as 64-bit
/// integers, and lshlrev_b64 as neither.
void classify_valu(std::string_view mnemonic, InstructionFacts& facts) {
  std::string_view operation = mnemonic.substr(std::min<std::size_t>(2, mnemonic.size()));
  const bool packed = operation.starts_with("pk_");
  if (packed) operation.remove_prefix(3);
  const std::uint32_t elements = packed ? 2 : 1;
  if (operation.starts_with("cvt_")) {
    facts.kind = Counter::SQ_INSTS_VALU_CVT;
    return;
  }
  const std::string_view type = result_type(operation);
  if (const auto floats = float_counters(type)) {
    if (starts_with_any(operation, {"add_", "sub_", "subrev_"})) {
      facts.kind = floats->add;
      facts.flops_per_lane = elements;
    } else if (operation.starts_with("mul_")) {
      facts.kind = floats->multiply;
      facts.flops_per_lane = elements;
    } else if (starts_with_any(operation, {"fma", "mad", "mac"})) {
      facts.kind = floats->multiply_add;
      facts.flops_per_lane = 2 * elements;
    } else if (operation.starts_with("dot2")) {
      facts.kind = floats->multiply_add;
      facts.flops_per_lane = 4;
    } else if (is_transcendental(operation)) {
      facts.kind = floats->transcendental;
      facts.flops_per_lane = 1;
      facts.quad_cycles = 4;  // a quarter of the lanes per cycle
    }
    return;
  }
  if (type == "i32" || type == "u32") facts.kind = Counter::SQ_INSTS_VALU_INT32;
  if (type == "i64" || type == "u64") facts.kind = Counter::SQ_INSTS_VALU_INT64;
}

void classify_matrix(const MfmaShape& shape, InstructionFacts& facts) {
  using enum Counter;
  facts.quad_cycles = matrix_passes(shape);
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
  if (i.row->is_wait) return Action::wait;
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
  if (facts.action != Action::vector_memory) return;  // buffer_inv and the like
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
  // Two each, whether one dword or two, in the only data there is (vcopy on MI300X).
  c[SQ_INSTS_SMEM_NORM] += 2 * n;
  if (facts.action != Action::scalar_memory) return;  // s_memtime, s_dcache_inv
  c[SQC_DCACHE_REQ] += n;
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
      // Waits, barriers and s_nop issue beside the others and are not counted as active.
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
      is_message(i.row->is_message || i.row->flow == Flow::end),
      is_buffer(i.row->memory.path == MemoryPath::buffer),
      is_scratch(form.path == MemoryForm::Path::scratch),
      returns_value(i.row->returns_value) {
  const Row& row = *i.row;
  if (instruction_class == InstructionClass::valu) classify_valu(row.mnemonic, *this);
  if (row.shape != nullptr) classify_matrix(*row.shape, *this);
  if (instruction_class == InstructionClass::vmem)
    bypasses_l1 = (i.extra & (extra::kSc1 | extra::kNt)) != 0;
}

}  // namespace margay::profile
