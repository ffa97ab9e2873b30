// Matrix instructions: the executor's side of the mfma library. Runs of the same instruction are
// passed together, which lets the library keep accumulators and converted operands.
#include "mfma/mfma.h"

#include <bit>
#include <string>

#include "exec/instructions/all_rows.h"
#include "exec/program/program.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay {

/// An instruction's kernels by MfmaMode.
struct MatrixKernels {
  MfmaKernel by_mode[3];
  SmfmacFunction sparse_by_mode[3] = {};
};

namespace {

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

const MfmaKernel& kernel(MfmaMode mode, const Instruction& i) {
  return i.row->matrix->by_mode[static_cast<unsigned>(mode)];
}

const Instruction* run_matrix(Wave& wave, const Instruction& i) {
  kernel(wave.group->mfma, i).run(operands_of(step_of(i), wave.v));
  ++wave.mfma_instructions;
  return following(i);
}

/// The group's address is the instruction's first constant (A and B are registers).
const MatrixGroup& group_of(const Instruction& i) {
  return *std::bit_cast<const MatrixGroup*>(i.constant[0]);
}

/// The first instruction of a group.
const Instruction* run_matrix_group(Wave& wave, const Instruction& i) {
  const MatrixGroup& group = group_of(i);
  const MatrixGroup::Part& part =
      group.with_pauses.run && !wave.group->observed ? group.with_pauses : group.adjacent;
  if (!part.run) return run_matrix(wave, i);
  part.run->execute(wave.v);
  wave.mfma_instructions += part.matrix_instructions;
  wave.instructions += part.instructions - 1;  // the run loop counts one
  return &i + part.instructions;
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

std::uint32_t matrix_run_length(const Instruction& i) {
  return i.execute == run_matrix_group ? group_of(i).adjacent.instructions : 1;
}

std::vector<std::unique_ptr<const MatrixGroup>> group_matrix_instructions(
    std::vector<Instruction>& instructions, const std::vector<bool>& is_target, MfmaMode mode) {
  std::vector<std::unique_ptr<const MatrixGroup>> groups;
  const auto is_matrix = [&](std::size_t n) { return instructions[n].execute == run_matrix; };
  const auto only_pauses = [&](std::size_t n) {
    const Instruction& i = instructions[n];
    return i.row != nullptr && i.execute == i.row->plain &&
           (i.row->pause == Pause::counters || i.row->pause == Pause::turns ||
            i.row->pause == Pause::priority);
  };
  /// Those of the same row from `first` on, in which nothing can begin, or pauses in between.
  const auto part_from = [&](std::size_t first, bool with_pauses) {
    const Instruction& leader = instructions[first];
    MatrixGroup::Part part;
    std::vector<MfmaStep> steps = {step_of(leader)};
    for (std::size_t n = first + 1; n < instructions.size() && !is_target[n]; ++n) {
      if (is_matrix(n) && instructions[n].row == leader.row) {
        steps.push_back(step_of(instructions[n]));
        part.instructions = static_cast<std::uint32_t>(n + 1 - first);
      } else if (!with_pauses || !only_pauses(n)) {
        break;
      }
    }
    part.matrix_instructions = static_cast<std::uint32_t>(steps.size());
    if (steps.size() > 1)
      part.run = prepare_mfma_run(*leader.row->shape, kernel(mode, leader), steps);
    return part;
  };
  std::size_t covered = 0;  // by the last part with pauses
  for (std::size_t first = 0; first < instructions.size();) {
    if (!is_matrix(first)) {
      ++first;
      continue;
    }
    auto group = std::make_unique<MatrixGroup>();
    group->adjacent = part_from(first, false);
    const std::size_t next = first + group->adjacent.instructions;
    // Within the last one only an observer comes here.
    if (first >= covered) {
      MatrixGroup::Part part = part_from(first, true);
      covered = first + part.instructions;
      if (covered > next) group->with_pauses = std::move(part);
    }
    if (group->adjacent.run || group->with_pauses.run) {
      Instruction& leader = instructions[first];
      leader.constant[0] = std::bit_cast<std::uint64_t>(group.get());
      groups.push_back(std::move(group));
      leader.execute = run_matrix_group;
    }
    first = next;
  }
  return groups;
}

}  // namespace margay
