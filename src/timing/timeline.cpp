#include "timing/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace margay::timing {

std::vector<TimelineCount> counts_of(std::span<const std::pair<double, double>> spans) {
  std::map<std::uint32_t, int> changes;
  for (const auto& [begin, end] : spans) {
    ++changes[static_cast<std::uint32_t>(std::llround(begin))];
    --changes[static_cast<std::uint32_t>(std::llround(end))];
  }
  std::vector<TimelineCount> out;
  int count = 0;
  for (const auto& [at, change] : changes) {
    if (change == 0) continue;
    count += change;
    out.push_back({at, static_cast<std::uint32_t>(count)});
  }
  return out;
}

void WaveTimelineRecorder::push(double begin, double end, std::optional<Stall> stall,
                                const Instruction& instruction) {
  const auto first = static_cast<std::uint32_t>(std::llround(begin));
  const auto last = static_cast<std::uint32_t>(std::llround(end));
  TimelineSlice* const before = slices_.empty() ? nullptr : &slices_.back();
  const bool continues = !stall && before != nullptr && !before->stall &&
                         unit_ == instruction.unit && before->begin + before->cycles == first;
  unit_ = instruction.unit;
  if (continues) {
    before->cycles = last - before->begin;
    ++before->instructions;
    return;
  }
  slices_.push_back({first, last - first, stall, instruction.vaddr, 1});
}

void WaveTimelineRecorder::add(const Instruction& instruction, double since,
                               const std::array<double, kStalls>& stalls, double end) {
  const double stalled = std::accumulate(stalls.begin(), stalls.end(), 0.0);
  const double issues = std::min(since + stalled, end);
  // Less than half a cycle is rounding.
  if (stalled >= 0.5)
    push(since, issues, static_cast<Stall>(std::ranges::max_element(stalls) - stalls.begin()),
         instruction);
  push(issues, end, std::nullopt, instruction);
}

}  // namespace margay::timing
