// The facts about an instruction that the profiler needs: what each execution adds to the counters,
// how long it occupies its unit, which memory it accesses.
#pragma once

#include <cstdint>
#include <optional>

#include "exec/program/facts_table.h"
#include "exec/program/instruction_facts.h"
#include "report/profile/counters.h"
#include "timing/recording.h"

namespace margay::profile {

/// The work of an observer in addition to counting.
enum class Action : std::uint8_t { count, lds, vector_memory, scalar_memory, wait, barrier };

struct InstructionFacts : margay::InstructionFacts {
  InstructionFacts() = default;
  InstructionFacts(const Instruction& i, std::uint32_t number);

  std::uint8_t bytes = 4;  ///< Of code.
  Action action = Action::count;
  InstructionClass instruction_class = InstructionClass::other;
  /// Issue slots of four cycles that it takes from its wave: MFMA its passes, transcendentals 4.
  std::uint8_t quad_cycles = 1;
  std::uint32_t flops_per_lane = 0;
  std::uint32_t matrix_flops = 0;  ///< MFMA: of the whole instruction, regardless of EXEC.
  std::optional<Counter> kind;     ///< VALU: what is counted in addition to SQ_INSTS_VALU.
  std::optional<Counter> matrix_kind, matrix_operations;
  bool is_message = false;  ///< s_sendmsg and s_endpgm.
  bool is_buffer = false;
  bool returns_value = false;  ///< Atomics.
  bool bypasses_l1 = false;    ///< nt or sc1: vL1D does not keep the line.
  timing::Instruction timed;
};
/// The facts of a program's instructions; Program::facts<InstructionFacts>().
using Facts = FactsTable<InstructionFacts>;

/// Adds `executions` of the instruction by waves, with `lanes` active lanes in total, to the
/// counters that depend on nothing else.
void add_executions(const InstructionFacts& facts, std::uint64_t executions, std::uint64_t lanes,
                    Counters& counters);

}  // namespace margay::profile
