// The HIP calls on memory pools; see memory_pool.h.
#include "runtime/memory/memory_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "runtime/device/device_info.h"
#include "runtime/memory/allocation.h"
#include "runtime/process/runtime.h"

bool ihipMemPoolHandle_t::is_shared() const {
  for (unsigned other = 0; other < access.size(); ++other)
    if (other != device && access[other] != hipMemAccessFlagsProtNone) return true;
  return false;
}

namespace margay::runtime {

using Pool = std::shared_ptr<ihipMemPoolHandle_t>;

namespace {

HandleTable<ihipMemPoolHandle_t>& pools() {
  static auto* const table = new HandleTable<ihipMemPoolHandle_t>();
  return *table;
}

}  // namespace

Answer<Pool> pool_of(hipMemPool_t handle) {
  Pool pool = pools().find(handle);
  if (pool == nullptr)
    return refuse(hipErrorInvalidValue, "The memory pool was destroyed, or was never created.");
  return pool;
}

namespace {

/// What a device's allocations come from: unless the program chose another, its default pool.
struct DevicePools {
  std::mutex mutex;
  std::array<Pool, kMaxDevices> first;
  std::array<Pool, kMaxDevices> chosen;
};
DevicePools& device_pools() {
  static auto* const all = new DevicePools();
  return *all;
}

Pool make_pool(unsigned device) {
  auto pool = std::make_shared<ihipMemPoolHandle_t>();
  pool->device = device;
  pool->access[device] = hipMemAccessFlagsProtReadWrite;
  pools().add(pool);
  return pool;
}

Pool default_pool(unsigned device) {
  DevicePools& all = device_pools();
  const std::lock_guard lock(all.mutex);
  Pool& pool = all.first[device];
  if (pool == nullptr) {
    pool = make_pool(device);
    pool->is_default = true;
  }
  return pool;
}

Outcome create(hipMemPool_t* out, const hipMemPoolProps* properties) {
  if (out == nullptr || properties == nullptr)
    return refuse(hipErrorInvalidValue, "The result or the properties are a null pointer.");
  if (properties->allocType != hipMemAllocationTypePinned ||
      properties->location.type != hipMemLocationTypeDevice)
    return refuse(hipErrorInvalidValue,
                  "A memory pool is of hipMemAllocationTypePinned, on a device "
                  "(hipMemLocationTypeDevice).");
  MARGAY_CHECK(check_device(properties->location.id));
  *out = make_pool(static_cast<unsigned>(properties->location.id)).get();
  return {};
}

Outcome destroy(hipMemPool_t handle) {
  const Pool pool = MARGAY_TRY(pool_of(handle));
  if (pool->is_default)
    return refuse(hipErrorInvalidValue, "A device's default memory pool cannot be destroyed.");
  pools().remove(handle);  // it lives on until the memory that came from it is freed
  DevicePools& all = device_pools();
  const std::lock_guard lock(all.mutex);
  if (all.chosen[pool->device] == pool) all.chosen[pool->device] = nullptr;
  return {};
}

Outcome choose(int device, hipMemPool_t handle) {
  MARGAY_CHECK(check_device(device));
  Pool pool = MARGAY_TRY(pool_of(handle));
  if (pool->device != static_cast<unsigned>(device))
    return refuse(hipErrorInvalidDevice,
                  fmt::format("The memory pool is on device {}.", pool->device));
  DevicePools& all = device_pools();
  const std::lock_guard lock(all.mutex);
  all.chosen[pool->device] = std::move(pool);
  return {};
}

/// What is held is what is used: nothing is kept back.
std::atomic<std::uint64_t>* counter(ihipMemPoolHandle_t& pool, hipMemPoolAttr attribute) {
  switch (attribute) {
    case hipMemPoolAttrReleaseThreshold:
      return &pool.release_threshold;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      return &pool.used_high;
    default:
      return nullptr;
  }
}

bool is_reuse(hipMemPoolAttr attribute) {
  return attribute >= hipMemPoolReuseFollowEventDependencies &&
         attribute <= hipMemPoolReuseAllowInternalDependencies;
}

Outcome unknown_attribute() {
  return refuse(hipErrorInvalidValue, "The attribute is not one of hipMemPoolAttr.");
}

Outcome get_attribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  const Pool pool = MARGAY_TRY(pool_of(handle));
  if (value == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  if (is_reuse(attribute)) {
    *static_cast<int*>(value) = pool->reuse[attribute - 1];
    return {};
  }
  const std::atomic<std::uint64_t>* const from = counter(*pool, attribute);
  if (from == nullptr) return unknown_attribute();
  *static_cast<std::uint64_t*>(value) = *from;
  return {};
}

Outcome set_attribute(hipMemPool_t handle, hipMemPoolAttr attribute, const void* value) {
  const Pool pool = MARGAY_TRY(pool_of(handle));
  if (value == nullptr) return refuse(hipErrorInvalidValue, "The value is a null pointer.");
  if (is_reuse(attribute)) {
    pool->reuse[attribute - 1] = *static_cast<const int*>(value);
    return {};
  }
  if (counter(*pool, attribute) == nullptr) return unknown_attribute();
  const std::uint64_t wanted = *static_cast<const std::uint64_t*>(value);
  if (attribute == hipMemPoolAttrReleaseThreshold) {
    pool->release_threshold = wanted;
    return {};
  }
  const bool is_mark =
      attribute == hipMemPoolAttrReservedMemHigh || attribute == hipMemPoolAttrUsedMemHigh;
  if (!is_mark || wanted != 0)
    return refuse(hipErrorInvalidValue,
                  "Of the counters only the two high marks can be set, and only to 0.");
  pool->used_high = pool->used.load();
  return {};
}

Outcome set_access(hipMemPool_t handle, const hipMemAccessDesc* list, std::size_t count) {
  const Pool pool = MARGAY_TRY(pool_of(handle));
  if (list == nullptr && count != 0)
    return refuse(hipErrorInvalidValue, "The list is a null pointer.");
  for (std::size_t n = 0; n < count; ++n) {
    if (list[n].location.type != hipMemLocationTypeDevice)
      return refuse(hipErrorInvalidValue, "The location is not a device.");
    MARGAY_CHECK(check_device(list[n].location.id));
    const auto device = static_cast<unsigned>(list[n].location.id);
    if (device == pool->device) {
      if (list[n].flags == hipMemAccessFlagsProtReadWrite) continue;
      return refuse(hipErrorInvalidDevice, "A pool's own device always may read and write.");
    }
    if (pool->used != 0)
      return refuse(hipErrorNotSupported,
                    "Who may access a pool cannot be changed in Margay while memory from it is in "
                    "use.",
                    "Call hipMemPoolSetAccess before the first allocation from the pool.");
    pool->access[device] = list[n].flags;
  }
  return {};
}

Outcome get_access(hipMemAccessFlags* flags, hipMemPool_t handle, const hipMemLocation* location) {
  const Pool pool = MARGAY_TRY(pool_of(handle));
  if (flags == nullptr || location == nullptr || location->type != hipMemLocationTypeDevice)
    return refuse(hipErrorInvalidValue,
                  "The result or the location is a null pointer, or it is not a device.");
  MARGAY_CHECK(check_device(location->id));
  *flags = pool->access[static_cast<std::size_t>(location->id)];
  return {};
}

Outcome give_pool(hipMemPool_t* out, int device, Pool (*which)(unsigned)) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  MARGAY_CHECK(check_device(device));
  *out = which(static_cast<unsigned>(device)).get();
  return {};
}

}  // namespace

Pool current_pool(unsigned device) {
  {
    DevicePools& all = device_pools();
    const std::lock_guard lock(all.mutex);
    if (all.chosen[device] != nullptr) return all.chosen[device];
  }
  return default_pool(device);
}

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return api(__func__, [&] { return give_pool(pool, device, default_pool); });
}
hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return api(__func__, [&] { return give_pool(pool, device, current_pool); });
}
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return api(__func__, [&] { return choose(device, pool); });
}
hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return api(__func__, [&] { return create(pool, properties); });
}
hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return api(__func__, [&] { return destroy(pool); });
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return api(__func__, [&] { return get_attribute(pool, attribute, value); });
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return api(__func__, [&] { return set_attribute(pool, attribute, value); });
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* list, std::size_t count) {
  return api(__func__, [&] { return set_access(pool, list, count); });
}
hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool,
                               hipMemLocation* location) {
  return api(__func__, [&] { return get_access(flags, pool, location); });
}
// Nothing is held back, so there is nothing to trim.
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(pool_of(pool));
    return {};
  });
}

}  // extern "C"
