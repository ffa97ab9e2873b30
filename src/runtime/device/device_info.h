// The properties of the virtual device for programs: the two ABI forms of hipDeviceProp_t, and
// attributes by number.
#pragma once

#include <optional>

#include "exec/device/device.h"
#include "runtime/base/hip.h"

namespace margay::runtime {

/// 942 of gfx942, which is compute capability 9.4.
[[nodiscard]] int gcn_arch(const Gpu& gpu);

[[nodiscard]] hipDeviceProp_t properties_r0000(const Gpu& gpu);
[[nodiscard]] hipDeviceProp_tR0600 properties_r0600(const Gpu& gpu);

/// Empty if HIP has no such attribute, or if it has no integer value.
[[nodiscard]] std::optional<int> device_attribute(const Gpu& gpu, int attribute);

}  // namespace margay::runtime
