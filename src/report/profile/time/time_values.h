// Values that follow from a kernel's modelled time, and all of them by name.
#pragma once

#include <optional>
#include <string_view>

#include "report/profile/profile.h"

namespace margay::profile {

/// Part of a kernel's cycles that its waves spend as they spend `wave_cycles` of all their cycles:
/// comparable with another launch, of which other waves were replayed.
[[nodiscard]] double attributed(const timing::KernelTime& time, double wave_cycles);

/// In TFLOP/s, of a kernel that has a time; none if it does no operations on numbers.
struct Throughput {
  double boost = 0, sustained = 0;
};
[[nodiscard]] std::optional<Throughput> throughput_of(const KernelProfile& kernel);

/// "us_boost", "tflops_sustained" and other figures of a kernel's time, as its JSON calls them. An
/// error if the kernel has no time.
[[nodiscard]] Result<double> time_value_of(const KernelProfile& kernel, std::string_view name);

}  // namespace margay::profile
