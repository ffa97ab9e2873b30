// The points where the waves of a workgroup synchronise with each other and with other workgroups:
// atomics, accesses with a scope, polls, fences. wave_order.h tracks what is learnt; this file
// tracks how.
//
//   releases   LDS and global atomics; global stores with a scope (sc0, sc1); any store to a word
//              that is polled
//   acquires   atomics that return a value, global loads with a scope, reads of words that are
//              polled; from the bytes read, once the read is complete
//
// A value that is never read orders nothing.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/program/lane_access.h"
#include "observe/check/instructions/facts.h"
#include "observe/check/instructions/polls.h"
#include "observe/check/lds/lds_shadow.h"
#include "observe/check/order/wave_order.h"

namespace margay::check {

/// What an instruction in flight acquires when it completes.
struct Learning {
  std::vector<std::uint32_t> known;  ///< From the workgroup, by SyncPoints' numbers.
  SyncGraph::Vertex seen = 0;        ///< From others.
  [[nodiscard]] bool any() const { return !known.empty() || seen != 0; }
  void clear() {
    known.clear();
    seen = 0;
  }
};

/// The lanes of an access that write: for a compare-and-swap only those whose comparison succeeds.
/// Lanes that succeed only because another one has changed the same bytes are excluded. Call before
/// the instruction runs.
[[nodiscard]] std::uint64_t lanes_that_change(const InstructionFacts& facts,
                                              const LaneAccess& access, const Wave& wave);

class SyncPoints {
 public:
  /// `graph`: null when workgroups do not synchronise.
  SyncPoints(SyncMeans means, SyncGraph* graph, LdsShadow& lds)
      : means_(means), graph_(graph), lds_(lds), order_(graph) {}

  void begin_workgroup(std::uint32_t workgroup, unsigned waves);
  /// False: only barriers order the waves, and nothing orders workgroups.
  [[nodiscard]] bool active() const { return means_.any(); }
  [[nodiscard]] SyncGraph* graph() const { return graph_; }
  [[nodiscard]] WaveOrder& order() { return order_; }

  /// The wave is about to access LDS; all its LDS steps up to `lds_completed` are complete.
  /// `access` and `changed`: see lanes_that_change().
  void lds_access(const InstructionFacts& facts, const LaneAccess& access, std::uint64_t changed,
                  unsigned wave, std::uint32_t step, std::uint32_t lds_completed,
                  Learning& learning);
  /// Records lock owners, if the access is an atomic on LDS that may take a lock. Call before it
  /// runs, with its operands in the wave's registers.
  void lds_lock(const InstructionFacts& facts, const LaneAccess& access, const Wave& wave);
  /// The acquiring part. If reads are deferred (--adversarial), called again when they are
  /// executed.
  void lds_read(const InstructionFacts& facts, const LaneAccess& access, Learning& learning);
  /// Whether the instruction may release or acquire through global memory.
  [[nodiscard]] bool syncs(const InstructionFacts& facts) const {
    return means_.global && (facts.releases_word || facts.acquires_word);
  }
  /// The same for global memory, by an instruction that syncs(); under the graph's lock. The first
  /// is called before the access is recorded, if it releases, the second after; it returns what
  /// other workgroups may acquire, or 0.
  void before_release(unsigned wave, std::uint32_t lds_completed);
  SyncGraph::Vertex global_access(const InstructionFacts& facts, const LaneAccess& access,
                                  std::uint64_t changed, unsigned wave, Learning& learning);
  /// The wave reaches the barrier of a cooperative launch, after before_release(); it leaves it.
  void reach_grid_barrier(unsigned wave);
  void leave_grid_barrier(unsigned wave);
  /// The read is complete.
  void learn(unsigned wave, Learning& learning);
  void barrier(const Clock& lds_completed);

 private:
  /// Bytes of a dword that were written together, unless overwritten.
  struct Part {
    std::uint8_t mask = 0;
    std::uint32_t known = 0;
  };
  struct Released {
    std::uint32_t changes = ~0u, lds_completed = 0, lds_atomic = 0;
    std::uint32_t known = 0;
  };
  /// A store to LDS that may be to a flag.
  struct LdsStore {
    std::uint32_t step = 0, known = 0;
  };
  static constexpr std::uint64_t kLds = 1ull << 62;  // keys of words_ that are LDS offsets
  /// Pseudo-addresses of the grid's barriers, each modelled as a word of memory: a workgroup that
  /// leaves one late must not learn of those that have reached the next.
  static constexpr std::uint64_t kGridBarriers = 1ull << 62;
  static constexpr std::uint8_t kWhole = 0xf;

  /// `lds_atomic`: the wave's last atomic on LDS, or this one.
  [[nodiscard]] std::uint32_t release(unsigned wave, std::uint32_t lds_completed,
                                      std::uint32_t lds_atomic);
  [[nodiscard]] std::uint32_t join(std::uint32_t a, std::uint32_t b);
  void stored(std::uint64_t key, std::uint8_t mask, std::uint32_t known);
  void changed(std::uint64_t key, std::uint8_t mask, std::uint32_t known);
  void acquire(std::uint64_t key, std::uint8_t mask, Learning& learning);
  /// Drops what can no longer be acquired. No instruction in flight may be about to acquire.
  void collect();
  [[nodiscard]] std::uint64_t grid_barrier() const { return kGridBarriers + 4 * grid_barriers_; }
  void make_flag(std::uint32_t dword, std::uint8_t mask);
  /// Whether the plain store is one to a lock that the wave holds.
  bool gives_lock_back(const LaneAccess& access, unsigned wave);

  SyncMeans means_;
  SyncGraph* graph_;
  LdsShadow& lds_;
  WaveOrder order_;
  static constexpr std::size_t kCollectAt = 4096;
  std::vector<Knowledge> known_;
  std::size_t collect_at_ = kCollectAt;  // entries of known_
  std::uint32_t learning_ = 0;           // instructions in flight that will acquire some
  std::unordered_map<std::uint64_t, std::uint32_t> joined_;
  std::unordered_map<std::uint64_t, std::vector<Part>> words_;
  std::array<Released, kMaxWaves> released_{};
  Clock last_lds_atomic_{};
  std::array<std::vector<LdsStore>, kMaxWaves> lds_stores_;  // of the phase
  std::bitset<(64 * 1024) / 4> flags_;                       // dwords of LDS that are polled
  bool has_flags_ = false;
  std::uint64_t grid_barriers_ = 0;  // that the workgroup has reached
  std::unordered_map<std::uint32_t, unsigned>
      lock_holders_;  // by dword: the wave whose atomic changed it last
};

}  // namespace margay::check
