// The facts about an instruction that the checks need.
#pragma once

#include <cstdint>

#include "exec/program/facts_table.h"
#include "exec/program/instruction_facts.h"
#include "observe/check/instructions/hazards.h"
#include "observe/check/instructions/undefined_results.h"

namespace margay::check {

/// Instructions for which the checker does more than follow registers.
enum class Action : std::uint8_t { none, memory, wait, barrier, grid_barrier, fence, end, matrix };

/// Whether an instruction's address in LDS moves from one barrier to the next, by the same distance
/// for all lanes, as in a buffer with several stages. Considers one wave's first execution after
/// each barrier.
class StageMemo {
 public:
  /// True when this execution shows that it does. `phase`: counts barriers within a workgroup.
  [[nodiscard]] bool moves(unsigned wave, std::uint32_t phase, const LaneAccess& access);

 private:
  std::uint32_t phase_ = 0;
  std::uint64_t active_ = 0, first_ = 0, last_ = 0;
  std::uint8_t wave_ = 0;
  bool moves_ = false;
};

struct InstructionFacts : margay::InstructionFacts {
  InstructionFacts() = default;
  InstructionFacts(const Instruction& i, std::uint32_t number);

  VgprMask touched{};  ///< Rows read or written.
  std::array<std::uint64_t, 2> scalar_touched{};
  Action action = Action::none;
  bool invalidates = false;      ///< buffer_inv of agent scope or wider.
  bool writes_back = false;      ///< buffer_wbl2 of agent scope or wider.
  bool scoped = false;           ///< A global atomic, or an access with a scope (sc0, sc1).
  bool agent_scope = false;      ///< One of these whose scope includes other workgroups.
  bool releases_word = false;    ///< An atomic, or a global store with a scope.
  bool acquires_word = false;    ///< An atomic that returns, a load with a scope, or a poll.
  bool lds_atomic = false;       ///< For its LDS accesses: an atomic, or of workgroup scope.
  bool compares = false;         ///< A compare-and-swap: it may write nothing.
  bool swaps = false;            ///< An exchange: the new value does not depend on the old one.
  bool polls = false;            ///< A load that waits for another wave (polls.h).
  bool moves_registers = false;  ///< Accesses other registers than those in `touched`: M0 is added.
  ResultRule result;             ///< ALUs: the effect of undefined bits on the result.
  HazardFacts hazard;
  mutable HazardMemo memo;
};
/// The facts of a program's instructions; Program::facts<InstructionFacts>().
using Facts = FactsTable<InstructionFacts>;

}  // namespace margay::check
