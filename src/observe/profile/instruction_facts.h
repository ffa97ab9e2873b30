// What the profiler needs to know of an instruction: what each execution adds to the counters, how
// long it holds its unit, which memory it touches. Found once per host thread and instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/instruction.h"
#include "exec/lane_access.h"
#include "observe/profile/counters.h"

namespace margay::profile {

/// What an observer has to do beside counting.
enum class Action : std::uint8_t { count, lds, vector_memory, scalar_memory, wait, barrier };

struct InstructionFacts {
  const Instruction* instruction = nullptr;
  std::uint32_t vaddr = 0;
  std::uint8_t bytes = 4;  ///< Of code.
  Action action = Action::count;
  InstructionClass instruction_class = InstructionClass::other;
  /// Issue slots of four cycles that it takes from its wave: MFMA its passes, transcendentals 4.
  std::uint8_t quad_cycles = 1;
  std::uint32_t flops_per_lane = 0;
  std::uint32_t matrix_flops = 0;  ///< MFMA: of the whole instruction, whatever EXEC is.
  std::optional<Counter> kind;     ///< VALU: what is counted beside SQ_INSTS_VALU.
  std::optional<Counter> matrix_kind, matrix_operations;
  bool is_message = false;  ///< s_sendmsg and s_endpgm.
  bool is_buffer = false, is_scratch = false;
  bool returns_value = false;  ///< Atomics.
  bool bypasses_l1 = false;    ///< nt or sc1: vL1D does not keep the line.
  bool counts_vm = false, counts_lgkm = false;
  MemoryForm form;
};

/// What `executions` of the instruction by waves, with `lanes` active lanes in all, add to those
/// counters that depend on nothing else.
void add_executions(const InstructionFacts& facts, std::uint64_t executions, std::uint64_t lanes,
                    Counters& counters);

/// The facts of a code object's instructions, by address.
class FactsTable {
 public:
  /// For code in [begin, end) of the image.
  FactsTable(std::uint64_t begin, std::uint64_t end) : begin_(begin), facts_((end - begin) / 4) {}

  [[nodiscard]] std::size_t slots() const { return facts_.size(); }
  [[nodiscard]] std::size_t slot_of(const Instruction& i) const { return (i.vaddr - begin_) / 4; }
  [[nodiscard]] const InstructionFacts& of(const Instruction& i) {
    auto& slot = facts_[slot_of(i)];
    if (slot == nullptr) [[unlikely]]
      slot = make(i);
    return *slot;
  }
  /// Null where nothing ran.
  [[nodiscard]] const InstructionFacts* at(std::size_t slot) const { return facts_[slot].get(); }

 private:
  [[nodiscard]] static std::unique_ptr<InstructionFacts> make(const Instruction& i);

  std::uint64_t begin_;
  std::vector<std::unique_ptr<InstructionFacts>> facts_;
};

}  // namespace margay::profile
