// What a user chooses of the model of time.
#pragma once

#include <cstdint>

namespace margay::timing {

struct TimeConfig {
  double clock_ghz = 0;         ///< 0: by the power model.
  bool all_workgroups = false;  ///< All are replayed, not a sample of them.
  /// A launch like this one went before: L2 has the lines that it left there, and the Infinity
  /// Cache all, if there is room. Otherwise both are empty.
  bool warm = false;
  bool host_arguments = false;  ///< Kernel arguments are in the host's memory.
  bool what_if = true;          ///< Replayed with changes, for KernelTime::what_if.
  bool latencies = true;        ///< Which are hidden, for SiteTime and KernelTime::simds.
  /// Of the first ones KernelTime::timeline has the waves; 0: no timeline.
  std::uint64_t traced_workgroups = 0;
  /// Of a sampled launch: instructions of waves, after which no more compute units are replayed.
  double most_instructions = 4e6;
};

}  // namespace margay::timing
