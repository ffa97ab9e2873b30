// Modelled time as people read it in a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "report/profile/profile.h"
#include "report/words.h"

namespace margay::profile {

enum class TimeClock : std::uint8_t { boost, sustained };

/// A screen for each kernel that has a time, those that take longest first. `full`: every line.
/// `clock`: the one whose time comes first.
[[nodiscard]] std::string time_text(const Profile& profile, const report::TextOptions& options,
                                    bool full, TimeClock clock = TimeClock::boost);

}  // namespace margay::profile
