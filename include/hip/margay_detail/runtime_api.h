// What HIP 6 and 7 added to the API of the runtime, for the headers of HIP 5.2. Names, members and
// values: HIP documentation, "HIP runtime API reference" (modules and data structures); the numbers
// that the library gives or takes are HIP 5.2's where the two differ. C++11, and only as C++:
// included by ../hip_runtime_api.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_properties.h"

/// Under HIP 6's symbol name, so that HIP 5's functions of the same name are not called.
#define hipDeviceProp_t hipDeviceProp_tR0600
#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipChooseDevice hipChooseDeviceR0600

/// HIP 6 calls the first member `type`, HIP 5 `memoryType`.
struct hipPointerAttribute_t {
  union {
    hipMemoryType type;
    hipMemoryType memoryType;
  };
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned int allocationFlags;
};
static_assert(sizeof(hipPointerAttribute_t) == sizeof(margay_hip5_hipPointerAttribute_t),
              "the library writes this structure");

// hipDeviceAttribute_t
static constexpr auto hipDeviceAttributeVirtualMemoryManagementSupported =
    static_cast<hipDeviceAttribute_t>(89);
static constexpr auto hipDeviceAttributeHostRegisterSupported =
    static_cast<hipDeviceAttribute_t>(90);
static constexpr auto hipDeviceAttributeMemoryPoolSupportedHandleTypes =
    static_cast<hipDeviceAttribute_t>(91);
static constexpr auto hipDeviceAttributeWallClockRate = static_cast<hipDeviceAttribute_t>(10017);
static constexpr auto hipDeviceAttributeNumberOfXccs = static_cast<hipDeviceAttribute_t>(10018);
static constexpr auto hipDeviceAttributeMaxAvailableVgprsPerThread =
    static_cast<hipDeviceAttribute_t>(10019);
static constexpr auto hipDeviceAttributePciChipId = static_cast<hipDeviceAttribute_t>(10020);

// hipLimit_t, hipError_t, hipGraphNodeType
static constexpr hipLimit_t hipLimitStackSize = static_cast<hipLimit_t>(0);
static constexpr hipError_t hipErrorInvalidChannelDescriptor = static_cast<hipError_t>(911);
static constexpr hipError_t hipErrorInvalidTexture = static_cast<hipError_t>(912);
static constexpr hipGraphNodeType hipGraphNodeTypeMemAlloc = static_cast<hipGraphNodeType>(13);
static constexpr hipGraphNodeType hipGraphNodeTypeMemFree = static_cast<hipGraphNodeType>(14);

// Flags
#define hipStreamLegacy (reinterpret_cast<hipStream_t>(1))
#define hipEventRecordDefault 0x0
#define hipEventRecordExternal 0x1
#define hipEventWaitDefault 0x0
#define hipEventWaitExternal 0x1
#define hipEventDisableSystemFence 0x20000000
#define hipHostAllocDefault 0x0
#define hipHostAllocPortable 0x1
#define hipHostAllocMapped 0x2
#define hipHostAllocWriteCombined 0x4
#define hipHostAllocUncached 0x10000000
#define hipHostMallocUncached 0x10000000
#define hipHostRegisterReadOnly 0x8
#define hipDeviceMallocUncached 0x3
#define hipDeviceMallocContiguous 0x4

struct hipMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const hipMemAccessDesc* accessDescs;
  std::size_t accessDescCount;
  std::size_t bytesize;
  void* dptr;
};

extern "C" {

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device);
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties);
hipError_t hipDeviceSetLimit(hipLimit_t limit, std::size_t value);
hipError_t hipSetValidDevices(int* devices, int count);
hipError_t hipGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags,
                             int* status);
hipError_t hipExtGetLastError();
hipError_t hipDrvGetErrorName(hipError_t error, const char** name);
hipError_t hipDrvGetErrorString(hipError_t error, const char** text);

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags = 0);
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream = nullptr,
                                   unsigned int flags = 0);
hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol);
hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t module);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x,
                                            unsigned int grid_y, unsigned int grid_z,
                                            unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int dynamic_lds,
                                            hipStream_t stream, void** parameters);

hipError_t hipGraphUpload(hipGraphExec_t executable, hipStream_t stream);
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph,
                                   const hipGraphNode_t* dependencies, std::size_t count,
                                   hipMemAllocNodeParams* parameters);
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph,
                                  const hipGraphNode_t* dependencies, std::size_t count,
                                  void* pointer);

}  // extern "C"

/// HIP 5's call under a name that is not taken.
extern "C" hipError_t margay_hip5_pointer_attributes(
    hipPointerAttribute_t* attributes, const void* pointer) __asm__("hipPointerGetAttributes");

/// HIP 6 accepts every pointer: an unknown one is unregistered memory. HIP 5 returns an error for
/// it.
inline hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  const hipError_t before = hipPeekAtLastError();
  const hipError_t error = margay_hip5_pointer_attributes(attributes, pointer);
  if (error == hipSuccess) {
    if (attributes->isManaged != 0) attributes->type = hipMemoryTypeManaged;
    return hipSuccess;
  }
  if (error != hipErrorInvalidValue || attributes == nullptr || pointer == nullptr) return error;
  if (before == hipSuccess) (void)hipGetLastError();
  *attributes = hipPointerAttribute_t();
  attributes->type = hipMemoryTypeUnregistered;
  attributes->device = -2;  // hipInvalidDeviceId
  return hipSuccess;
}

/// The block size for which most work-items of a kernel fit on a compute unit, where the dynamic
/// LDS depends on it: `bytes_for(block size)`.
template <typename Kernel, typename BytesFor>
inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int* grid_size, int* block_size,
                                                                Kernel kernel, BytesFor bytes_for,
                                                                int block_size_limit = 0) {
  int device = 0, units = 0, wave = 0, limit = 0, best = 0;
  hipError_t error = hipGetDevice(&device);
  if (error == hipSuccess)
    error = hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
  if (error == hipSuccess) error = hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, device);
  if (error == hipSuccess)
    error = hipDeviceGetAttribute(&limit, hipDeviceAttributeMaxThreadsPerBlock, device);
  if (error != hipSuccess) return error;
  if (block_size_limit > 0 && block_size_limit < limit) limit = block_size_limit;
  for (int size = (limit + wave - 1) / wave * wave; size > 0; size -= wave) {
    const int threads = size < limit ? size : limit;
    int blocks = 0;
    error = hipOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, threads, static_cast<std::size_t>(bytes_for(threads)));
    if (error != hipSuccess) return error;
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block_size = threads;
    *grid_size = blocks * units;
  }
  return hipSuccess;
}

template <typename Kernel, typename BytesFor>
inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* grid_size, int* block_size, Kernel kernel, BytesFor bytes_for, int block_size_limit = 0,
    unsigned int /*flags*/ = 0) {
  return hipOccupancyMaxPotentialBlockSizeVariableSMem(grid_size, block_size, kernel, bytes_for,
                                                       block_size_limit);
}

/// Overloads that take the pointer to be filled in with its type.
template <typename T>
inline hipError_t hipHostAlloc(T** pointer, std::size_t bytes, unsigned int flags = 0) {
  return hipHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
inline hipError_t hipMallocPitch(T** pointer, std::size_t* pitch, std::size_t width,
                                 std::size_t height) {
  return hipMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
