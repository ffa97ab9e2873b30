// Memory pools: what stream-ordered allocations are made from. Memory is allocated and freed at the
// call, so a pool holds nothing back; it counts, and says who may access what comes from it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/base/errors.h"
#include "runtime/base/settings.h"

/// What a hipMemPool_t points to.
struct ihipMemPoolHandle_t {
  unsigned device = 0;
  bool is_default = false;
  std::atomic<std::uint64_t> release_threshold = 0;
  std::array<std::atomic<int>, 3> reuse = {1, 1, 1};  ///< hipMemPoolReuse*, from 1
  std::atomic<std::uint64_t> used = 0;
  std::atomic<std::uint64_t> used_high = 0;
  /// By device; a pool's own may always.
  std::array<std::atomic<hipMemAccessFlags>, margay::runtime::kMaxDevices> access = {};

  void take(std::uint64_t bytes) {
    const std::uint64_t now = used.fetch_add(bytes) + bytes;
    std::uint64_t high = used_high.load();
    while (high < now && !used_high.compare_exchange_weak(high, now)) {
    }
  }
  void give_back(std::uint64_t bytes) { used.fetch_sub(bytes); }
  /// Whether a device besides its own may access what comes from it.
  [[nodiscard]] bool is_shared() const;
};

namespace margay::runtime {

/// The pool that hipMallocAsync takes from on a device.
[[nodiscard]] std::shared_ptr<ihipMemPoolHandle_t> current_pool(unsigned device);
/// The pool behind a handle.
[[nodiscard]] Answer<std::shared_ptr<ihipMemPoolHandle_t>> pool_of(hipMemPool_t handle);

}  // namespace margay::runtime
