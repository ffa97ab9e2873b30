// What the checks need to know of an instruction, found once per host thread and instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/instruction.h"
#include "exec/lane_access.h"
#include "exec/register_use.h"
#include "observe/check/hazards.h"
#include "observe/check/undefined_results.h"

namespace margay::check {

/// Where a checker has to do more than to follow registers.
enum class Action : std::uint8_t { none, memory, wait, barrier, fence, end, matrix };

/// The counts of an s_waitcnt; all ones means that a counter is not waited for.
/// Source: MI300 ISA guide, 4.4 and 12.4 (s_waitcnt).
struct WaitCounts {
  std::uint8_t vm = 63, exp = 7, lgkm = 15;
};
inline constexpr unsigned kVmCapacity = 63, kLgkmCapacity = 15;
[[nodiscard]] constexpr WaitCounts wait_counts(std::uint32_t immediate) {
  return {static_cast<std::uint8_t>((immediate & 15) | (immediate >> 14 & 3) << 4),
          static_cast<std::uint8_t>(immediate >> 4 & 7),
          static_cast<std::uint8_t>(immediate >> 8 & 15)};
}

/// Which counters an instruction in flight is counted by.
struct Counters {
  bool vm = false, lgkm = false;
  bool in_order = true;  ///< Completes in the order of issue among its kind.
};

inline constexpr std::uint32_t kNoSite = ~std::uint32_t{0};

/// Whether an instruction's place in LDS moves from one barrier to the next, for all lanes alike,
/// as in a buffer with several stages. Of one wave's first execution after each barrier.
class StageMemo {
 public:
  /// True when it turns out now that it does. `phase`: counts barriers within a workgroup.
  [[nodiscard]] bool moves(unsigned wave, std::uint32_t phase, const LaneAccess& access);

 private:
  std::uint32_t phase_ = 0;
  std::uint64_t active_ = 0, first_ = 0, last_ = 0;
  std::uint8_t wave_ = 0;
  bool moves_ = false;
};

struct InstructionFacts {
  VgprMask touched{};  ///< Rows read or written.
  std::array<std::uint64_t, 2> scalar_touched{};
  Action action = Action::none;
  MemoryForm form;
  Counters counters;
  WaitCounts wait;
  bool invalidates = false;      ///< buffer_inv of agent scope or wider.
  bool writes_back = false;      ///< buffer_wbl2 of agent scope or wider.
  bool scoped = false;           ///< A global atomic, or an access with a scope (sc0, sc1).
  bool agent_scope = false;      ///< Of these: other workgroups take part.
  bool releases_word = false;    ///< An atomic, or a global store with a scope.
  bool acquires_word = false;    ///< An atomic that returns, a load with a scope, or a poll.
  bool lds_atomic = false;       ///< As far as it touches LDS: an atomic, or of workgroup scope.
  bool compares = false;         ///< A compare-and-swap: it may write nothing.
  bool swaps = false;            ///< An exchange: it does not look at what it replaces.
  bool polls = false;            ///< A load that waits for another wave (polls.h).
  std::uint32_t site = kNoSite;  ///< Waits, barriers, fences: index into the worker's sites.
  std::uint32_t vaddr = 0;
  RegisterUse use;
  ResultRule result;             ///< ALUs: what undefined bits do to the result.
  bool moves_registers = false;  ///< Not the registers that `touched` says: M0 is added.
  HazardFacts hazard;
  HazardMemo memo;
  StageMemo stage;
  const Instruction* instruction = nullptr;
};

/// The facts of a code object's instructions, by address.
class FactsTable {
 public:
  /// For code in [begin, end) of the image.
  FactsTable(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] InstructionFacts& of(const Instruction& i) {
    InstructionFacts*& slot = facts_[(i.vaddr - begin_) / 4];
    if (slot == nullptr) slot = made_.emplace_back(make(i)).get();
    slot->instruction = &i;  // of the copies of the code, the one that the wave runs
    return *slot;
  }
  /// Waits, barriers and fences that ran, in the order of Site indices.
  [[nodiscard]] const std::vector<const InstructionFacts*>& sites() const { return sites_; }

 private:
  [[nodiscard]] std::unique_ptr<InstructionFacts> make(const Instruction& i);

  struct Free {
    void operator()(InstructionFacts** table) const;
  };
  std::uint64_t begin_;
  /// A launch runs little of a large code object: pages that it does not look at are never made.
  std::unique_ptr<InstructionFacts*[], Free> facts_;
  std::vector<std::unique_ptr<InstructionFacts>> made_;
  std::vector<const InstructionFacts*> sites_;
};

}  // namespace margay::check
