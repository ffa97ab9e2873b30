// Which launches stay on one rank: those whose workgroups may learn of each other, or of the host,
// while they run.
#pragma once

#include <string>

#include "exec/device/device_options.h"

namespace margay::ranks {

/// Why a launch stays whatever its code is, as a word for statistics: "watched", "cooperative",
/// "calls-host", "one-workgroup"; or empty.
[[nodiscard]] std::string why_this_launch_is_alone(const SpreadableLaunch& launch);
struct CodeTalk {
  std::string why_alone;  ///< Of all its launches: "atomics", "coherent-reads"; or empty.
  /// It has atomics, all of which can be combined (exec/state/combine.h).
  bool combines = false;
};
[[nodiscard]] CodeTalk talk_of(Program& program);

}  // namespace margay::ranks
