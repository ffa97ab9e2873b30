// The HIP calls that allocate, free and describe memory.
#include <fmt/format.h>

#include <cstring>

#include "runtime/base/abi.h"
#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

// Rows of pitched allocations start at multiples of this many bytes. Source: texturePitchAlignment.
constexpr std::size_t kPitchAlignment = 256;

Outcome allocate(void** out, std::size_t bytes, MemoryKind kind, unsigned flags,
                 const char* label) {
  return process().allocator.allocate(out, bytes, {.kind = kind, .flags = flags, .label = label});
}

Outcome allocate_pitched(void** out, std::size_t* pitch, std::size_t width, std::size_t height,
                         std::size_t depth) {
  if (out == nullptr || pitch == nullptr) {
    return refuse(hipErrorInvalidValue, "The result or the pitch is a null pointer.");
  }
  std::size_t row = 0;
  std::size_t bytes = 0;
  if (__builtin_add_overflow(width, kPitchAlignment - 1, &row) ||
      __builtin_mul_overflow(row & ~(kPitchAlignment - 1), height, &bytes) ||
      __builtin_mul_overflow(bytes, depth, &bytes)) {
    return refuse(
        hipErrorOutOfMemory,
        fmt::format("{} x {} rows of {} bytes do not fit any memory.", depth, height, width));
  }
  *pitch = row & ~(kPitchAlignment - 1);
  return allocate(out, bytes, MemoryKind::device, 0, "hipMallocPitch");
}

Outcome check_flags(unsigned flags, unsigned known) {
  if ((flags & ~known) == 0) return {};
  return refuse(hipErrorInvalidValue,
                fmt::format("The flags {:#x} hold an unknown bit.", flags & ~known));
}

Outcome allocate_host(void** out, std::size_t bytes, unsigned flags, const char* label) {
  // hipHostMallocPortable, Mapped, WriteCombined; Uncached (HIP 6), NumaUser, Coherent,
  // NonCoherent.
  MARGAY_CHECK(check_flags(flags, 0xf000'0007));
  return allocate(out, bytes, MemoryKind::host, flags, label);
}

Outcome register_host(void* pointer, std::size_t bytes, unsigned flags) {
  // hipHostRegisterPortable, Mapped, IoMemory, ReadOnly; hipExtHostRegisterUncached.
  MARGAY_CHECK(check_flags(flags, 0x8000'000f));
  if (pointer == nullptr || bytes == 0) {
    return refuse(hipErrorInvalidValue, "The memory to register is null or empty.");
  }
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  AllocationTable& table = process().allocator.table();
  // Programs free memory that they registered, and register what malloc() gives them in its place:
  // ROCm takes that.
  if (const auto before = table.find(address);
      before && before->kind == MemoryKind::registered && before->address == address)
    table.remove(address);
  if (table.find(address) || table.find(address + bytes - 1)) {
    return refuse(hipErrorHostMemoryAlreadyRegistered,
                  fmt::format("The memory at {} is registered already.", pointer));
  }
  table.add({MemoryKind::registered, Devices::current(), flags, address, bytes, nullptr});
  return {};
}

Outcome unregister_host(void* pointer) {
  if (pointer == nullptr) return refuse(hipErrorInvalidValue, "The memory is a null pointer.");
  process().ordering.host_waits_for_all();
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  AllocationTable& table = process().allocator.table();
  const auto record = table.find(address);
  if (!record || record->kind != MemoryKind::registered || record->address != address) {
    return refuse(
        hipErrorHostMemoryNotRegistered,
        fmt::format("The memory at {} was not registered with hipHostRegister.", pointer));
  }
  table.remove(address);
  return {};
}

Answer<AllocationRecord> host_record(const void* pointer) {
  const auto record = process().allocator.table().find(pointer);
  if (!record || (record->kind != MemoryKind::host && record->kind != MemoryKind::registered)) {
    return refuse(
        hipErrorInvalidValue,
        fmt::format("The memory at {} is neither from hipHostMalloc nor registered.", pointer));
  }
  return *record;
}

int memory_type(MemoryKind kind, HipAbi abi) {
  const bool host = kind == MemoryKind::host || kind == MemoryKind::registered;
  if (abi == HipAbi::hip5) return host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  if (kind == MemoryKind::managed) return hip6::kMemoryTypeManaged;
  return host ? hip6::kMemoryTypeHost : hip6::kMemoryTypeDevice;
}

// Libraries ask this about any pointer to find out its owner: "unknown" is an answer, not a fault.
Outcome describe_pointer(hipPointerAttribute_t* out, const void* pointer, HipAbi abi) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  const auto record = process().allocator.table().find(pointer);
  std::memset(out, 0, sizeof *out);
  if (!record) {
    if (abi == HipAbi::hip6) {
      out->device = -2;  // hipInvalidDeviceId; the type stays hipMemoryTypeUnregistered
      return {};
    }
    return refuse_silently(hipErrorInvalidValue, "The pointer is not known to HIP.");
  }
  const int type = memory_type(record->kind, abi);
  static_assert(sizeof out->memoryType == sizeof type);
  std::memcpy(&out->memoryType, &type,
              sizeof type);  // HIP 6 values are not HIP 5 enumerators
  out->device = static_cast<int>(record->device);
  out->devicePointer = const_cast<void*>(pointer);
  out->hostPointer = record->kind == MemoryKind::device ? nullptr : const_cast<void*>(pointer);
  out->isManaged = record->kind == MemoryKind::managed ? 1 : 0;
  out->allocationFlags = record->flags;
  return {};
}

Answer<bool> is_readable(const void* pointer) {
  Device* const device = MARGAY_TRY(process().devices.get());
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  return device->memory().readable_range(address).contains(address, 1);
}

Outcome pointer_attribute(void* out, hipPointer_attribute attribute, hipDeviceptr_t pointer,
                          HipAbi abi) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  const auto record = process().allocator.table().find(pointer);
  const auto give = [out](auto value) -> Outcome {
    std::memcpy(out, &value, sizeof value);
    return {};
  };
  if (!record) {
    // Memory that HIP did not allocate: ROCm's runtime returns hipErrorInvalidValue and these
    // values, on systems with HMM as well (clr, hip_memory.cpp, ihipPointerGetAttributes, 2025).
    // But programs ask for the device address of memory in order to pass it to a kernel (Triton
    // does for a CPU tensor), and here every kernel can use it.
    switch (attribute) {
      case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (MARGAY_TRY(is_readable(pointer))) return give(pointer);
        MARGAY_CHECK(give(static_cast<void*>(nullptr)));
        break;
      case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        MARGAY_CHECK(give(static_cast<void*>(nullptr)));
        break;
      case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        MARGAY_CHECK(give(-2));  // hipInvalidDeviceId
        break;
      case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
        MARGAY_CHECK(give(0));
        break;
      case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      case HIP_POINTER_ATTRIBUTE_MAPPED:
        MARGAY_CHECK(give(false));
        break;
      default:
        break;
    }
    return refuse_silently(hipErrorInvalidValue, "The pointer is not known to HIP.");
  }
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(memory_type(record->kind, abi));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(pointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      return give(record->kind == MemoryKind::device ? nullptr : pointer);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(static_cast<int>(record->kind == MemoryKind::managed));
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(static_cast<int>(record->device));
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(record->address);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give(record->size_bytes);
    case HIP_POINTER_ATTRIBUTE_MAPPED:
      return give(1);
    default:
      return refuse(hipErrorNotSupported,
                    fmt::format("The pointer attribute {} is not there in Margay.",
                                static_cast<int>(attribute)));
  }
}

}  // namespace

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipMalloc(void** out, std::size_t bytes) {
  return api(__func__, [&] { return allocate(out, bytes, MemoryKind::device, 0, "hipMalloc"); });
}
hipError_t hipExtMallocWithFlags(void** out, std::size_t bytes, unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    // The others control caching and layout of memory, which makes no difference to a program here.
    if (flags == hipMallocSignalMemory && bytes != sizeof(std::uint64_t))
      return refuse(hipErrorInvalidValue, "Signal memory is one word of 8 bytes.");
    if (flags > margay::hip6::kDeviceMallocContiguous)
      return refuse(hipErrorInvalidValue, "The flags are not one of hipDeviceMalloc*.");
    return allocate(out, bytes, MemoryKind::device, flags, "hipExtMallocWithFlags");
  });
}
hipError_t hipMallocManaged(void** out, std::size_t bytes, unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    if (bytes == 0 || (flags != hipMemAttachGlobal && flags != hipMemAttachHost)) {
      return refuse(hipErrorInvalidValue,
                    "The size is 0, or the flags are not hipMemAttachGlobal or "
                    "hipMemAttachHost.");
    }
    return allocate(out, bytes, MemoryKind::managed, flags, "hipMallocManaged");
  });
}
hipError_t hipHostMalloc(void** out, std::size_t bytes, unsigned int flags) {
  return api(__func__, [&] { return allocate_host(out, bytes, flags, "hipHostMalloc"); });
}
hipError_t hipHostAlloc(void** out, std::size_t bytes, unsigned int flags) {
  return api(__func__, [&] { return allocate_host(out, bytes, flags, "hipHostAlloc"); });
}
hipError_t hipMallocHost(void** out, std::size_t bytes) {
  return api(__func__, [&] { return allocate(out, bytes, MemoryKind::host, 0, "hipMallocHost"); });
}
hipError_t hipMemAllocHost(void** out, std::size_t bytes) {
  return api(__func__,
             [&] { return allocate(out, bytes, MemoryKind::host, 0, "hipMemAllocHost"); });
}

hipError_t hipMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  return api(__func__, [&] { return allocate_pitched(out, pitch, width, height, 1); });
}
hipError_t hipMemAllocPitch(hipDeviceptr_t* out, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned int) {
  return api(__func__, [&] { return allocate_pitched(out, pitch, width, height, 1); });
}
hipError_t hipMalloc3D(hipPitchedPtr* out, hipExtent extent) {
  return api(__func__, [&]() -> Outcome {
    if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    MARGAY_CHECK(
        allocate_pitched(&out->ptr, &out->pitch, extent.width, extent.height, extent.depth));
    out->xsize = extent.width;
    out->ysize = extent.height;
    return {};
  });
}

hipError_t hipFree(void* pointer) {
  return api(__func__, [&] {
    process().in_flight.wait_for_all();  // as on a device: work in flight may use the memory
    process().ordering.host_waits_for_all();
    return process().allocator.free_device(pointer);
  });
}
hipError_t hipHostFree(void* pointer) {
  return api(__func__, [&] {
    process().in_flight.wait_for_all();
    process().ordering.host_waits_for_all();
    return process().allocator.free_host(pointer);
  });
}
hipError_t hipFreeHost(void* pointer) {
  return api(__func__, [&] {
    process().in_flight.wait_for_all();
    process().ordering.host_waits_for_all();
    return process().allocator.free_host(pointer);
  });
}

hipError_t hipHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return api(__func__, [&] { return register_host(pointer, bytes, flags); });
}
hipError_t hipHostUnregister(void* pointer) {
  return api(__func__, [&] { return unregister_host(pointer); });
}
hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned int) {
  return api(__func__, [&]() -> Outcome {
    if (device_pointer == nullptr) {
      return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    }
    MARGAY_TRY(host_record(host_pointer));
    *device_pointer = host_pointer;
    return {};
  });
}
hipError_t hipHostGetFlags(unsigned int* flags, void* host_pointer) {
  return api(__func__, [&]() -> Outcome {
    if (flags == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    *flags = MARGAY_TRY(host_record(host_pointer)).flags;
    return {};
  });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  const HipAbi abi = abi_of_caller(__builtin_return_address(0));
  return api(__func__, [&] { return describe_pointer(attributes, pointer, abi); });
}
hipError_t hipPointerGetAttribute(void* out, hipPointer_attribute attribute,
                                  hipDeviceptr_t pointer) {
  const HipAbi abi = abi_of_caller(__builtin_return_address(0));
  return api(__func__, [&] { return pointer_attribute(out, attribute, pointer, abi); });
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* bytes, hipDeviceptr_t pointer) {
  return api(__func__, [&]() -> Outcome {
    const auto record = process().allocator.table().find(pointer);
    if (!record) {
      return refuse(hipErrorNotFound,
                    fmt::format("The address {} is not in memory allocated by HIP.", pointer));
    }
    if (base != nullptr) *base = reinterpret_cast<hipDeviceptr_t>(record->address);
    if (bytes != nullptr) *bytes = record->size_bytes;
    return {};
  });
}
hipError_t hipMemPtrGetInfo(void* pointer, std::size_t* bytes) {
  return api(__func__, [&]() -> Outcome {
    if (bytes == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    const auto record = process().allocator.table().find(pointer);
    if (!record) {
      return refuse(hipErrorInvalidValue,
                    fmt::format("The address {} is not in memory allocated by HIP.", pointer));
    }
    *bytes = record->size_bytes;
    return {};
  });
}

}  // extern "C"
