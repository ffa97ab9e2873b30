// What the virtual device answers when a program asks for its properties: the two ABI forms of
// hipDeviceProp_t, and attributes by number.
#pragma once

#include <optional>

#include "exec/device.h"
#include "runtime/errors.h"

namespace margay::runtime {

/// gfx942 is reported as compute capability 9.4 (the ISA version is 9.4.2).
inline constexpr int kArchitectureMajor = 9;
inline constexpr int kArchitectureMinor = 4;
inline constexpr int kGcnArch = 100 * kArchitectureMajor + 10 * kArchitectureMinor + 2;

/// Refuses a number that is not one of a device (hipErrorInvalidDevice).
[[nodiscard]] Outcome check_device(int device);

[[nodiscard]] hipDeviceProp_t properties_r0000(const DeviceProperties& device);
[[nodiscard]] hipDeviceProp_tR0600 properties_r0600(const DeviceProperties& device);

/// Nothing when HIP has no such attribute, or when it has no integer value.
[[nodiscard]] std::optional<int> device_attribute(const DeviceProperties& device, int attribute);

}  // namespace margay::runtime
