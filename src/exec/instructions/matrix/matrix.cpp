// Matrix instructions: the executor's side of the mfma library.
#include "exec/instructions/matrix/matrix.h"

#include <string>

#include "exec/instructions/all_rows.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay {

/// An instruction's kernels by MfmaMode.
struct MatrixKernels {
  MfmaKernel by_mode[3];
  SmfmacFunction sparse_by_mode[3] = {};
};

MfmaStep step_of(const Instruction& i) {
  MfmaStep step{};
  step.d = i.dst;
  step.a = static_cast<std::int32_t>(i.src[0].index());
  step.b = static_cast<std::int32_t>(i.src[1].index());
  step.c_is_constant = !i.src[2].is_vgpr();
  if (!step.c_is_constant)
    step.c = static_cast<std::int32_t>(i.src[2].index());
  else  // an f64 constant is given by its upper half
    step.c_constant = static_cast<std::uint32_t>(is_64_bit(i.row->sources[2]) ? i.constant[2] >> 32
                                                                              : i.constant[2]);
  step.cbsz = extra::cbsz(i.extra);
  step.abid = extra::abid(i.extra);
  step.blgp = extra::blgp(i.extra);
  return step;
}

const MfmaKernel& matrix_kernel(MfmaMode mode, const Instruction& i) {
  return i.row->matrix->by_mode[static_cast<unsigned>(mode)];
}

const Instruction* run_matrix(Wave& wave, const Instruction& i) {
  matrix_kernel(wave.group->mfma, i).run(operands_of(step_of(i), wave.v));
  ++wave.mfma_instructions;
  return following(i);
}

namespace {

const Instruction* run_sparse_matrix(Wave& wave, const Instruction& i) {
  SmfmacOperands o{};
  o.d = wave.row(i.dst);
  o.a = wave.row(i.src[0].index());
  o.b = wave.row(i.src[1].index());
  o.index = wave.row(i.src[2].index());
  const MfmaShape& shape = *i.row->shape;
  o.index_shift = smfmac_index_shift(shape, extra::cbsz(i.extra), extra::abid(i.extra));
  if (const int lane = smfmac_bad_index_lane(shape, o); lane >= 0)
    return wave.fault(i, {ErrorCode::illegal_instruction,
                          "the sparse indices of lane " + std::to_string(lane) +
                              " have a pair whose first is not below its second",
                          {},
                          "of each four k the two that are kept are numbered in order: 0 and 1 are "
                          "encoded as 4, 2 and 3 as 14 (MI300 ISA guide, section 7.4)"});
  i.row->matrix->sparse_by_mode[static_cast<unsigned>(wave.group->mfma)](o);
  ++wave.mfma_instructions;
  return following(i);
}

OperandType operand_type(MfmaType type) {
  return type == MfmaType::f64  ? OperandType::f64
         : type == MfmaType::i8 ? OperandType::u32
                                : OperandType::f32;
}

Row matrix_row(const MatrixInstruction& instruction) {
  const MfmaShape& shape = *instruction.shape;
  Row row;
  row.mnemonic = shape.mnemonic;
  row.instruction_class = InstructionClass::mfma;
  row.result = operand_type(shape.a);
  row.source_count = 3;
  for (OperandType& source : row.sources) source = row.result;
  row.mfma_registers[0] = shape.a_registers;
  row.mfma_registers[1] = shape.b_registers;
  row.mfma_registers[2] = row.mfma_registers[3] = shape.d_registers;
  row.shape = &shape;
  row.passes = instruction.passes;
  // f32 matrix instructions flush A and B as MODE says, but not C and D; all others flush nothing.
  // They round to nearest even. Source: MI300 ISA guide, section 7.3 (the text; its table has MODE
  // for the whole instruction).
  if (shape.a == MfmaType::f32)
    row.float_use.sources[0] = row.float_use.sources[1] = FloatKind::f32;
  return row;
}

constexpr MfmaMode kModes[] = {MfmaMode::exact, MfmaMode::fma, MfmaMode::fast};

void add_sparse_row(RowTable& table, const MatrixInstruction& instruction, std::string_view level) {
  const MfmaShape& shape = *instruction.shape;
  auto kernels = std::make_shared<MatrixKernels>();
  for (const MfmaMode mode : kModes)
    kernels->sparse_by_mode[static_cast<unsigned>(mode)] = smfmac_kernel(shape, mode, level);
  Row row = matrix_row(instruction);
  row.plain = run_sparse_matrix;
  row.sources[2] = OperandType::u32;  // the indices; C is the destination
  row.mfma_registers[2] = 1;
  row.matrix = std::move(kernels);
  table.add(row);
}

void add_dense_row(RowTable& table, const MatrixInstruction& instruction, std::string_view level) {
  const MfmaShape& shape = *instruction.shape;
  auto kernels = std::make_shared<MatrixKernels>();
  for (const MfmaMode mode : kModes)
    kernels->by_mode[static_cast<unsigned>(mode)] = mfma_kernel(shape, mode, level);
  Row row = matrix_row(instruction);
  row.plain = run_matrix;
  row.matrix = std::move(kernels);
  table.add(row);
  if (table.find(shape.old_mnemonic) != nullptr) return;  // it has only one name
  row.mnemonic = shape.old_mnemonic;
  table.add(row);
}

}  // namespace

void add_matrix_rows(RowTable& table, std::span<const MatrixInstruction> instructions,
                     std::string_view level) {
  for (const MatrixInstruction& one : instructions)
    one.shape->sparse ? add_sparse_row(table, one, level) : add_dense_row(table, one, level);
}

}  // namespace margay
