// What brought a line into a cache, to tell hits on lines that are still on their way.
#pragma once

#include <cstdint>

#include "observe/profile/memory/memory_stream.h"
#include "timing/recording.h"

namespace margay::profile {

/// Memory answers at once in a replay of caches, so that all but the first wave of those that run
/// alike find what they read. On the device they wait with the first one: a wave behind it
/// comes up with it, and none can pass it. So a line counts as on its way for the same execution
/// of the same instruction, by waves that ran already when it was asked for.
struct Arrival {
  std::uint64_t at : 56 = 0;  ///< Of the XCD's steps.
  timing::Level from : 8 = timing::Level::vector_cache;
  std::uint32_t site = ~0u;  ///< As of the event that brought it.
  std::uint32_t step = 0;

  static Arrival of(const MemoryEvent& event, std::uint64_t now, timing::Level from) {
    return {now, from, event.site, event.step};
  }
  /// At step `now` of the XCD, for an event of a workgroup that began at `begin`.
  [[nodiscard]] bool is_on_its_way(const MemoryEvent& event, std::uint64_t begin,
                                   std::uint64_t now) const {
    const std::uint32_t apart = step > event.step ? step - event.step : event.step - step;
    return site == event.site && apart <= kSameExecution && at >= begin && now - at <= kReach;
  }

 private:
  /// Waves that run alike execute an instruction in the same step after their workgroups' begin,
  /// but for a branch.
  static constexpr std::uint32_t kSameExecution = 3;
  /// Steps, of at least 4 cycles each, in which a line comes from HBM.
  static constexpr std::uint64_t kReach = 256;
};

}  // namespace margay::profile
