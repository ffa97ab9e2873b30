// Memory pools: what stream-ordered allocations are made from. Memory is allocated and freed at the
// call, so a pool caches nothing; it counts, and controls access to its memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/base/errors.h"
#include "runtime/base/handle_table.h"
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
  /// Whether a device other than its own may access its memory.
  [[nodiscard]] bool is_shared() const;
};

namespace margay::runtime {

/// The pools of the process. Safe to use from several threads.
class MemoryPools {
 public:
  using Pool = std::shared_ptr<ihipMemPoolHandle_t>;

  [[nodiscard]] Pool create(unsigned device);
  /// An error for a device's default pool. The pool lives until its memory is freed.
  [[nodiscard]] Outcome destroy(hipMemPool_t handle);
  /// The pool behind a handle.
  [[nodiscard]] Answer<Pool> find(hipMemPool_t handle) const;

  [[nodiscard]] Pool default_of(unsigned device);
  /// The pool that hipMallocAsync uses on a device: its default one, unless another was chosen.
  [[nodiscard]] Pool current(unsigned device);
  void choose(Pool pool);

 private:
  HandleTable<ihipMemPoolHandle_t> pools_;
  std::mutex mutex_;  // guards what follows
  std::array<Pool, kMaxDevices> default_;
  std::array<Pool, kMaxDevices> chosen_;
};

}  // namespace margay::runtime
