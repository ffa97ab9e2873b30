// Modelled time as people read it in a terminal.
#pragma once

#include <string>

#include "report/profile/profile.h"
#include "report/words.h"

namespace margay::profile {

/// A screen for each kernel that has a time, those that take longest first. `full`: every line.
[[nodiscard]] std::string time_text(const Profile& profile, const report::TextOptions& options,
                                    bool full);

}  // namespace margay::profile
