// Groups of matrix instructions. The mfma library keeps accumulators and converted operands from
// one instruction of a group to the next, so that large groups are fast. Compilers scatter matrix
// instructions between loads of the next operands and waits for them.
//
// An instruction that is not observed therefore waits until another one reads its result, or until
// the basic block ends: nothing else can tell. It runs with all that wait by then, in the place of
// the last of them. Instructions that overwrite their registers do not end the wait: A, B and C are
// copied to spare rows before, and a result that is overwritten unread goes to such rows. A and B
// are also copied before a later one's result overwrites them, so that the run may have any order.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "exec/instructions/matrix/matrix.h"
#include "exec/program/program.h"
#include "exec/program/register_use.h"
#include "exec/rows/row_table.h"
#include "mfma/instructions/rows_meet.h"

namespace margay {
namespace {

/// The group's address is the instruction's first constant (A and B are registers).
const MatrixGroup& group_of(const Instruction& i) {
  return *std::bit_cast<const MatrixGroup*>(i.constant[0]);
}

void copy_rows(Wave& wave, std::span<const MatrixGroup::Copy> copies) {
  for (const MatrixGroup::Copy& copy : copies)
    std::memcpy(wave.row(copy.to), wave.row(copy.from), copy.rows * kWaveLanes * 4u);
}

const Instruction* run_matrix_group(Wave& wave, const Instruction& i) {
  const MatrixGroup& group = group_of(i);
  if (wave.group->observed) {
    const MatrixGroup::Adjacent& adjacent = group.adjacent;
    if (!adjacent.run) return run_matrix(wave, i);
    adjacent.run->execute(wave.v);
    wave.mfma_instructions += adjacent.instructions;
    wave.instructions += adjacent.instructions - 1;  // the run loop counts one
    return &i + adjacent.instructions;
  }
  // Without all lanes, what overwrites a result leaves a part of it. (EXEC is the same for all of a
  // group.)
  if (group.runs_in == nullptr || (group.needs_all_lanes && wave.exec() != ~0ull))
    return run_matrix(wave, i);
  const MatrixGroup::Deferred& deferred = group.deferred;
  copy_rows(wave, deferred.before);
  if (deferred.run) deferred.run->execute(wave.v);
  copy_rows(wave, deferred.after);
  wave.mfma_instructions += deferred.matrix_instructions;
  wave.instructions += deferred.instructions - 1;
  return &i + deferred.instructions;
}

[[nodiscard]] bool is_matrix(const Instruction& i) { return i.execute == run_matrix; }

/// A wait, s_nop or s_setprio, which only observers are to see.
[[nodiscard]] bool is_pause(const Instruction& i) {
  return i.row != nullptr && i.execute == i.row->plain &&
         (i.row->pause == Pause::counters || i.row->pause == Pause::turns ||
          i.row->pause == Pause::priority);
}

/// Whether matrix instructions may wait behind it, as far as it does not access their registers: it
/// goes on at the next one and reaches registers only as register_use() says.
[[nodiscard]] bool is_followed(const Instruction& i) {
  if (i.row == nullptr || i.execute == run_problem) return false;
  const Row& row = *i.row;
  if (row.flow != Flow::next && row.flow != Flow::barrier) return false;
  if (row.changes_mode || row.is_message || row.register_index != RegisterIndex::none) return false;
  if (i.modifiers.form == OperandForm::indexed) return false;
  switch (row.instruction_class) {
    case InstructionClass::valu:
    case InstructionClass::salu:
    case InstructionClass::smem:
    case InstructionClass::lds:
    case InstructionClass::vmem:
      return true;
    default:
      return row.flow == Flow::barrier || row.pause != Pause::none;
  }
}

[[nodiscard]] bool meets(const VgprMask& mask, std::int32_t first, unsigned count) {
  for (unsigned n = 0; n < count; ++n)
    if (contains(mask, static_cast<unsigned>(first) + n)) return true;
  return false;
}

/// Whether it overwrites all of each register that it writes, if all lanes are active.
[[nodiscard]] bool overwrites(const Instruction& i, const RegisterUse& use) {
  const MemoryTraits& memory = i.row->memory;
  return !use.merges_destination && !memory.part.half && !memory.formatted &&
         memory.exchange == LaneExchange::none;
}

/// The matrix instructions that wait, in the order of the program.
class Waiting {
 public:
  Waiting(std::vector<Instruction>& instructions, std::vector<std::unique_ptr<MatrixGroup>>& groups,
          unsigned first_spare_row, MfmaMode mode)
      : instructions_(instructions),
        groups_(groups),
        first_spare_row_(first_spare_row),
        mode_(mode) {}

  /// The matrix instruction number n, with whatever waits if it can.
  void add(std::size_t n) {
    const MfmaStep step = step_of(instructions_[n]);
    if (!members_.empty() &&
        (instructions_[n].row != row_ || members_.size() == kLargest || depends(step)))
      run();
    if (!members_.empty()) keep_from(step);
    row_ = instructions_[n].row;
    members_.push_back(n);
    steps_.push_back(step);
  }

  /// Any other instruction comes.
  void pass(const Instruction& i) {
    if (members_.empty()) return;
    if (!is_followed(i)) return run();
    const RegisterUse use = register_use(i);
    if (contains(use.scalar_writes, kExecIndex) || contains(use.scalar_writes, kExecIndex + 1))
      return run();
    if (reads_result(use.reads) || !keep_overwritten(use.writes, overwrites(i, use))) run();
  }

  /// All of them run in the place of the last one.
  void run() {
    if (members_.size() > 1) {
      MatrixGroup::Deferred& last = groups_[members_.back()]->deferred;
      for (std::size_t n = 0; n < steps_.size(); ++n)
        steps_[n].only_next_reads_d = is_all_overwritten(steps_[n].d) && reads_of_result(n) <= 1;
      last.run =
          prepare_mfma_run(*row_->shape, matrix_kernel(mode_, instructions_[members_[0]]), steps_);
      last.matrix_instructions = static_cast<std::uint32_t>(steps_.size());
      for (const Moved& moved : moved_)
        for (std::uint8_t n = 0; n < moved.rows; ++n)
          if (moved.is_left(n))
            last.after.push_back({static_cast<std::uint16_t>(moved.to + n),
                                  static_cast<std::uint16_t>(moved.from + n), 1});
      for (const std::size_t n : members_) {
        groups_[n]->runs_in = groups_[members_.back()].get();
        groups_[n]->needs_all_lanes = !moved_.empty();
      }
    }
    members_.clear();
    steps_.clear();
    moved_.clear();
    spare_rows_ = 0;
  }

 private:
  static constexpr std::size_t kLargest = 256;

  /// A result that spare rows have in place of its own, some of which are overwritten.
  struct Moved {
    std::int32_t from;
    std::uint16_t to;
    std::uint8_t rows;
    std::uint32_t overwritten = 0;

    [[nodiscard]] bool is_left(unsigned n) const { return (overwritten >> n & 1) == 0; }
    [[nodiscard]] bool is_any_left() const {
      return std::popcount(overwritten) < static_cast<int>(rows);
    }
    [[nodiscard]] bool left_meets(std::int32_t first, int count) const {
      for (unsigned n = 0; n < rows; ++n)
        if (is_left(n) && rows_meet(from + static_cast<std::int32_t>(n), 1, first, count))
          return true;
      return false;
    }
    [[nodiscard]] bool left_meets(const VgprMask& mask) const {
      for (unsigned n = 0; n < rows; ++n)
        if (is_left(n) && meets(mask, from + static_cast<std::int32_t>(n), 1)) return true;
      return false;
    }
  };

  struct Kept {
    std::vector<MfmaStep> steps;
    std::vector<Moved> moved;
    unsigned spare_rows;
  };

  /// Whether its A or B is what one that waits writes, or it has registers whose contents will come
  /// from spare rows. (What it writes may be another one's A or B: they run in their order.)
  [[nodiscard]] bool depends(const MfmaStep& step) const {
    const MfmaShape& s = *row_->shape;
    return std::ranges::any_of(steps_,
                               [&](const MfmaStep& other) {
                                 return rows_meet(step.a, s.a_registers, other.d, s.d_registers) ||
                                        rows_meet(step.b, s.b_registers, other.d, s.d_registers);
                               }) ||
           std::ranges::any_of(moved_, [&](const Moved& moved) {
             return moved.left_meets(step.a, s.a_registers) ||
                    moved.left_meets(step.b, s.b_registers) ||
                    moved.left_meets(step.d, s.d_registers) ||
                    (!step.c_is_constant && moved.left_meets(step.c, s.d_registers));
           });
  }

  [[nodiscard]] bool is_all_overwritten(std::int32_t result) const {
    return std::ranges::any_of(
        moved_, [&](const Moved& moved) { return moved.to == result && !moved.is_any_left(); });
  }
  /// How many of the steps after it have the result of step number n as their C.
  [[nodiscard]] std::size_t reads_of_result(std::size_t n) const {
    const std::int32_t result = steps_[n].d;
    std::size_t reads = 0;
    for (const MfmaStep& step : std::span(steps_).subspan(n + 1)) {
      if (!step.c_is_constant && step.c == result) ++reads;
      if (step.d == result) break;
    }
    return reads;
  }

  [[nodiscard]] bool reads_result(const VgprMask& reads) const {
    return std::ranges::any_of(
               steps_,
               [&](const MfmaStep& s) { return meets(reads, s.d, row_->shape->d_registers); }) ||
           std::ranges::any_of(moved_, [&](const Moved& moved) { return moved.left_meets(reads); });
  }

  /// Has what is about to be overwritten in spare rows. False: it cannot be, and nothing is changed
  /// that matters to those that wait.
  [[nodiscard]] bool keep_overwritten(const VgprMask& writes, bool whole) {
    const Kept before{steps_, moved_, spare_rows_};
    std::vector<MatrixGroup::Copy> copies;
    if (!keep_results(writes, whole, copies)) {
      restore(before);
      return false;
    }
    keep_sources(writes, copies);
    return commit(copies, before);
  }

  /// Has the A and B that the next one's result overwrites in spare rows, if there are any left:
  /// the plan of the run is then free to put that result in its place at any time.
  void keep_from(const MfmaStep& next) {
    VgprMask writes{};
    for (unsigned n = 0; n < row_->shape->d_registers; ++n) {
      const unsigned row = static_cast<unsigned>(next.d) + n;
      writes.at(row / 64) |= std::uint64_t{1} << row % 64;
    }
    const Kept before{steps_, moved_, spare_rows_};
    std::vector<MatrixGroup::Copy> copies;
    keep_sources(writes, copies);
    (void)commit(copies, before);
  }

  /// False, and as `before`: there are not enough spare rows.
  [[nodiscard]] bool commit(const std::vector<MatrixGroup::Copy>& copies, const Kept& before) {
    if (spare_rows_ > kSpareRows) {
      restore(before);
      return false;
    }
    auto& all = groups_[members_.back()]->deferred.before;
    all.insert(all.end(), copies.begin(), copies.end());
    return true;
  }
  void restore(const Kept& before) {
    steps_ = before.steps;
    moved_ = before.moved;
    spare_rows_ = before.spare_rows;
  }

  [[nodiscard]] bool keep_results(const VgprMask& writes, bool whole,
                                  std::vector<MatrixGroup::Copy>& copies) {
    const std::uint8_t rows = row_->shape->d_registers;
    for (std::size_t n = 0; n < steps_.size(); ++n)
      for (const auto member : {&MfmaStep::d, &MfmaStep::c}) {
        if (member == &MfmaStep::c && steps_[n].c_is_constant) continue;
        const std::int32_t result = steps_[n].*member;
        if (meets(writes, result, rows) && !(whole && move(result, copies))) return false;
      }
    for (Moved& moved : moved_) {
      if (!moved.left_meets(writes)) continue;
      if (!whole) return false;
      for (unsigned n = 0; n < moved.rows; ++n)
        if (meets(writes, moved.from + static_cast<std::int32_t>(n), 1))
          moved.overwritten |= 1u << n;
    }
    return true;
  }

  /// Has spare rows for a result, and for what it was before if that is used. False: another
  /// result shares a part of its registers.
  [[nodiscard]] bool move(std::int32_t result, std::vector<MatrixGroup::Copy>& copies) {
    const std::uint8_t rows = row_->shape->d_registers;
    const auto shares = [&](std::int32_t other) {
      return other != result && rows_meet(other, rows, result, rows);
    };
    const std::uint16_t to = spare(rows);
    bool is_first = true;
    for (MfmaStep& step : steps_) {
      if (shares(step.d) || (!step.c_is_constant && shares(step.c))) return false;
      const bool reads = !step.c_is_constant && step.c == result;
      if (is_first && reads) copies.push_back({static_cast<std::uint16_t>(result), to, rows});
      is_first = is_first && !reads && step.d != result;
      if (reads) step.c = to;
      if (step.d == result) step.d = to;
    }
    moved_.push_back({result, to, rows});
    return true;
  }

  void keep_sources(const VgprMask& writes, std::vector<MatrixGroup::Copy>& copies) {
    const std::size_t first = copies.size();
    const auto keep = [&](std::int32_t& operand, std::uint8_t rows) {
      if (!meets(writes, operand, rows)) return;
      const auto same = std::find_if(
          copies.begin() + static_cast<std::ptrdiff_t>(first), copies.end(),
          [&](const MatrixGroup::Copy& copy) { return copy.from == operand && copy.rows == rows; });
      if (same == copies.end()) {
        copies.push_back({static_cast<std::uint16_t>(operand), spare(rows), rows});
        operand = copies.back().to;
      } else {
        operand = same->to;
      }
    };
    for (MfmaStep& step : steps_) {
      keep(step.a, row_->shape->a_registers);
      keep(step.b, row_->shape->b_registers);
    }
  }

  std::uint16_t spare(unsigned rows) {
    const auto first = static_cast<std::uint16_t>(first_spare_row_ + spare_rows_);
    spare_rows_ += rows;
    return first;
  }

  std::vector<Instruction>& instructions_;
  std::vector<std::unique_ptr<MatrixGroup>>& groups_;
  const unsigned first_spare_row_;
  const MfmaMode mode_;
  const Row* row_ = nullptr;  // of all that wait
  std::vector<std::size_t> members_;
  std::vector<MfmaStep> steps_;
  std::vector<Moved> moved_;
  unsigned spare_rows_ = 0;
};

/// Those of the same row from `first` on with nothing in between, in which nothing can begin.
MatrixGroup::Adjacent adjacent_from(const std::vector<Instruction>& instructions,
                                    const std::vector<bool>& is_target, std::size_t first,
                                    MfmaMode mode) {
  const Instruction& leader = instructions[first];
  std::vector<MfmaStep> steps = {step_of(leader)};
  for (std::size_t n = first + 1; n < instructions.size() && !is_target[n]; ++n) {
    if (!is_matrix(instructions[n]) || instructions[n].row != leader.row) break;
    steps.push_back(step_of(instructions[n]));
  }
  MatrixGroup::Adjacent out;
  out.instructions = static_cast<std::uint32_t>(steps.size());
  if (steps.size() > 1)
    out.run = prepare_mfma_run(*leader.row->shape, matrix_kernel(mode, leader), steps);
  return out;
}

}  // namespace

std::uint32_t matrix_run_length(const Instruction& i) {
  return i.execute == run_matrix_group ? group_of(i).adjacent.instructions : 1;
}

std::vector<std::unique_ptr<MatrixGroup>> group_matrix_instructions(
    std::vector<Instruction>& instructions, const std::vector<bool>& is_target,
    unsigned first_spare_row, MfmaMode mode) {
  std::vector<std::unique_ptr<MatrixGroup>> groups(instructions.size());
  Waiting waiting(instructions, groups, first_spare_row, mode);
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    if (is_target[n]) waiting.run();
    if (is_matrix(instructions[n])) {
      groups[n] = std::make_unique<MatrixGroup>();
      waiting.add(n);
    } else {
      waiting.pass(instructions[n]);
    }
  }
  waiting.run();

  for (std::size_t first = 0; first < instructions.size();) {
    if (!groups[first]) {
      ++first;
      continue;
    }
    groups[first]->adjacent = adjacent_from(instructions, is_target, first, mode);
    first += groups[first]->adjacent.instructions;
  }
  // One whose effect comes later, and pauses, are passed over by the one before.
  const auto has_effect = [&](std::size_t n, const MatrixGroup& before) {
    if (!groups[n]) return !is_pause(instructions[n]);
    const MatrixGroup& group = *groups[n];
    return group.runs_in == nullptr || group.deferred.run || !group.deferred.before.empty() ||
           (group.needs_all_lanes && group.runs_in != before.runs_in);
  };
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    if (!groups[n]) continue;
    if (groups[n]->runs_in == nullptr) {
      if (!groups[n]->adjacent.run) groups[n].reset();  // runs by itself, observed or not
      continue;
    }
    std::size_t next = n + 1;
    while (next < instructions.size() && !is_target[next] && !has_effect(next, *groups[n])) ++next;
    groups[n]->deferred.instructions = static_cast<std::uint32_t>(next - n);
  }
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    if (!groups[n]) continue;
    instructions[n].constant[0] = std::bit_cast<std::uint64_t>(groups[n].get());
    instructions[n].execute = run_matrix_group;
  }
  std::erase(groups, nullptr);
  return groups;
}

}  // namespace margay
