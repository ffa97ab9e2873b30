// Which launches stay on one rank: those whose workgroups may learn of each other, or of the host,
// while they run.
#pragma once

#include <string>

#include "exec/device/device_options.h"

namespace margay::ranks {

/// Why a launch stays whatever its code is, as a word for statistics: "watched", "cooperative",
/// "calls-host", "one-workgroup"; or empty.
[[nodiscard]] std::string why_this_launch_is_alone(const SpreadableLaunch& launch);
/// Why all launches of this code stay: "atomics", "coherent-reads"; or empty.
[[nodiscard]] std::string why_code_is_alone(Program& program);

}  // namespace margay::ranks
