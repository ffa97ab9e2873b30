#include "observe/check/instructions/polls.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "exec/program/lane_access.h"
#include "exec/program/register_use.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"

namespace margay::check {
namespace {

using Path = MemoryForm::Path;

/// The longest loop that is regarded as waiting, and the maximum distance of its first test before
/// it.
constexpr std::ptrdiff_t kLongestPollLoop = 64, kPeeled = 48;

/// VGPR rows, scalars and SCC.
struct Registers {
  VgprMask rows{};
  std::array<std::uint64_t, 2> scalars{};
  bool scc = false;

  void add(const Registers& other) {
    for (std::size_t n = 0; n < rows.size(); ++n) rows[n] |= other.rows[n];
    for (std::size_t n = 0; n < scalars.size(); ++n) scalars[n] |= other.scalars[n];
    scc |= other.scc;
  }
  [[nodiscard]] Registers without(const Registers& other) const {
    Registers out = *this;
    for (std::size_t n = 0; n < rows.size(); ++n) out.rows[n] &= ~other.rows[n];
    for (std::size_t n = 0; n < scalars.size(); ++n) out.scalars[n] &= ~other.scalars[n];
    out.scc &= !other.scc;
    return out;
  }
  [[nodiscard]] bool none() const {
    return !scc && std::ranges::all_of(rows, [](std::uint64_t word) { return word == 0; }) &&
           std::ranges::all_of(scalars, [](std::uint64_t word) { return word == 0; });
  }
  [[nodiscard]] bool meets(const Registers& other) const { return !without(without(other)).none(); }
};

struct Step {
  const Instruction* instruction = nullptr;
  Registers reads, writes;
  bool is_memory = false;
};

Step step_of(const Instruction& i) {
  const RegisterUse use = register_use(i);
  return {&i,
          {use.reads, use.scalar_reads, use.reads_scc},
          {use.writes, use.scalar_writes, use.writes_scc},
          memory_form(i).path != Path::none};
}

bool is_conditional_branch(const Instruction& i) { return i.row->flow == Flow::branch_if; }
bool is_compare(const Instruction& i) {
  // Only SCC is left of the scalar ones.
  const Row& row = *i.row;
  return row.result == OperandType::mask ||
         (row.instruction_class == InstructionClass::salu && row.result == OperandType::none &&
          row.state.scc == Effect::writes);
}
bool is_scalar(const Instruction& i) { return i.row->instruction_class == InstructionClass::salu; }
/// Waiting loops do none of these.
bool works(const Instruction& i) {
  const MemoryForm form = memory_form(i);
  const Flow flow = i.row->flow;
  return form.is_write || form.to_lds || i.row->instruction_class == InstructionClass::mfma ||
         flow == Flow::barrier || flow == Flow::jump || flow == Flow::call || flow == Flow::end;
}

/// A loop, from its first instruction to the branch back to it.
class Loop {
 public:
  explicit Loop(std::span<const Instruction> body) {
    for (const Instruction& i : body) {
      steps_.push_back(step_of(i));
      all_writes_.add(steps_.back().writes);
    }
  }
  [[nodiscard]] bool waits_for(const Instruction& load) const {
    const auto at = std::ranges::find(steps_, &load, &Step::instruction);
    if (at == steps_.end()) return false;
    if (!unchanged(at->reads, static_cast<std::size_t>(at - steps_.begin()))) return false;
    Registers values = at->writes, conditions;
    // Everything computed from the value and from invariants, up to a fixed point.
    for (std::size_t round = 0; round < steps_.size(); ++round) {
      const Registers values_before = values, conditions_before = conditions;
      for (std::size_t n = 0; n < steps_.size(); ++n) {
        const Step& step = steps_[n];
        if (step.is_memory) continue;
        if (step.reads.meets(conditions)) {
          if (is_conditional_branch(*step.instruction)) return true;
          (is_scalar(*step.instruction) ? conditions : values).add(step.writes);
        }
        if (!step.reads.meets(values) || !unchanged(step.reads.without(values), n)) continue;
        Registers scc_only;
        scc_only.scc = step.writes.scc;
        if (is_compare(*step.instruction))
          conditions.add(step.writes);
        else
          values.add(step.writes), conditions.add(scc_only);
      }
      if (values.without(values_before).none() && conditions.without(conditions_before).none())
        return false;
    }
    return false;
  }

 private:
  /// Registers that have the same values in every iteration when the step `at` reads them: not
  /// written in the loop, or recomputed before it from such registers.
  [[nodiscard]] bool unchanged(const Registers& registers, std::size_t at) const {
    Registers exec;  // lanes that have seen the awaited value leave the loop
    exec.scalars[1] = 3ull << 62;
    Registers written = registers.without(registers.without(all_writes_)).without(exec);
    while (!written.none() && at-- > 0) {
      const Step& step = steps_[at];
      if (!step.writes.meets(written)) continue;
      if (step.is_memory || !unchanged(step.reads, at)) return false;
      written = written.without(step.writes);
    }
    return written.none();
  }

  std::vector<Step> steps_;
  Registers all_writes_;
};

/// The smallest loop around `load` that only waits for it; empty: there is none.
std::span<const Instruction> waiting_loop(const Instruction& load) {
  for (const Instruction* last = &load; last - &load < kLongestPollLoop; ++last) {
    if (last->row == nullptr || works(*last)) return {};
    if (!is_relative_branch(*last->row) || last->offset > 0) continue;
    const Instruction* const first = last + last->offset;
    if (first > &load || last - first >= kLongestPollLoop) continue;
    if (std::any_of(first, &load,
                    [](const Instruction& i) { return i.row == nullptr || works(i); }))
      continue;
    const std::span<const Instruction> body{first, last + 1};
    if (Loop(body).waits_for(load)) return body;
  }
  return {};
}

/// The first test of a loop, which compilers hoist: `load` decides whether to skip the waiting loop
/// that follows, which polls a value of the same kind. The address is often computed differently
/// and cannot be compared.
bool is_first_test(const Instruction& load) {
  Registers values = step_of(load).writes, conditions;
  const Instruction* past = nullptr;  // the target of the test when there is nothing to wait for
  for (const Instruction* next = &load + 1; next - &load < kPeeled; ++next) {
    if (next->row == nullptr || works(*next)) return false;
    if (past != nullptr && next->row == load.row) {
      const std::span<const Instruction> loop = waiting_loop(*next);
      return !loop.empty() && loop.data() > &load && past == loop.data() + loop.size();
    }
    const Step step = step_of(*next);
    if (is_conditional_branch(*next) && step.reads.meets(conditions)) {
      past = next + next->offset;
      continue;
    }
    if (past != nullptr) continue;
    const bool of_value = step.reads.meets(values), of_condition = step.reads.meets(conditions);
    values = values.without(step.writes);
    conditions = conditions.without(step.writes);
    if (step.is_memory) continue;
    if (of_condition || (of_value && is_compare(*next)))
      conditions.add(step.writes);
    else if (of_value)
      values.add(step.writes);
  }
  return false;
}

}  // namespace

bool is_poll(const Instruction& load) {
  const MemoryForm form = memory_form(load);
  // A scalar load sees what others write with GLC only.
  const bool cached = form.path == Path::scalar && (load.extra & extra::kSc0) == 0;
  if (!form.is_read || form.is_write || form.to_lds || cached || form.path == Path::scratch)
    return false;
  return !waiting_loop(load).empty() || is_first_test(load);
}

SyncMeans sync_means(const Program& program) {
  SyncMeans means;
  const Instruction* i = program.entry(mode::kUsual);
  for (; i->execute != run_off_the_end; ++i) {
    if (i->row == nullptr) continue;
    if (i->row->flow == Flow::call || i->row->flow == Flow::jump)
      return {true, true, true, true, true};  // any function it calls may do it
    const bool agent = (i->extra & extra::kSc1) != 0;
    means.releases |= agent && i->row->cache == CacheAction::write_back;
    means.acquires |= agent && i->row->cache == CacheAction::invalidate;
    means.global |= i->row->flow == Flow::grid_barrier;
    const MemoryForm form = memory_form(*i);
    if (!form.is_read || form.to_lds) continue;
    const bool returns = form.is_atomic && register_use(*i).destination.count != 0;
    const bool poll = !form.is_atomic && is_poll(*i);
    const auto kind = i->row->instruction_class;
    const bool scoped = !form.is_atomic &&
                        (kind == InstructionClass::vmem || kind == InstructionClass::smem) &&
                        (i->extra & (extra::kSc0 | extra::kSc1)) != 0;
    const bool lds = form.path == Path::ds || form.path == Path::ds_two || form.path == Path::flat;
    const bool global = form.path != Path::ds && form.path != Path::ds_two;
    // (A volatile LDS access by a flat instruction is not a flag by itself; facts.cpp.)
    if (!returns && !poll && !scoped && !(form.is_atomic && form.path == Path::scalar)) continue;
    means.lds |= lds;
    means.lds_polls |= lds && poll;
    means.global |= global;
  }
  return means;
}

}  // namespace margay::check
