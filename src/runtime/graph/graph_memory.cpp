// See graph_memory.h.
#include "runtime/graph/graph_memory.h"

#include <utility>

namespace margay::runtime {
namespace {

Outcome nothing() { return {}; }

}  // namespace

GraphMemory::Block::Block(GraphMemory& owner, void* pointer) : owner_(owner), pointer_(pointer) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.blocks_.insert(pointer_);
}

GraphMemory::Block::~Block() {
  {
    const std::lock_guard lock(owner_.mutex_);
    owner_.blocks_.erase(pointer_);
  }
  // A program may have freed it with hipFree, or reset the device.
  const auto record = owner_.allocator_.table().find(pointer_);
  if (record && record->address == reinterpret_cast<std::uint64_t>(pointer_))
    (void)owner_.allocator_.free_device(pointer_);
}

bool GraphMemory::owns(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  return blocks_.contains(pointer);
}

Answer<Work> GraphMemory::allocation(void** out, std::size_t bytes,
                                     std::shared_ptr<ihipMemPoolHandle_t> pool) {
  if (out == nullptr || bytes == 0)
    return refuse(hipErrorInvalidValue, "The result is a null pointer, or the size is 0.");
  MARGAY_CHECK(
      allocator_.allocate(out, bytes, {.label = "a graph's memory", .pool = std::move(pool)}));
  return [block = std::make_shared<Block>(*this, *out)] { return nothing(); };
}

Work GraphMemory::release(void* pointer) {
  if (owns(pointer)) return nothing;
  return [this, pointer] { return allocator_.free_device(pointer); };
}

}  // namespace margay::runtime
