// Software wait states: pairs of instructions between which a program must place independent
// instructions or s_nop, because the hardware does not interlock them. The compiler does this;
// omissions in inline or hand-written assembly are found here, on the path that a wave took. The
// rules are the device's (gpu/wait_states.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/program/register_use.h"
#include "exec/state/instruction.h"
#include "gpu/wait_states.h"

namespace margay::check {

/// The facts about one instruction that the rules need, computed once.
struct HazardFacts {
  std::uint32_t kind = 0;        ///< Bits of wait_states::Kind.
  std::uint8_t wait_states = 1;  ///< Its own wait states: s_nop n has n + 1.
  std::uint8_t passes = 0;       ///< MFMA: of four cycles each.
  std::uint8_t hardware_register = 0;
  RegisterRange sources[4];  ///< As in RegisterUse.
  RegisterRange results[2];  ///< v_swap_b32 has two.
  std::array<std::uint64_t, 2> scalar_reads{}, scalar_writes{}, lane_select{};
  std::array<std::uint64_t, 2> mask_reads{};  ///< A bit per lane that selects: v_cndmask_b32.
};
[[nodiscard]] HazardFacts hazard_facts(const Instruction& instruction, const RegisterUse& use);

/// Hazard::row of scalars: 512 + their index. Of hardware registers (s_setreg): none.
inline constexpr std::uint16_t kFirstScalarRow = 512, kNoHazardRow = 0xffff;
/// "v12", "a3", "s7", "vcc_lo", "m0", "exec_hi"; for Hazard::row and rows of the VGPR file.
[[nodiscard]] std::string register_name(unsigned row, unsigned accum_offset);

struct Hazard {
  const Instruction* producer = nullptr;
  unsigned needed = 0;  ///< Wait states between producer and consumer.
  unsigned had = 0;
  std::uint16_t row = kNoHazardRow;
  wait_states::Hazard hazard{};
  bool is_tolerated = false;  ///< As in wait_states::Rule.
  /// With a skipped s_branch counted there are enough: LLVM counts it.
  bool is_compilers_count = false;

  /// It is right on the hardware.
  [[nodiscard]] bool is_note() const { return is_tolerated || is_compilers_count; }
};

/// What a HazardWindow stores per instruction to avoid checking the same path again.
/// Zero-initialised for each decoded program; all waves and host threads may share it.
struct HazardMemo {
  /// For two paths: a loop is entered by one and repeated by another.
  std::array<std::uint64_t, 2> keys = {~std::uint64_t{0}, ~std::uint64_t{0}};
};

/// Paths that one host thread has checked. Short loops with branches have more paths to an
/// instruction than a HazardMemo holds.
class CheckedPaths {
 public:
  [[nodiscard]] bool contain(std::uint64_t path) const {
    return !paths_.empty() && paths_[path % kPlaces] == path;
  }
  void add(std::uint64_t path) {
    paths_.resize(kPlaces);  // the first time: most checks have no use for it
    paths_[path % kPlaces] = path;
  }

 private:
  static constexpr std::size_t kPlaces = 4096;
  std::vector<std::uint64_t> paths_;
};

/// The last wait states of one wave.
class HazardWindow {
 public:
  /// The rules are those of the device. They, and `checked`, must live as long as the window.
  HazardWindow(const wait_states::Rules& rules, CheckedPaths& checked)
      : rules_(&rules), checked_(&checked) {}
  /// Before a wave's first instruction.
  void reset() { *this = HazardWindow(*rules_, *checked_); }

  /// Returns the violated rule with the largest shortfall, if any; then records the instruction.
  /// `instruction` and `facts` must live as long as the window may refer to them.
  [[nodiscard]] std::optional<Hazard> step(const Instruction& instruction, const HazardFacts& facts,
                                           HazardMemo& memo) {
    if (&instruction != next_) note_branch(instruction);
    std::optional<Hazard> found;
    // The outcome depends only on the path to here: the key identifies the jumps among the last
    // instructions, and instructions between jumps are consecutive.
    if (!is_known(memo)) found = judge(instruction, facts, memo);
    entries_[count_++ % kEntries] = {&instruction, &facts};
    next_ = &instruction + 1;
    return found;
  }

 private:
  struct Entry {
    const Instruction* instruction = nullptr;
    const HazardFacts* facts = nullptr;
  };
  struct Branch {
    const Instruction* from = nullptr;
    const Instruction* to = nullptr;
    std::uint64_t at = 0;  ///< Instructions issued before it.
  };
  static constexpr unsigned kEntries = 32;  // a power of two not below any processor's reach()

  /// Instructions that are further back, in wait states, do not matter.
  [[nodiscard]] unsigned reach() const { return std::min(rules_->longest + 1, kEntries); }

  [[nodiscard]] bool is_known(const HazardMemo& memo) const {
    return __atomic_load_n(&memo.keys[0], __ATOMIC_RELAXED) == key_ ||
           __atomic_load_n(&memo.keys[1], __ATOMIC_RELAXED) == key_;
  }
  void note_branch(const Instruction& target);
  [[nodiscard]] std::optional<Hazard> judge(const Instruction& instruction,
                                            const HazardFacts& facts, HazardMemo& memo);

  const wait_states::Rules* rules_;
  CheckedPaths* checked_;
  std::array<Entry, kEntries> entries_ = {};  ///< Each counts one wait state at least.
  std::array<Branch, kEntries> branches_ = {};
  std::uint64_t count_ = 0, branch_count_ = 0;
  std::uint64_t key_ = 0;              ///< Of the path; 0 when it has no jump.
  const Instruction* next_ = nullptr;  ///< What follows without a branch.
};

}  // namespace margay::check
