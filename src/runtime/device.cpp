// The HIP calls that describe and select the device. There is one: a virtual MI325X.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "exec/device.h"
#include "runtime/device_info.h"
#include "runtime/runtime.h"

namespace margay::runtime {
namespace {

// Devices are counted from 0.
constexpr int kDevice = 0;
// "domain:bus:device", the form hipDeviceGetPCIBusId documents.
constexpr std::string_view kPciBusId = "0000:01:00.0";
// Sixteen characters, as the ROCm runtime fills this field.
constexpr std::string_view kUuid = "margay-mi325x-00";
static_assert(kUuid.size() == sizeof(hipUUID{}.bytes));

// Accepted and given back, without effect: gfx942 has one cache and one LDS bank configuration.
std::atomic<unsigned> device_flags = hipDeviceScheduleAuto;

// The one context. HIP's contexts are deprecated and stand for the device.
hipCtx_t primary_context() {
  static char context;
  return reinterpret_cast<hipCtx_t>(&context);
}

Outcome check_device(int device) {
  if (device == kDevice) return {};
  return refuse(
      hipErrorInvalidDevice,
      fmt::format("There is no device {}; the only device is number {}.", device, kDevice));
}

Outcome check_context(hipCtx_t context) {
  if (context == primary_context()) return {};
  return refuse(hipErrorInvalidContext, "The context is not that of the device.");
}

template <typename T>
Outcome give(T* out, T value) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  *out = value;
  return {};
}

template <typename T>
Outcome give_for(int device, T* out, T value) {
  MARGAY_CHECK(check_device(device));
  return give(out, value);
}

Outcome give_text(char* out, int capacity, std::string_view text) {
  if (out == nullptr || capacity <= 0) {
    return refuse(hipErrorInvalidValue, "The buffer for the text is null or empty.");
  }
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(capacity) - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
  return {};
}

Outcome give_limit(std::size_t* out, int limit) {
  // Bytes. Sources: HIP documentation, "hipDeviceGetLimit"; device heap and stack as ROCm sets
  // them.
  constexpr std::size_t kPrintfFifoBytes = 1 << 20;
  constexpr std::size_t kMallocHeapBytes = 4 << 20;
  constexpr std::size_t kStackBytes = 1 << 10;
  switch (limit) {
    case hipLimitPrintfFifoSize:
      return give(out, kPrintfFifoBytes);
    case hipLimitMallocHeapSize:
      return give(out, kMallocHeapBytes);
    case hip6::kLimitStackSize:
      return give(out, kStackBytes);
    default:
      return refuse(hipErrorUnsupportedLimit, fmt::format("There is no device limit {}.", limit));
  }
}

// HIP 6.0.0, in the form major * 10^7 + minor * 10^5 + patch: its structures and names are here.
constexpr int kHipVersion = 60'000'000;

Outcome check_cache_config(hipFuncCache_t config) {
  if (config >= hipFuncCachePreferNone && config <= hipFuncCachePreferEqual) return {};
  return refuse(hipErrorInvalidValue, "The cache preference is not one of hipFuncCachePrefer*.");
}

Outcome check_lds_config(hipSharedMemConfig config) {
  if (config >= hipSharedMemBankSizeDefault && config <= hipSharedMemBankSizeEightByte) return {};
  return refuse(hipErrorInvalidValue, "The bank size is not one of hipSharedMemBankSize*.");
}

}  // namespace
}  // namespace margay::runtime

using namespace margay;           // NOLINT: the exported functions below are its C face
using namespace margay::runtime;  // NOLINT

extern "C" {

hipError_t hipInit(unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    if (flags != 0) return refuse(hipErrorInvalidValue, "The flags of hipInit have to be 0.");
    return {};
  });
}

hipError_t hipGetDeviceCount(int* count) {
  return api(__func__, [&] { return give(count, 1); });
}
hipError_t hipGetDevice(int* device) {
  return api(__func__, [&] { return give(device, kDevice); });
}
hipError_t hipSetDevice(int device) {
  return api(__func__, [&] { return check_device(device); });
}
hipError_t hipSetValidDevices(int* devices, int count) {
  return api(__func__, [&]() -> Outcome {
    for (int i = 0; devices != nullptr && i < count; ++i) MARGAY_CHECK(check_device(devices[i]));
    return {};
  });
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return api(__func__, [&] { return give_for(ordinal, device, kDevice); });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return api(__func__, [&]() -> Outcome {
    return give_for(device, properties, properties_r0000(Runtime::instance().properties()));
  });
}
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  return api(__func__, [&]() -> Outcome {
    return give_for(device, properties, properties_r0600(Runtime::instance().properties()));
  });
}
hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* properties) {
  return api(__func__, [&]() -> Outcome {
    if (properties == nullptr) return refuse(hipErrorInvalidValue, "The wish is a null pointer.");
    return give(device, kDevice);
  });
}
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties) {
  return api(__func__, [&]() -> Outcome {
    if (properties == nullptr) return refuse(hipErrorInvalidValue, "The wish is a null pointer.");
    return give(device, kDevice);
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(device));
    const auto known = device_attribute(Runtime::instance().properties(), attribute);
    if (!known) {
      return refuse(hipErrorInvalidValue, fmt::format("The device has no attribute number {}.",
                                                      static_cast<int>(attribute)));
    }
    return give(value, *known);
  });
}

hipError_t hipDeviceGetName(char* name, int capacity, hipDevice_t device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(device));
    return give_text(name, capacity, Runtime::instance().properties().name);
  });
}
hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  return api(__func__, [&] {
    return give_for(device, bytes,
                    static_cast<std::size_t>(Runtime::instance().properties().global_bytes));
  });
}
hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return api(__func__, [&] {
    hipUUID value;
    std::memcpy(value.bytes, kUuid.data(), kUuid.size());
    return give_for(device, uuid, value);
  });
}
hipError_t hipDeviceGetPCIBusId(char* id, int capacity, int device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(device));
    return give_text(id, capacity, kPciBusId);
  });
}
hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
  return api(__func__, [&]() -> Outcome {
    if (id == nullptr) return refuse(hipErrorInvalidValue, "The PCI bus id is a null pointer.");
    // With or without the function number.
    if (std::string_view(id).empty() || !kPciBusId.starts_with(id)) {
      return refuse(hipErrorInvalidDevice, fmt::format("There is no device at PCI bus id {}.", id));
    }
    return give(device, kDevice);
  });
}
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(give_for(device, major, kArchitectureMajor));
    return give(minor, kArchitectureMinor);
  });
}

hipError_t hipDriverGetVersion(int* version) {
  return api(__func__, [&] { return give(version, kHipVersion); });
}
hipError_t hipRuntimeGetVersion(int* version) {
  return api(__func__, [&] { return give(version, kHipVersion); });
}

hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return api(__func__, [&]() -> Outcome {
    Device* const device = MARGAY_TRY(Runtime::instance().device());
    const std::uint64_t total = Runtime::instance().properties().global_bytes;
    if (free_bytes != nullptr) {
      *free_bytes = total - std::min(total, device->memory().allocated_bytes());
    }
    if (total_bytes != nullptr) *total_bytes = total;
    return {};
  });
}

hipError_t hipDeviceReset() {
  return api(__func__, [] { return Runtime::instance().reset(); });
}

hipError_t hipDeviceGetLimit(std::size_t* value, enum hipLimit_t limit) {
  return api(__func__, [&] { return give_limit(value, limit); });
}
hipError_t hipDeviceSetLimit(enum hipLimit_t limit, std::size_t) {
  return api(__func__, [&]() -> Outcome {
    return refuse(hipErrorUnsupportedLimit,
                  fmt::format("The device limit {} cannot be changed.", static_cast<int>(limit)));
  });
}
hipError_t hipSetDeviceFlags(unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    device_flags = flags;
    return {};
  });
}
hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return api(__func__, [&] { return give(flags, device_flags.load()); });
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  return api(__func__, [&] { return check_cache_config(config); });
}
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return api(__func__, [&] { return give(config, hipFuncCachePreferNone); });
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  return api(__func__, [&] { return check_lds_config(config); });
}
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return api(__func__, [&] { return give(config, hipSharedMemBankSizeFourByte); });
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(device));
    return give_for(peer, can, 0);  // a device is not its own peer
  });
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(peer));
    return refuse(hipErrorInvalidDevice, "A device cannot be its own peer.");
  });
}
hipError_t hipDeviceDisablePeerAccess(int peer) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(peer));
    return refuse(hipErrorPeerAccessNotEnabled, "Peer access was not enabled.");
  });
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(give_for(device, flags, device_flags.load()));
    return give(active, 1);
  });
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return api(__func__, [&] { return give_for(device, context, primary_context()); });
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return api(__func__, [&] { return check_device(device); });
}
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(device));
    return Runtime::instance().reset();
  });
}
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_device(device));
    device_flags = flags;
    return {};
  });
}
hipError_t hipCtxCreate(hipCtx_t* context, unsigned int, hipDevice_t device) {
  return api(__func__, [&] { return give_for(device, context, primary_context()); });
}
hipError_t hipCtxDestroy(hipCtx_t context) {
  return api(__func__, [&] { return check_context(context); });
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return api(__func__, [&]() -> Outcome {
    if (context == nullptr) return {};  // detaches the thread, which changes nothing here
    return check_context(context);
  });
}
hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return api(__func__, [&] { return check_context(context); });
}
hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  if (context != nullptr) *context = primary_context();
  return hipSuccess;
}
hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return api(__func__, [&] { return give(context, primary_context()); });
}
hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return api(__func__, [&] { return give(device, kDevice); });
}
hipError_t hipCtxGetApiVersion(hipCtx_t context, int* version) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_context(context));
    return give(version, kHipVersion);
  });
}
hipError_t hipCtxGetFlags(unsigned int* flags) {
  return api(__func__, [&] { return give(flags, device_flags.load()); });
}
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* config) {
  return api(__func__, [&] { return give(config, hipFuncCachePreferNone); });
}
hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) {
  return api(__func__, [&] { return check_cache_config(config); });
}
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) {
  return api(__func__, [&] { return give(config, hipSharedMemBankSizeFourByte); });
}
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) {
  return api(__func__, [&] { return check_lds_config(config); });
}

hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

}  // extern "C"
