// A profile as one HTML file that needs nothing else: no network, no other file. What it shows is
// embedded as JSON; the page's own text, style and scripts are in web/.
#pragma once

#include <string>

#include "report/profile/page/html_data.h"
#include "report/profile/profile.h"

namespace margay::profile {

[[nodiscard]] std::string html_of(const Profile& profile, const SourceReader& source,
                                  const Adviser& adviser = {});

}  // namespace margay::profile
