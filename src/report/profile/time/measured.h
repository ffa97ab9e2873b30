// A time that was measured on a device, against the modelled one.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// "118us", "0.118ms" or "1.2e-4s" in microseconds; a number alone is microseconds.
[[nodiscard]] Result<double> parse_microseconds(std::string_view text);

/// Two lines: how far the model is from `measured_us` at both clocks, and whether that is more than
/// the error it states. `kernel` has a time.
[[nodiscard]] std::string measured_text(const KernelProfile& kernel, double measured_us);

}  // namespace margay::profile
