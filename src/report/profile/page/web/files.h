// The files of this directory, embedded into the library by the build (embed.cmake).
#pragma once

#include <string_view>

namespace margay::profile::web {

extern const std::string_view kPage, kStyle, kScript;

}  // namespace margay::profile::web
