// The HIP calls on memory pools.
#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

using Pool = MemoryPools::Pool;

Answer<Pool> pool_of(hipMemPool_t handle) { return process().pools.find(handle); }

Outcome create(hipMemPool_t* out, const hipMemPoolProps* properties) {
  if (out == nullptr || properties == nullptr)
    return refuse(hipErrorInvalidValue, "The result or the properties are a null pointer.");
  if (properties->allocType != hipMemAllocationTypePinned ||
      properties->location.type != hipMemLocationTypeDevice)
    return refuse(hipErrorInvalidValue,
                  "A memory pool is of hipMemAllocationTypePinned, on a device "
                  "(hipMemLocationTypeDevice).");
  MARGAY_CHECK(process().devices.check(properties->location.id));
  *out = process().pools.create(static_cast<unsigned>(properties->location.id)).get();
  return {};
}

/// As ROCm's code for a device that does not exist is (clr, hip_mempool.cpp).
Outcome check_device(int device) {
  Outcome outcome = process().devices.check(device);
  if (!outcome) outcome.error().code = hipErrorInvalidValue;
  return outcome;
}

Outcome choose(int device, hipMemPool_t handle) {
  MARGAY_CHECK(check_device(device));
  Pool pool = MARGAY_TRY(pool_of(handle));
  if (pool->device != static_cast<unsigned>(device))
    return refuse(hipErrorInvalidDevice,
                  fmt::format("The memory pool is on device {}.", pool->device));
  process().pools.choose(std::move(pool));
  return {};
}

/// The memory held equals the memory used: nothing is cached.
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
    MARGAY_CHECK(process().devices.check(list[n].location.id));
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
  MARGAY_CHECK(process().devices.check(location->id));
  *flags = pool->access[static_cast<std::size_t>(location->id)];
  return {};
}

Outcome give_pool(hipMemPool_t* out, int device, Pool (MemoryPools::*which)(unsigned)) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  MARGAY_CHECK(check_device(device));
  *out = (process().pools.*which)(static_cast<unsigned>(device)).get();
  return {};
}

}  // namespace

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return api(__func__, [&] { return give_pool(pool, device, &MemoryPools::default_of); });
}
hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return api(__func__, [&] { return give_pool(pool, device, &MemoryPools::current); });
}
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return api(__func__, [&] { return choose(device, pool); });
}
hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return api(__func__, [&] { return create(pool, properties); });
}
hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return api(__func__, [&] { return process().pools.destroy(pool); });
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
// Nothing is cached, so there is nothing to trim.
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(pool_of(pool));
    return {};
  });
}

}  // extern "C"
