// What a replay saw over time: when workgroups ran on compute units, and what waves of some of them
// did. For timelines; cycles count from the launch's first workgroup on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "timing/recording.h"
#include "timing/stall.h"

namespace margay::timing {

/// A wave's instructions of one unit, one after the other without a wait; or one wait.
struct TimelineSlice {
  std::uint32_t begin = 0, cycles = 0;
  std::optional<Stall> stall;  ///< Of a wait, the reason that took most of it.
  std::uint32_t vaddr = 0;     ///< Of the first instruction, or the one that waits.
  std::uint32_t instructions = 0;
  friend bool operator==(const TimelineSlice&, const TimelineSlice&) = default;
};
/// How many there are from `at` on.
struct TimelineCount {
  std::uint32_t at = 0, count = 0;
  friend bool operator==(const TimelineCount&, const TimelineCount&) = default;
};
struct WaveTimeline {
  std::uint32_t workgroup = 0;  ///< Index into Timeline::workgroups.
  std::uint32_t wave = 0, simd = 0;
  std::vector<TimelineSlice> slices;
  std::vector<TimelineCount> in_flight = {};  ///< Accesses to memory and LDS.
  friend bool operator==(const WaveTimeline&, const WaveTimeline&) = default;
};
struct WorkgroupSpan {
  std::uint64_t id = 0;
  std::uint32_t xcd = 0, cu = 0;
  std::uint32_t begin = 0, cycles = 0;
  bool stand_in = false;  ///< One that was not recorded: `id` was replayed again.
  friend bool operator==(const WorkgroupSpan&, const WorkgroupSpan&) = default;
};
/// Waves of a compute unit.
struct OccupancyTimeline {
  std::uint32_t xcd = 0, cu = 0, simds = 1;
  std::vector<TimelineCount> waves;
  friend bool operator==(const OccupancyTimeline&, const OccupancyTimeline&) = default;
};
struct Timeline {
  std::vector<WorkgroupSpan> workgroups;
  std::vector<WaveTimeline> waves;
  std::vector<OccupancyTimeline> occupancy;
  [[nodiscard]] bool empty() const { return workgroups.empty(); }
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

/// Of one compute unit.
struct ComputeUnitTimeline {
  std::uint32_t workgroups = 0;  ///< Of the first ones waves are wanted.
  /// WaveTimeline::workgroup is the place in the recording.
  std::vector<WaveTimeline> waves = {};
};

/// Counts over time of what begins and ends.
[[nodiscard]] std::vector<TimelineCount> counts_of(
    std::span<const std::pair<double, double>> spans);

/// Makes a wave's slices while it is replayed.
class WaveTimelineRecorder {
 public:
  /// An instruction that its wave could issue at `since`, that waited for `stalls`, and that was
  /// over for the wave at `end`.
  void add(const Instruction& instruction, double since, const std::array<double, kStalls>& stalls,
           double end);
  void access(double begin, double done) { accesses_.emplace_back(begin, done); }
  [[nodiscard]] std::vector<TimelineSlice> take() { return std::move(slices_); }
  [[nodiscard]] std::vector<TimelineCount> in_flight() const { return counts_of(accesses_); }

 private:
  void push(double begin, double end, std::optional<Stall> stall, const Instruction& instruction);

  std::vector<TimelineSlice> slices_;
  std::vector<std::pair<double, double>> accesses_;
  Unit unit_ = Unit::end;  // of the last slice
};

}  // namespace margay::timing
