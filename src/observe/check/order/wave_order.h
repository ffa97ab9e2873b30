// The order between the waves of a workgroup, and between workgroups, as vector clocks.
//
// Each wave has a vector clock. A barrier joins all of them; a release (an atomic, a store with a
// scope, a store to a polled word) attaches a copy to the bytes it writes, and an acquire (an
// atomic that returns a value, a load with a scope, a poll) that reads these bytes joins it once it
// is complete. An access is ordered before another one of the workgroup if the other one's wave
// knows of it.
//
// LDS accesses are counted by the wave's steps, and are known when a wait has proven them complete.
// Global accesses are counted by segments: the parts of a wave between two events that others can
// acquire. The waves of a workgroup share a vector cache that serves them in order, so that program
// order suffices within it; other workgroups see accesses that are complete and of agent scope, or
// were written back (buffer_wbl2). Between workgroups the clocks are in a graph of the launch
// (sync_graph.h).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "observe/check/order/sync_graph.h"

namespace margay::check {

inline constexpr unsigned kMaxWaves = 16;

/// By wave of the workgroup: all its LDS steps, or segments, up to this one.
using Clock = std::array<std::uint32_t, kMaxWaves>;

struct Knowledge {
  Clock lds{};                     ///< LDS steps that came before.
  Clock lds_atomics{};             ///< LDS steps up to which those by atomics came before.
  Clock issued{};                  ///< Segments whose global accesses were issued before.
  Clock completed{};               ///< Segments whose global accesses were complete before.
  Clock flushed{};                 ///< Segments that were written back for other workgroups before.
  SyncGraph::Vertex seen = 0;      ///< Of other workgroups: what was acquired,
  SyncGraph::Vertex acquired = 0;  ///< and what of it came before the caches were invalidated.
};

class WaveOrder {
 public:
  /// `graph`: of the launch; null when workgroups do not synchronise.
  explicit WaveOrder(SyncGraph* graph) : graph_(graph) {}

  void begin_workgroup(std::uint32_t workgroup, unsigned waves);

  [[nodiscard]] const Knowledge& of(unsigned wave) const { return waves_[wave].knowledge; }
  [[nodiscard]] std::uint32_t workgroup() const { return workgroup_; }
  [[nodiscard]] std::uint32_t segment(unsigned wave) const { return waves_[wave].segment; }
  /// Counts the changes to what a release of the wave publishes, other than LDS steps.
  [[nodiscard]] std::uint32_t changes(unsigned wave) const { return waves_[wave].changes; }
  /// The wave's knowledge of others changes with each acquire; `issued` by number.
  [[nodiscard]] std::uint32_t version(unsigned wave) const { return waves_[wave].version; }
  [[nodiscard]] const Clock& issued_in(std::uint32_t version) const { return versions_[version]; }
  [[nodiscard]] bool lds_ordered(unsigned from, std::uint32_t step, unsigned to) const {
    return from == to || waves_[to].knowledge.lds[from] >= step;
  }
  /// The same if that step is an atomic's: a wave that has read its value knows it.
  [[nodiscard]] bool lds_atomic_ordered(unsigned from, std::uint32_t step, unsigned to) const {
    return lds_ordered(from, step, to) || waves_[to].knowledge.lds_atomics[from] >= step;
  }

  /// The wave issues a global access in its current segment, or one completes, or is in flight.
  void used_segment(unsigned wave) {
    if (waves_[wave].segment_used) return;
    waves_[wave].segment_used = true;
    ++waves_[wave].changes;
  }
  /// What a release of the wave publishes now; its next global accesses come after it.
  [[nodiscard]] Knowledge release(unsigned wave, std::uint32_t lds_completed);
  /// The same for other workgroups, by an access with its own segment, which ends now.
  [[nodiscard]] SyncGraph::Vertex publish(unsigned wave, const Knowledge& released);
  void end_segment(unsigned wave) { end_segment(waves_[wave]); }
  void acquire(unsigned wave, const Knowledge& released);
  void join(Knowledge& to, const Knowledge& from);
  /// Of other workgroups.
  void see(unsigned wave, SyncGraph::Vertex vertex);
  /// buffer_wbl2 and buffer_inv of agent scope or wider; s_waitcnt vmcnt(0).
  void write_back(unsigned wave);
  void written_back(unsigned wave);
  /// Returns whether the wave had acquired anything since the last call.
  bool invalidate(unsigned wave);
  /// All waves are at the barrier; `lds_completed` by wave.
  void barrier(const Clock& lds_completed);

  /// The first segment that all later releases treat like this one. Only for segments before the
  /// last barrier.
  [[nodiscard]] std::uint32_t canonical(unsigned wave, std::uint32_t segment) const;

 private:
  struct PerWave {
    Knowledge knowledge;
    Clock writing_back{};
    bool has_written_back = false;  ///< A buffer_wbl2 is in flight.
    std::uint32_t segment = 1, version = 0, changes = 0;
    bool segment_used = false;
  };
  void end_segment(PerWave& wave) {
    if (wave.segment_used) ++wave.segment;
    wave.segment_used = false;
  }
  void new_version(PerWave& wave);
  void bound(unsigned wave, std::uint32_t segment);

  SyncGraph* graph_;
  std::uint32_t workgroup_ = 0;
  unsigned count_ = 0;
  std::array<PerWave, kMaxWaves> waves_{};
  std::vector<Clock> versions_;
  /// By wave: the segments at which releases for other workgroups were made, ascending.
  std::array<std::vector<std::uint32_t>, kMaxWaves> bounds_;
};

}  // namespace margay::check
