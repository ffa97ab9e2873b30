// Matrix instructions: the executor's side of the mfma library. Runs of the same instruction are
// handed over together, which lets the library keep accumulators and converted operands.
#include "mfma/mfma.h"

#include <algorithm>
#include <string>

#include "exec/bind.h"
#include "exec/observer.h"
#include "exec/program.h"
#include "exec/row_table.h"
#include "exec/rows.h"
#include "exec/wave.h"

namespace margay {

/// An instruction's kernels by MfmaMode.
struct MatrixKernels {
  MfmaKernel by_mode[3];
  SmfmacFunction sparse_by_mode[3] = {};
};

namespace {

constexpr std::size_t kLongestGroup = 32;

MfmaOperands operands(Wave& wave, const Instruction& i) {
  MfmaOperands o{};
  o.d = wave.row(i.dst);
  o.a = wave.row(i.src[0].index());
  o.b = wave.row(i.src[1].index());
  const bool constant = !i.src[2].is_vgpr();
  o.c = constant ? nullptr : wave.row(i.src[2].index());
  // An f64 constant is given by its upper half.
  if (constant)
    o.c_constant = static_cast<std::uint32_t>(is_64_bit(i.row->sources[2]) ? i.constant[2] >> 32
                                                                           : i.constant[2]);
  o.cbsz = extra::cbsz(i.extra);
  o.abid = extra::abid(i.extra);
  o.blgp = extra::blgp(i.extra);
  return o;
}

const MfmaKernel& kernel(const Wave& wave, const Instruction& i) {
  return i.row->matrix->by_mode[static_cast<unsigned>(wave.group->mfma)];
}

const Instruction* run_matrix(Wave& wave, const Instruction& i) {
  kernel(wave, i).run(operands(wave, i));
  ++wave.mfma_instructions;
  return following(i);
}

/// The first of `i.offset` instructions of one kind that stand together.
const Instruction* run_matrix_group(Wave& wave, const Instruction& i) {
  MfmaOperands group[kLongestGroup];
  const auto count = static_cast<std::size_t>(i.offset);
  for (std::size_t n = 0; n < count; ++n) group[n] = operands(wave, (&i)[n]);
  kernel(wave, i).run_group(group, count);
  wave.mfma_instructions += count;
  wave.instructions += count - 1;  // the run loop counts one
  return &i + count;
}

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

}  // namespace

namespace {

Row matrix_row(const MfmaShape& shape) {
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
  return row;
}

constexpr MfmaMode kModes[] = {MfmaMode::exact, MfmaMode::fma, MfmaMode::fast};

void add_sparse_row(RowTable& table, const MfmaShape& shape, std::string_view target) {
  auto kernels = std::make_shared<MatrixKernels>();
  for (const MfmaMode mode : kModes)
    kernels->sparse_by_mode[static_cast<unsigned>(mode)] = smfmac_kernel(shape, mode, target);
  Row row = matrix_row(shape);
  row.plain = run_sparse_matrix;
  row.sources[2] = OperandType::u32;  // the indices; C is the destination
  row.mfma_registers[2] = 1;
  row.matrix = std::move(kernels);
  table.add(row);
}

}  // namespace

void add_matrix_rows(RowTable& table, std::string_view target) {
  for (const MfmaShape& shape : kMfmaShapes) {
    auto kernels = std::make_shared<MatrixKernels>();
    for (const MfmaMode mode : kModes)
      kernels->by_mode[static_cast<unsigned>(mode)] = mfma_kernel(shape, mode, target);
    Row row = matrix_row(shape);
    row.plain = run_matrix;
    row.matrix = std::move(kernels);
    table.add(row);
    if (shape.old_mnemonic != shape.mnemonic) {
      row.mnemonic = shape.old_mnemonic;
      table.add(row);
    }
  }
  for (const MfmaShape& shape : kSmfmacShapes) add_sparse_row(table, shape, target);
}

std::uint32_t matrix_run_length(const Instruction& i) {
  return i.execute == run_matrix_group ? static_cast<std::uint32_t>(i.offset) : 1;
}

void group_matrix_instructions(std::vector<Instruction>& instructions,
                               const std::vector<bool>& is_target) {
  const auto is_matrix = [&](std::size_t n) { return instructions[n].execute == run_matrix; };
  for (std::size_t first = 0; first < instructions.size();) {
    std::size_t end = first + 1;
    if (is_matrix(first)) {
      while (end < instructions.size() && end - first < kLongestGroup && is_matrix(end) &&
             instructions[end].row == instructions[first].row && !is_target[end])
        ++end;
      if (end - first > 1) {
        instructions[first].execute = run_matrix_group;
        instructions[first].offset = static_cast<std::int32_t>(end - first);
      }
    }
    first = end;
  }
}

}  // namespace margay
