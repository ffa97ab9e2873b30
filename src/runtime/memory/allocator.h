// Allocating and freeing memory. All memory is host memory: a device pointer, a pinned host pointer
// and a managed pointer differ only in the allowed queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "runtime/base/errors.h"
#include "runtime/device/devices.h"
#include "runtime/memory/advice.h"
#include "runtime/memory/allocations.h"
#include "runtime/memory/memory_pool.h"
#include "runtime/watch/watch.h"

namespace margay::runtime {

class Allocator {
 public:
  Allocator(Devices& devices, const Watchers& watchers) : devices_(devices), watchers_(watchers) {}

  /// Properties of an allocation other than its size.
  struct Request {
    MemoryKind kind = MemoryKind::device;
    unsigned flags = 0;                              ///< As passed to the call.
    const char* label = "";                          ///< Names it in faults.
    std::shared_ptr<ihipMemPoolHandle_t> pool = {};  ///< Null: the current device.
  };
  [[nodiscard]] Outcome allocate(void** out, std::size_t bytes, Request request);

  /// What hipFree and hipHostFree do.
  [[nodiscard]] Outcome free_device(void* pointer);
  [[nodiscard]] Outcome free_host(void* pointer);
  /// Frees what HIP calls allocated on a device.
  [[nodiscard]] Outcome free_all(unsigned device);

  [[nodiscard]] AllocationTable& table() { return table_; }
  [[nodiscard]] const AllocationTable& table() const { return table_; }
  [[nodiscard]] AdviceMap& advice() { return advice_; }

 private:
  [[nodiscard]] Outcome release(void* pointer, std::initializer_list<MemoryKind> kinds,
                                const char* instead);

  Devices& devices_;
  const Watchers& watchers_;
  AllocationTable table_;
  AdviceMap advice_;
};

}  // namespace margay::runtime
