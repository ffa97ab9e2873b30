// The memory instructions that a wave has in flight, and their registers. Finds registers that are
// used before their load was waited for.
//
// vmcnt and lgkmcnt count what is in flight. Vector memory instructions complete in order, so do
// LDS instructions; scalar loads do not, nor do flat ones (which count on both). A wait for N
// therefore proves that all but the newest N of the ordered ones are complete, and proves something
// about the others only if N is 0. For a flat access lgkmcnt counts the part in LDS and vmcnt the
// part in memory; its registers need both. Sources: MI300 ISA guide, 4.4; LLVM, AMDGPU backend,
// memory model GFX942, where a release at workgroup scope waits for lgkmcnt(0) after generic
// stores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "exec/program/lane_access.h"
#include "exec/state/wave.h"
#include "observe/check/findings/reporter.h"
#include "observe/check/instructions/facts.h"
#include "observe/check/sync/sync_points.h"
#include "observe/check/waits/adversary.h"
#include "observe/check/waits/site_counts.h"

namespace margay::check {

/// LDS that an instruction in flight accesses.
struct OutstandingLds {
  alignas(64) std::uint32_t at[kWaveLanes];
  std::uint64_t active = 0;
  std::uint8_t bytes = 0;
  bool is_write = false, direct = false, second = false;
};

struct Outstanding {
  const InstructionFacts* facts = nullptr;
  std::uint64_t lanes = 0;     ///< EXEC when it was issued.
  std::uint64_t serial = 0;    ///< Of the wave's memory instructions.
  std::uint32_t lds_step = 0;  ///< Number among the wave's LDS instructions; 0: it is not one.
  std::uint32_t phase_step = 0;
  std::uint8_t lds_count = 0;  ///< How many of `lds` are in use.
  bool waits_vm = false, waits_lgkm = false;
  std::uint64_t order = 0;       ///< Of its counter's instructions.
  std::uint64_t lgkm_order = 0;  ///< The same by lgkmcnt, where both counters count it.
  /// Two, allocated once an access to LDS uses the slot: most of the 64 of vmcnt never do.
  std::unique_ptr<OutstandingLds[]> lds;
  Learning learning;                              ///< What it will acquire.
  std::unique_ptr<DeferredInstruction> deferred;  ///< Adversarial runs: it has not been run yet.
};

/// First in, first out; as long as a counter can count.
class OutstandingRing {
 public:
  explicit OutstandingRing(unsigned capacity) : slots_(capacity + 1) {}
  [[nodiscard]] unsigned size() const { return size_; }
  [[nodiscard]] Outstanding& push() {
    Outstanding& slot = slots_[(first_ + size_) % slots_.size()];
    ++size_;
    return slot;
  }
  [[nodiscard]] Outstanding& oldest() { return slots_[first_]; }
  [[nodiscard]] Outstanding& at(unsigned n) { return slots_[(first_ + n) % slots_.size()]; }
  void pop() {
    first_ = static_cast<unsigned>((first_ + 1) % slots_.size());
    --size_;
  }
  void clear() { first_ = size_ = 0; }

 private:
  std::vector<Outstanding> slots_;
  unsigned first_ = 0, size_ = 0;
};

class WaitTracker {
 public:
  WaitTracker(Reporter& reporter, SiteTable& sites, bool report);

  void begin(std::uint32_t wave, std::uint32_t accum_offset);

  /// The instruction accesses registers with pending loads: checks and settles them.
  void touch(const InstructionFacts& facts, std::uint64_t exec);
  [[nodiscard]] const VgprMask& attention() const { return attention_; }
  [[nodiscard]] const std::array<std::uint64_t, 2>& scalar_attention() const {
    return scalar_attention_;
  }

  /// A memory instruction is issued; the caller adds its LDS accesses.
  [[nodiscard]] Outstanding& issue(const InstructionFacts& facts, std::uint64_t exec);
  void wait(const InstructionFacts& facts);
  /// All waves are at the barrier: it publishes what was waited for before it.
  void open_barrier();
  /// The last barrier was needed, and so were the waits before it. `sole`: no other barrier would
  /// have sufficed.
  void barrier_was_needed(bool sole);
  /// Others may see this wave's stores from here on (an atomic, a cache write-back).
  void release();
  /// The same if it is not known yet whether a wave will acquire it: returns the waits to credit
  /// then.
  [[nodiscard]] std::vector<Credit> release_later();

  /// The wave reads LDS that its own direct loads have filled, which the waits for them allow.
  void direct_was_read() {
    for (const Completion& completion : direct_completed_list_) needed(completion);
    direct_completed_list_.clear();
  }
  /// Whether that may be: waits for direct loads that nothing has been found to rely on.
  [[nodiscard]] bool has_direct_completed() const { return !direct_completed_list_.empty(); }

  /// Every LDS instruction up to this step is complete.
  [[nodiscard]] std::uint32_t lds_completed() const;
  /// Every instruction counted by vmcnt, up to this serial, is complete.
  [[nodiscard]] std::uint64_t vm_completed() const;
  [[nodiscard]] std::uint32_t lds_steps() const { return lds_step_; }
  [[nodiscard]] std::uint32_t direct_completed() const { return direct_completed_; }
  /// Calls `visit(Outstanding&)` for each instruction in flight that touches LDS, oldest first.
  template <typename F>
  void for_each_lds_in_flight(F&& visit) {
    for (OutstandingRing* ring : {&lgkm_, &vm_})
      for (unsigned n = 0; n < ring->size(); ++n)
        if (ring->at(n).lds_count != 0) visit(ring->at(n));
    for (Outstanding& flight : unordered_)
      if (flight.lds_count != 0 && flight.waits_lgkm) visit(flight);
  }
  void note_lds_step(Outstanding& flight, std::uint32_t phase_step) {
    flight.lds_step = ++lds_step_;
    flight.phase_step = phase_step;
  }
  /// Called with each instruction in flight when it is known to be complete, in order.
  std::function<void(Outstanding&)> on_complete;
  /// Called when only the LDS part of a flat access is complete; on_complete follows.
  std::function<void(Outstanding&)> on_lds_complete;
  /// Calls `visit(Outstanding&)` for everything in flight, in the order of issue.
  template <typename F>
  void for_each_in_order(F&& visit) {
    std::vector<Outstanding*> all;
    for (OutstandingRing* ring : {&vm_, &lgkm_})
      for (unsigned n = 0; n < ring->size(); ++n) all.push_back(&ring->at(n));
    for (Outstanding& flight : unordered_) all.push_back(&flight);
    std::ranges::sort(all, {}, &Outstanding::serial);
    for (Outstanding* const flight : all) visit(*flight);
  }
  /// The wave ends: whatever is in flight completes.
  void drain();

 private:
  struct Pending {
    std::uint64_t serial = 0;  // of the instruction that will write it
    std::uint64_t lanes = 0;
    const InstructionFacts* facts = nullptr;
    bool reported = false;
  };
  void complete(Outstanding& flight, bool by_wait);
  void lds_part_completes(const Outstanding& flight);
  void store_completes(const Outstanding& flight);
  void needed(const Completion& completion) {
    if (completion.wait != 0) sites_.needed(history_.credit(completion));
  }
  void settle_row(unsigned row, const InstructionFacts& facts, std::uint64_t exec);
  void settle_scalar(unsigned index, const InstructionFacts& facts);
  void report_early(const Pending& pending, const InstructionFacts& facts, std::uint64_t lanes,
                    bool reads, const std::string& name);
  [[nodiscard]] Statement wait_for(const Pending& pending);

  Reporter& reporter_;
  SiteTable& sites_;
  bool report_;
  std::uint32_t wave_ = 0, accum_offset_ = 0;
  std::uint64_t serial_ = 0;
  std::uint32_t lds_step_ = 0, direct_completed_ = 0;
  OutstandingRing vm_{kVmCapacity}, lgkm_{kLgkmCapacity};
  std::vector<Outstanding> unordered_;  // scalar loads and flat accesses

  VgprMask attention_{}, pending_{};
  std::array<std::uint64_t, 2> scalar_attention_{}, scalar_pending_{};
  std::array<Pending, 512> rows_;
  std::array<Pending, 128> scalars_;
  WaitHistory history_;
  std::uint32_t current_site_ = 0;
  std::array<std::uint64_t, 2> issued_ = {};  // by Counter
  std::array<Completion, 512> row_completions_;
  std::array<Completion, 128> scalar_completions_;
  /// LDS instructions completed since the last barrier; what earlier barriers published.
  std::vector<Completion> lds_completed_list_;
  std::vector<Completion> direct_completed_list_;  ///< Of direct loads, since direct_was_read().
  std::vector<Credit> published_;
  /// The published part that only one wait before the last barrier has proven complete.
  struct Sole {
    Completion completion;
    Credit credit;
  };
  std::vector<Sole> published_alone_;
  std::vector<Completion> stores_completed_;
};

}  // namespace margay::check
