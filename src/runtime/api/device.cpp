// The HIP calls that describe and select the devices: MARGAY_DEVICES many (one), all of the machine
// that MARGAY_DEVICE names.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device_info.h"
#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

int device_count() { return static_cast<int>(process().devices.count()); }
int current_device() { return static_cast<int>(Devices::current()); }

int pci_bus(int device) { return device + 1; }
// "domain:bus:device.function", the form hipDeviceGetPCIBusId documents.
std::string pci_bus_id(int device) { return fmt::format("0000:{:02x}:00.0", pci_bus(device)); }
// Sixteen characters, as the ROCm runtime fills this field.
hipUUID uuid_of(int device) {
  hipUUID uuid;
  const std::string text =
      fmt::format("margay-{:_<6.6}-{:02}", process().devices.gpu().option, device);
  std::memcpy(uuid.bytes, text.data(), sizeof uuid.bytes);
  return uuid;
}

// HIP's contexts are deprecated and represent the devices.
std::array<char, kMaxDevices> contexts;
hipCtx_t context_of(int device) { return reinterpret_cast<hipCtx_t>(&contexts[device]); }

Answer<int> device_of_context(hipCtx_t context) {
  for (int device = 0; device < device_count(); ++device)
    if (context == context_of(device)) return device;
  return refuse(hipErrorInvalidContext, "The context is not that of a device.");
}
Outcome check_context(hipCtx_t context) {
  MARGAY_TRY(device_of_context(context));
  return {};
}

Outcome select(int device) {
  MARGAY_CHECK(process().devices.check(device));
  Devices::set_current(static_cast<unsigned>(device));
  return {};
}
Outcome select(hipCtx_t context) { return select(MARGAY_TRY(device_of_context(context))); }

// hipCtxPushCurrent's stack, without the current context.
std::vector<int>& pushed_devices() {
  thread_local std::vector<int> devices;
  return devices;
}
Outcome push(hipCtx_t context) {
  const int device = MARGAY_TRY(device_of_context(context));
  pushed_devices().push_back(current_device());
  return select(device);
}
Outcome pop(hipCtx_t* out) {
  if (out != nullptr) *out = context_of(current_device());
  if (pushed_devices().empty()) return {};
  const int device = pushed_devices().back();
  pushed_devices().pop_back();
  return select(device);
}

Outcome check_pair(int device, int peer) {
  MARGAY_CHECK(process().devices.check(device));
  return process().devices.check(peer);
}
Outcome change_peer(int peer, bool access) {
  MARGAY_CHECK(process().devices.check(peer));
  const int device = current_device();
  if (peer == device) return refuse(hipErrorInvalidDevice, "A device cannot be its own peer.");
  std::atomic<std::uint64_t>& peers = process().devices.peers(static_cast<unsigned>(device));
  const std::uint64_t bit = std::uint64_t{1} << peer;
  const bool had = ((access ? peers.fetch_or(bit) : peers.fetch_and(~bit)) & bit) != 0;
  if (had == !access) return {};
  // Programs and libraries each ask for the access that they need, and all but the first get this
  // code.
  return access ? refuse_silently(
                      hipErrorPeerAccessAlreadyEnabled,
                      fmt::format("Device {} has access to device {} already.", device, peer))
                : refuse(hipErrorPeerAccessNotEnabled,
                         fmt::format("Device {} has no access to device {} that could end.", device,
                                     peer));
}

template <typename Properties>
Properties numbered(Properties p, int device) {
  p.pciBusID = pci_bus(device);
  if constexpr (requires { p.uuid; }) p.uuid = uuid_of(device);
  return p;
}

template <typename T>
Outcome give(T* out, T value) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  *out = value;
  return {};
}

template <typename T>
Outcome give_for(int device, T* out, T value) {
  MARGAY_CHECK(process().devices.check(device));
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

/// Bytes that a device's memory may take of the host's: four fifths of what the machine has, or the
/// control group that this process is in.
std::uint64_t usable_host_memory() {
  static const std::uint64_t bytes = [] {
    std::uint64_t all = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    for (const char* const limit :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      std::uint64_t most = 0;
      if (std::ifstream(limit) >> most && most != 0) all = std::min(all, most);
    }
    return all / 5 * 4;
  }();
  return bytes;
}

Outcome give_limit(std::size_t* out, int limit) {
  // Bytes. Source: HIP documentation, "hipDeviceGetLimit".
  constexpr std::size_t kPrintfFifoBytes = 1 << 20;
  const Devices::Limits& limits = process().devices.limits(Devices::current());
  switch (limit) {
    case hipLimitPrintfFifoSize:
      return give(out, kPrintfFifoBytes);
    case hipLimitMallocHeapSize:
      return give(out, limits.heap_bytes.load());
    case hip6::kLimitStackSize:
      return give(out, limits.stack_bytes.load());
    default:
      return refuse(hipErrorUnsupportedLimit, fmt::format("There is no device limit {}.", limit));
  }
}

Outcome set_limit(int limit, std::size_t bytes) {
  // COMPUTE_TMPRING_SIZE.WAVESIZE of gfx9 has 13 bits, in units of 256 dwords for a wave (LLVM,
  // SIProgramInfo).
  constexpr std::size_t kMostStackBytes = ((1 << 13) - 1) * 256 * 4 / 64;
  Devices::Limits& limits = process().devices.limits(Devices::current());
  switch (limit) {
    case hipLimitPrintfFifoSize:
      return refuse(hipErrorUnsupportedLimit, "The size of printf's buffer cannot be changed.");
    case hipLimitMallocHeapSize:
      limits.heap_bytes = bytes;
      return {};
    case hip6::kLimitStackSize:
      if (bytes > kMostStackBytes)
        return refuse(hipErrorInvalidValue,
                      fmt::format("A lane has no more than {} bytes of stack.", kMostStackBytes));
      limits.stack_bytes = bytes;
      return {};
    default:
      return refuse(hipErrorInvalidValue, fmt::format("There is no device limit {}.", limit));
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

/// For bindings: the possible values of MARGAY_DEVICE, separated by commas. Reads no settings.
__attribute__((visibility("default"))) const char* margayDevices() {
  static const std::string options = gpu_options();
  return options.c_str();
}
/// For programs and bindings: what hipEventElapsedTime gives from now on, by the names of
/// MARGAY_EVENT_TIME; null changes nothing. Returns the name of what it gave before; null for a
/// name that does not exist.
__attribute__((visibility("default"))) const char* margayEventTime(const char* name) {
  Devices& devices = process().devices;
  const EventTime before = devices.event_time();
  if (name != nullptr) {
    const auto time = event_time_named(name);
    if (!time) return nullptr;
    devices.set_event_time(*time);
  }
  return name_of(before).data();
}
/// For bindings: the MARGAY_DEVICE name of this process's machine; null if its settings cannot be
/// read.
__attribute__((visibility("default"))) const char* margayDevice() {
  const Devices& devices = process().devices;
  return devices.settings_error() == nullptr ? devices.gpu().option.data() : nullptr;
}

hipError_t hipInit(unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    if (flags != 0) return refuse(hipErrorInvalidValue, "The flags of hipInit have to be 0.");
    return {};
  });
}

hipError_t hipGetDeviceCount(int* count) {
  return api(__func__, [&] { return give(count, device_count()); });
}
hipError_t hipGetDevice(int* device) {
  return api(__func__, [&] { return give(device, current_device()); });
}
hipError_t hipSetDevice(int device) {
  return api(__func__, [&] { return select(device); });
}
hipError_t hipSetValidDevices(int* devices, int count) {
  return api(__func__, [&]() -> Outcome {
    for (int i = 0; devices != nullptr && i < count; ++i)
      MARGAY_CHECK(process().devices.check(devices[i]));
    return {};
  });
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return api(__func__, [&] { return give_for(ordinal, device, ordinal); });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return api(__func__, [&]() -> Outcome {
    return give_for(device, properties,
                    numbered(properties_r0000(process().devices.gpu()), device));
  });
}
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  return api(__func__, [&]() -> Outcome {
    return give_for(device, properties,
                    numbered(properties_r0600(process().devices.gpu()), device));
  });
}
hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* properties) {
  return api(__func__, [&]() -> Outcome {
    if (properties == nullptr) return refuse(hipErrorInvalidValue, "The wish is a null pointer.");
    return give(device, current_device());
  });
}
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties) {
  return api(__func__, [&]() -> Outcome {
    if (properties == nullptr) return refuse(hipErrorInvalidValue, "The wish is a null pointer.");
    return give(device, current_device());
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().devices.check(device));
    const auto known = device_attribute(process().devices.gpu(), attribute);
    if (!known) {
      return refuse(hipErrorInvalidValue, fmt::format("The device has no attribute number {}.",
                                                      static_cast<int>(attribute)));
    }
    return give(value, attribute == hipDeviceAttributePciBusId ? pci_bus(device) : *known);
  });
}

hipError_t hipDeviceGetName(char* name, int capacity, hipDevice_t device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().devices.check(device));
    return give_text(name, capacity, process().devices.gpu().name);
  });
}
hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  return api(__func__, [&] {
    return give_for(device, bytes, static_cast<std::size_t>(process().devices.gpu().memory_bytes));
  });
}
hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return api(__func__, [&] { return give_for(device, uuid, uuid_of(device)); });
}
hipError_t hipDeviceGetPCIBusId(char* id, int capacity, int device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().devices.check(device));
    return give_text(id, capacity, pci_bus_id(device));
  });
}
hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
  return api(__func__, [&]() -> Outcome {
    if (id == nullptr) return refuse(hipErrorInvalidValue, "The PCI bus id is a null pointer.");
    for (int n = 0; n < device_count(); ++n)
      if (const std::string whole = pci_bus_id(n);
          id == whole || id == whole.substr(0, whole.find('.')))  // without the function's number
        return give(device, n);
    return refuse(hipErrorInvalidDevice, fmt::format("There is no device at PCI bus id {}.", id));
  });
}
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(give_for(device, major, process().devices.gpu().arch().version.major));
    return give(minor, process().devices.gpu().arch().version.minor);
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
    Device* const device = MARGAY_TRY(process().devices.get());
    const std::uint64_t total = process().devices.gpu().memory_bytes;
    if (free_bytes != nullptr) {
      // Programs take most of what is free, and write to it.
      const std::uint64_t usable =
          std::min(total, usable_host_memory() / process().devices.count());
      *free_bytes = usable - std::min(usable, device->memory().allocated_bytes(Devices::current()));
    }
    if (total_bytes != nullptr) *total_bytes = total;
    return {};
  });
}

hipError_t hipDeviceReset() {
  return api(__func__, [] { return process().reset_device(); });
}

hipError_t hipDeviceGetLimit(std::size_t* value, enum hipLimit_t limit) {
  return api(__func__, [&] { return give_limit(value, limit); });
}
hipError_t hipDeviceSetLimit(enum hipLimit_t limit, std::size_t value) {
  return api(__func__, [&] { return set_limit(limit, value); });
}
hipError_t hipSetDeviceFlags(unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    // ROCm keeps no others (clr, hip_device_runtime.cpp).
    process().devices.flags() = flags & hipDeviceScheduleMask;
    return {};
  });
}
hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return api(__func__, [&] { return give(flags, process().devices.flags().load()); });
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
    MARGAY_CHECK(check_pair(device, peer));
    return give(can, device != peer ? 1 : 0);  // a device is not its own peer
  });
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int) {
  return api(__func__, [&] { return change_peer(peer, true); });
}
/// Gives `device` access to the memory of `peer`, if it has none yet: for libraries, which do not
/// know what the program has asked for and would be refused if it has.
__attribute__((visibility("default"))) hipError_t margayAllowPeerAccess(int device, int peer) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_pair(device, peer));
    if (device != peer)
      process().devices.peers(static_cast<unsigned>(device)).fetch_or(std::uint64_t{1} << peer);
    return {};
  });
}
hipError_t hipDeviceDisablePeerAccess(int peer) {
  return api(__func__, [&] { return change_peer(peer, false); });
}
hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned int) {
  return api(__func__,
             [&]() -> Outcome { return change_peer(MARGAY_TRY(device_of_context(peer)), true); });
}
hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  return api(__func__,
             [&]() -> Outcome { return change_peer(MARGAY_TRY(device_of_context(peer)), false); });
}
hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int device, int peer) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_pair(device, peer));
    if (device == peer) return refuse(hipErrorInvalidDevice, "A device cannot be its own peer.");
    switch (attribute) {
      case hipDevP2PAttrPerformanceRank:
        return give(value, 0);
      case hipDevP2PAttrAccessSupported:
      case hipDevP2PAttrNativeAtomicSupported:
        return give(value, 1);
      case hipDevP2PAttrHipArrayAccessSupported:
        return give(value, 0);
    }
    return refuse(hipErrorInvalidValue, "The attribute is not one of hipDevP2PAttr*.");
  });
}
hipError_t hipExtGetLinkTypeAndHopCount(int device, int peer, std::uint32_t* type,
                                        std::uint32_t* hops) {
  return api(__func__, [&]() -> Outcome {
    // Whatever is wrong has one code in ROCm (clr, hip_peer.cpp).
    if (device == peer || type == nullptr || hops == nullptr || !process().devices.check(device) ||
        !process().devices.check(peer))
      return refuse(hipErrorInvalidValue,
                    "The devices are one and the same, one of them does not exist, or a result is "
                    "a null pointer.");
    // All eight MI325X of a platform are linked directly. Source: AMD MI325X platform data sheet;
    // HSA_AMD_LINK_INFO_TYPE_XGMI in hsa_ext_amd.h.
    constexpr std::uint32_t kXgmi = 4;
    *type = kXgmi;
    *hops = 1;
    return {};
  });
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(give_for(device, flags, process().devices.flags().load()));
    return give(active, 1);
  });
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return api(__func__, [&] { return give_for(device, context, context_of(device)); });
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return api(__func__, [&] { return process().devices.check(device); });
}
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().devices.check(device));
    const int before = current_device();
    MARGAY_CHECK(select(device));
    Outcome outcome = process().reset_device();
    MARGAY_CHECK(select(before));
    return outcome;
  });
}
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(process().devices.check(device));
    process().devices.flags() = flags;
    return {};
  });
}
hipError_t hipCtxCreate(hipCtx_t* context, unsigned int, hipDevice_t device) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(give_for(device, context, context_of(device)));
    return push(*context);
  });
}
hipError_t hipCtxDestroy(hipCtx_t context) {
  return api(__func__, [&] { return check_context(context); });
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return api(__func__, [&]() -> Outcome {
    if (context == nullptr) return {};  // detaches the thread, which changes nothing here
    return select(context);
  });
}
hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return api(__func__, [&] { return push(context); });
}
hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  return api(__func__, [&] { return pop(context); });
}
hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return api(__func__, [&] { return give(context, context_of(current_device())); });
}
hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return api(__func__, [&] { return give(device, current_device()); });
}
hipError_t hipCtxGetApiVersion(hipCtx_t context, int* version) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(check_context(context));
    return give(version, kHipVersion);
  });
}
hipError_t hipCtxGetFlags(unsigned int* flags) {
  return api(__func__, [&] { return give(flags, process().devices.flags().load()); });
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
