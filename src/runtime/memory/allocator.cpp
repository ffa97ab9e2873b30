// See allocator.h.
#include "runtime/memory/allocator.h"
#include "runtime/watch/checking.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace margay::runtime {

Outcome Allocator::allocate(void** out, std::size_t bytes, Request request) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  *out = nullptr;
  if (bytes == 0) return {};
  Device* const device = MARGAY_TRY(devices_.get());
  auto& pool = request.pool;
  const unsigned ordinal = pool != nullptr ? pool->device : Devices::current();
  const bool is_device = request.kind == MemoryKind::device;
  const bool shared = !is_device || (pool != nullptr && pool->is_shared());
  void* const memory = MARGAY_TRY(
      device->memory().allocate(bytes, request.label, {.device = ordinal, .shared = shared}));
  if (pool != nullptr) pool->take(bytes);
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  table_.add({request.kind, ordinal, request.flags, address, bytes, std::move(pool)});
  // Managed and pinned memory may be written by the host without a call.
  if (const auto checking = watchers_.checking()) checking->allocated(address, bytes, !is_device);
  *out = memory;
  return {};
}

Outcome Allocator::release(void* pointer, std::initializer_list<MemoryKind> kinds,
                           const char* instead) {
  if (pointer == nullptr) return {};
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::optional<AllocationRecord> record = table_.find(address);
  if (record && record->address == address &&
      std::ranges::find(kinds, record->kind) == kinds.end()) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("The memory at {} was allocated by another kind of call.", pointer),
                  instead);
  }
  Device* const device = MARGAY_TRY(devices_.get());
  if (!record || record->address != address) {
    const std::optional<Allocation> inside = device->memory().find(address);
    if (inside && !inside->freed && inside->range.begin != address) {
      return refuse(hipErrorInvalidValue,
                    fmt::format("The address {} is {} bytes inside an allocation, not its start.",
                                pointer, address - inside->range.begin),
                    "Free the pointer that the allocating call gave.");
    }
    if (inside && inside->freed) {
      return refuse(hipErrorInvalidValue,
                    fmt::format("The memory at {} has been freed already.", pointer));
    }
    return refuse(hipErrorInvalidValue,
                  fmt::format("The address {} was not allocated by HIP.", pointer));
  }
  // The record goes first: of two threads that free the same pointer one is refused by Memory.
  table_.remove(address);
  if (record->pool != nullptr) record->pool->give_back(record->size_bytes);
  advice_.forget(address, record->size_bytes);
  if (const auto checking = watchers_.checking()) checking->freed(address, record->size_bytes);
  return Outcome(device->memory().free(pointer));
}

Outcome Allocator::free_device(void* pointer) {
  // Pinned memory too: ROCm's hipFree accepts all memory that HIP allocated (clr, hip_memory.cpp,
  // ihipFree), and programs rely on it.
  return release(pointer, {MemoryKind::device, MemoryKind::managed, MemoryKind::host},
                 "It is the program's own: hipHostUnregister, then free it as it was allocated.");
}

Outcome Allocator::free_host(void* pointer) {
  return release(pointer, {MemoryKind::host}, "Free it with hipFree.");
}

Outcome Allocator::free_all(unsigned ordinal) {
  Memory* const memory = devices_.memory_if_made();
  for (const AllocationRecord& record : table_.take_all(ordinal)) {
    if (record.kind == MemoryKind::registered || memory == nullptr) continue;
    if (record.pool != nullptr) record.pool->give_back(record.size_bytes);
    MARGAY_CHECK(memory->free(reinterpret_cast<void*>(record.address)));
  }
  return {};
}

}  // namespace margay::runtime
