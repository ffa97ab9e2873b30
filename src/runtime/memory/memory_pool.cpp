// See memory_pool.h.
#include "runtime/memory/memory_pool.h"

#include <utility>

bool ihipMemPoolHandle_t::is_shared() const {
  for (unsigned other = 0; other < access.size(); ++other)
    if (other != device && access[other] != hipMemAccessFlagsProtNone) return true;
  return false;
}

namespace margay::runtime {

MemoryPools::Pool MemoryPools::create(unsigned device) {
  auto pool = std::make_shared<ihipMemPoolHandle_t>();
  pool->device = device;
  pool->access[device] = hipMemAccessFlagsProtReadWrite;
  pools_.add(pool);
  return pool;
}

Outcome MemoryPools::destroy(hipMemPool_t handle) {
  const Pool pool = MARGAY_TRY(find(handle));
  if (pool->is_default)
    return refuse(hipErrorInvalidValue, "A device's default memory pool cannot be destroyed.");
  pools_.remove(handle);
  const std::lock_guard lock(mutex_);
  if (chosen_[pool->device] == pool) chosen_[pool->device] = nullptr;
  return {};
}

Answer<MemoryPools::Pool> MemoryPools::find(hipMemPool_t handle) const {
  Pool pool = pools_.find(handle);
  if (pool == nullptr)
    return refuse(hipErrorInvalidValue, "The memory pool was destroyed, or was never created.");
  return pool;
}

MemoryPools::Pool MemoryPools::default_of(unsigned device) {
  const std::lock_guard lock(mutex_);
  Pool& pool = default_[device];
  if (pool == nullptr) {
    pool = create(device);
    pool->is_default = true;
  }
  return pool;
}

MemoryPools::Pool MemoryPools::current(unsigned device) {
  {
    const std::lock_guard lock(mutex_);
    if (chosen_[device] != nullptr) return chosen_[device];
  }
  return default_of(device);
}

void MemoryPools::choose(Pool pool) {
  const unsigned device = pool->device;
  const std::lock_guard lock(mutex_);
  chosen_[device] = std::move(pool);
}

}  // namespace margay::runtime
