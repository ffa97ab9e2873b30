// A profile as one self-contained HTML file: no network, no other file. The data is embedded as
// JSON; the page's own text, style and scripts are in web/.
#pragma once

#include <string>

#include "report/profile/page/html_data.h"
#include "report/profile/profile.h"

namespace margay::profile {

[[nodiscard]] std::string html_of(const Profile& profile, const SourceReader& source,
                                  const Adviser& adviser = {});

}  // namespace margay::profile
