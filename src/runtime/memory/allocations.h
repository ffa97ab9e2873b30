// The allocations that HIP calls made (the device's own map also holds code objects).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/memory/memory_pool.h"

namespace margay::runtime {

/// Which family of calls made an allocation; they differ in what a program may ask about it.
enum class MemoryKind : std::uint8_t { device, host, managed, registered };

struct AllocationRecord {
  MemoryKind kind = MemoryKind::device;
  unsigned device = 0;  ///< The current one when it was made.
  unsigned flags = 0;   ///< As passed to the allocating call.
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::shared_ptr<ihipMemPoolHandle_t> pool;  ///< The pool it came from, if any.
};

class AllocationTable {
 public:
  void add(const AllocationRecord& record);
  /// Removes the record that starts at `address` from the table and returns it.
  std::optional<AllocationRecord> remove(std::uint64_t address);
  /// The record that holds `address`.
  [[nodiscard]] std::optional<AllocationRecord> find(std::uint64_t address) const;
  [[nodiscard]] std::optional<AllocationRecord> find(const void* pointer) const {
    return find(reinterpret_cast<std::uint64_t>(pointer));
  }
  [[nodiscard]] std::vector<AllocationRecord> take_all(unsigned device);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, AllocationRecord> records_;
};

}  // namespace margay::runtime
