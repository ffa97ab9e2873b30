// The stream order that a piece of work belongs to, and what it follows.
#pragma once

#include <thread>

namespace margay::runtime {

/// Source: HIP documentation, "Stream management", null stream: between the null stream and the
/// streams without hipStreamNonBlocking each waits for the other.
struct Order {
  const void* stream = nullptr;  ///< For the null stream: null, with its device.
  unsigned device = 0;
  std::thread::id thread;  ///< Of hipStreamPerThread.
  bool waits_for_null = false;
  [[nodiscard]] bool is_null() const { return stream == nullptr; }
  [[nodiscard]] bool same(const Order& other) const {
    return stream == other.stream && thread == other.thread && device == other.device;
  }
  [[nodiscard]] bool comes_behind(const Order& earlier) const {
    if (same(earlier)) return true;
    if (device != earlier.device) return false;
    return (is_null() && earlier.waits_for_null) || (waits_for_null && earlier.is_null());
  }
};

}  // namespace margay::runtime
