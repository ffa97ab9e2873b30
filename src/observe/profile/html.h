// A profile as one HTML file that needs nothing else: no network, no other file. What it shows is
// embedded as JSON; the page's own text, style and scripts are in web/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "observe/profile/advice.h"
#include "observe/profile/json.h"
#include "observe/profile/profile.h"

namespace margay::profile {

/// What there is to say about a kernel; advice_for, or nothing for a page without advice.
using Adviser = std::function<std::vector<Advice>(const KernelProfile&)>;

[[nodiscard]] std::string html_of(const Profile& profile, const SourceReader& source,
                                  const Adviser& adviser = {});

}  // namespace margay::profile
