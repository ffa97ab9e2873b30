// What the checker asks the runtime.
#pragma once

#include <cstdint>
#include <functional>

namespace margay::runtime {

/// Whether the program registered the host memory at an address for the device.
using IsRegistered = std::function<bool(std::uint64_t address)>;

}  // namespace margay::runtime
