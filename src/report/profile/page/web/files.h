// The files of this directory, as the build put them into the library (embed.cmake).
#pragma once

#include <string_view>

namespace margay::profile::web {

extern const std::string_view kPage, kStyle, kScript;

}  // namespace margay::profile::web
