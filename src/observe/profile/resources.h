// A kernel's use of a compute unit, how many of its workgroups fit, and what would allow one more.
#pragma once

#include "exec/device/device.h"
#include "report/profile/profile.h"

namespace margay::profile {

[[nodiscard]] Resources resources_of(const Architecture& architecture, const LaunchRequest& request,
                                     std::uint32_t code_bytes);

}  // namespace margay::profile
