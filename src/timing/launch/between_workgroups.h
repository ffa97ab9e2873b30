// What workgroups do to wait for each other, which a replay of one compute unit after the other
// does not know: loops that load a flag until another workgroup has set it, barriers of the grid,
// and write-backs of L2.
#pragma once

#include "timing/recording.h"

namespace margay::timing {

/// Of what was recorded.
struct BetweenWorkgroups {
  /// Instructions that only wait: of loops that load again from the same place, with atomic or
  /// volatile loads of agent scope, and do nothing else with memory. How often such a loop goes
  /// round is the functional run's, not the device's. Part of all, 0 to 1.
  double polling = 0;
  std::uint64_t polls_at = 0;  ///< The address of the load that polls most; 0: none does.
  double grid_syncs = 0;  ///< Barriers of the grid and write-backs of L2 of a wave, on average.
};

[[nodiscard]] BetweenWorkgroups between_workgroups(const LaunchRecording& launch);

}  // namespace margay::timing
