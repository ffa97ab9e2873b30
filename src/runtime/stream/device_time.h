// A moment of the devices' modelled time, and a span of it.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

namespace margay::runtime {

/// Since the program began. In whole picoseconds, so that the same work takes the same time at any
/// moment; the 64 bits are enough for 100 days.
using DeviceTime = std::chrono::duration<std::int64_t, std::pico>;

[[nodiscard]] inline DeviceTime device_time(double microseconds) {
  return DeviceTime(std::llround(1e6 * microseconds));
}

}  // namespace margay::runtime
