// Where the waves of a workgroup learn of each other and of other workgroups: atomics, accesses
// with a scope, polls, fences. What is learnt is wave_order.h; here is by what.
//
//   releases   LDS and global atomics; global stores with a scope (sc0, sc1); any store to a word
//              that is polled
//   acquires   atomics that return a value, global loads with a scope, reads of words that are
//              polled; of what stands in the bytes, once the read is complete
//
// What nobody looks at orders nothing.
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

/// What an instruction in flight will have acquired when it is complete.
struct Learning {
  std::vector<std::uint32_t> known;  ///< Of the workgroup, by SyncPoints' numbers.
  SyncGraph::Vertex seen = 0;        ///< Of others.
  [[nodiscard]] bool any() const { return !known.empty() || seen != 0; }
  void clear() {
    known.clear();
    seen = 0;
  }
};

/// The lanes of an access that write: of a compare-and-swap only those that find what they compare
/// with. Lanes that come to succeed because another one has changed the same bytes are left out.
/// Before the instruction runs.
[[nodiscard]] std::uint64_t lanes_that_change(const InstructionFacts& facts,
                                              const LaneAccess& access, const Wave& wave);

class SyncPoints {
 public:
  /// `graph`: null when nothing passes between workgroups.
  SyncPoints(SyncMeans means, SyncGraph* graph, LdsShadow& lds)
      : means_(means), graph_(graph), lds_(lds), order_(graph) {}

  void begin_workgroup(std::uint32_t workgroup, unsigned waves);
  /// False: barriers alone order the waves, and nothing orders workgroups.
  [[nodiscard]] bool active() const { return means_.any(); }
  [[nodiscard]] SyncGraph* graph() const { return graph_; }
  [[nodiscard]] WaveOrder& order() { return order_; }

  /// The wave is about to access LDS; every LDS step of it up to `lds_completed` is complete.
  /// `access` and `changed`: see lanes_that_change().
  void lds_access(const InstructionFacts& facts, const LaneAccess& access, std::uint64_t changed,
                  unsigned wave, std::uint32_t step, std::uint32_t lds_completed,
                  Learning& learning);
  /// Notes who holds which lock, if the access is an atomic on LDS that may take one. Before it
  /// runs, its operands in the wave's registers.
  void lds_lock(const InstructionFacts& facts, const LaneAccess& access, const Wave& wave);
  /// The part of it that learns. Where reads are put off (--adversarial), again when they are made.
  void lds_read(const InstructionFacts& facts, const LaneAccess& access, Learning& learning);
  /// Whether the instruction may release or acquire through global memory.
  [[nodiscard]] bool syncs(const InstructionFacts& facts) const {
    return means_.global && (facts.releases_word || facts.acquires_word);
  }
  /// The same for global memory, by an instruction that syncs(); under the graph's lock. The first
  /// before the access is recorded, if it releases, the second after; it gives what other
  /// workgroups may acquire, or 0.
  void before_release(unsigned wave, std::uint32_t lds_completed);
  SyncGraph::Vertex global_access(const InstructionFacts& facts, const LaneAccess& access,
                                  std::uint64_t changed, unsigned wave, Learning& learning);
  /// The wave comes to the barrier of a cooperative launch, after before_release(); it leaves it.
  void reach_grid_barrier(unsigned wave);
  void leave_grid_barrier(unsigned wave);
  /// The read is complete.
  void learn(unsigned wave, Learning& learning);
  void barrier(const Clock& lds_completed);

 private:
  /// Bytes of a dword that were written together, as far as they stand yet.
  struct Part {
    std::uint8_t mask = 0;
    std::uint32_t known = 0;
  };
  struct Released {
    std::uint32_t changes = ~0u, lds_completed = 0, lds_atomic = 0;
    std::uint32_t known = 0;
  };
  /// A store to LDS that may turn out to be a flag's.
  struct LdsStore {
    std::uint32_t step = 0, known = 0;
  };
  static constexpr std::uint64_t kLds = 1ull << 62;  // keys of words_ that are LDS offsets
  /// Where barriers of the grid lie, as if each were a word of memory: who leaves one late must not
  /// learn of those that have come to the next.
  static constexpr std::uint64_t kGridBarriers = 1ull << 62;
  static constexpr std::uint8_t kWhole = 0xf;

  /// `lds_atomic`: the wave's last atomic on LDS, or this one.
  [[nodiscard]] std::uint32_t release(unsigned wave, std::uint32_t lds_completed,
                                      std::uint32_t lds_atomic);
  [[nodiscard]] std::uint32_t join(std::uint32_t a, std::uint32_t b);
  void stored(std::uint64_t key, std::uint8_t mask, std::uint32_t known);
  void changed(std::uint64_t key, std::uint8_t mask, std::uint32_t known);
  void acquire(std::uint64_t key, std::uint8_t mask, Learning& learning);
  /// Forgets what nobody can learn any more. No instruction in flight may be about to learn.
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
  std::uint32_t learning_ = 0;           // instructions in flight that will know of some
  std::unordered_map<std::uint64_t, std::uint32_t> joined_;
  std::unordered_map<std::uint64_t, std::vector<Part>> words_;
  std::array<Released, kMaxWaves> released_{};
  Clock last_lds_atomic_{};
  std::array<std::vector<LdsStore>, kMaxWaves> lds_stores_;  // of the phase
  std::bitset<(64 * 1024) / 4> flags_;                       // dwords of LDS that are polled
  bool has_flags_ = false;
  std::uint64_t grid_barriers_ = 0;  // that the workgroup has come to
  std::unordered_map<std::uint32_t, unsigned>
      lock_holders_;  // by dword: whose atomic changed it last
};

}  // namespace margay::check
