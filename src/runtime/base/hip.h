// The HIP declarations that this library implements: Debian's HIP 5.2 headers, plus what later HIP
// releases added or changed and programs built against ROCm 6 and 7 call. Only src/runtime and
// tests/runtime include it.
#pragma once

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime_api.h>

// By path: a folder of Margay's headers for programs on the include path would hide those of HIP.
#include "../../../include/hip/margay_detail/device_properties.h"

// Values that HIP 6 and 7 added to enumerations of HIP 5.2. Source: HIP documentation, "HIP runtime
// API reference", enumerations hipError_t, hipLimit_t, hipDeviceAttribute_t and hipMemoryType.
namespace margay::hip6 {

inline constexpr auto kErrorInvalidChannelDescriptor = static_cast<hipError_t>(911);
inline constexpr auto kErrorInvalidTexture = static_cast<hipError_t>(912);

inline constexpr int kLimitStackSize = 0;
inline constexpr unsigned kDeviceMallocContiguous = 0x4;

inline constexpr int kAttributeVirtualMemoryManagementSupported = 89;
inline constexpr int kAttributeHostRegisterSupported = 90;
inline constexpr int kAttributeMemoryPoolSupportedHandleTypes = 91;
inline constexpr int kAttributeWallClockRate = 10017;
inline constexpr int kAttributeNumberOfXccs = 10018;
inline constexpr int kAttributeMaxAvailableVgprsPerThread = 10019;
inline constexpr int kAttributePciChipId = 10020;

/// hipMemoryType was renumbered in HIP 6.0; the function that returns it kept its name.
inline constexpr int kMemoryTypeUnregistered = 0;
inline constexpr int kMemoryTypeHost = 1;
inline constexpr int kMemoryTypeDevice = 2;
inline constexpr int kMemoryTypeManaged = 3;

/// hipGraphNodeType was renumbered, too: it begins with 0.
inline constexpr int kGraphNodeTypeKernel = 0;
inline constexpr int kGraphNodeTypeMemcpy = 1;
inline constexpr int kGraphNodeTypeMemAlloc = 10;
inline constexpr int kGraphNodeTypeMemFree = 11;

}  // namespace margay::hip6

namespace margay::runtime {
struct MemAllocNodeParams;
}

extern "C" {

// Compiled programs write into this structure at fixed offsets.
static_assert(sizeof(hipDeviceProp_t) == 792);

#pragma GCC visibility push(default)

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device);
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties);
hipError_t hipDeviceSetLimit(hipLimit_t limit, std::size_t value);
hipError_t hipSetValidDevices(int* devices, int count);
hipError_t hipGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags,
                             int* status);

hipError_t hipExtGetLastError();
hipError_t hipDrvGetErrorName(hipError_t error, const char** name);
hipError_t hipDrvGetErrorString(hipError_t error, const char** text);

hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void* argument);
hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback,
                                    void* argument, unsigned int flags);
hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus* status);
hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t* graph);
hipError_t hipGraphLaunch_spt(hipGraphExec_t executable, hipStream_t stream);
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph,
                                   const hipGraphNode_t* dependencies, std::size_t count,
                                   margay::runtime::MemAllocNodeParams* parameters);
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph,
                                  const hipGraphNode_t* dependencies, std::size_t count,
                                  void* pointer);
hipError_t hipGraphUpload(hipGraphExec_t executable, hipStream_t stream);
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream);

hipError_t hipMemsetAsync_spt(void* destination, int value, std::size_t bytes, hipStream_t stream);
hipError_t hipMemset2DAsync_spt(void* destination, std::size_t pitch, int value, std::size_t width,
                                std::size_t height, hipStream_t stream);
hipError_t hipMemcpy2DAsync_spt(void* destination, std::size_t destination_pitch,
                                const void* source, std::size_t source_pitch, std::size_t width,
                                std::size_t height, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* source, std::size_t bytes,
                                      std::size_t offset, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyFromSymbolAsync_spt(void* destination, const void* symbol, std::size_t bytes,
                                        std::size_t offset, hipMemcpyKind kind, hipStream_t stream);

hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol);
hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t module);

// What clang's generated host code calls. Source: LLVM, clang/lib/CodeGen/CGCUDANV.cpp, and the
// HIP documentation, "Compilers".
void** __hipRegisterFatBinary(const void* wrapper);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterFunction(void** handle, const void* host_function, char* device_function,
                           const char* device_name, unsigned int thread_limit, void* thread_id,
                           void* block_id, void* block_dim, void* grid_dim, int* wave_size);
void __hipRegisterVar(void** handle, void* host_variable, char* host_name, char* device_name,
                      int is_extern, std::size_t bytes, int constant, int global);
void __hipRegisterManagedVar(void** handle, void** pointer, void* initial_value, const char* name,
                             std::size_t bytes, unsigned int alignment);
void __hipRegisterSurface(void** handle, void* variable, char* host_name, char* device_name,
                          int type, int is_extern);
void __hipRegisterTexture(void** handle, void* variable, char* host_name, char* device_name,
                          int type, int normalised, int is_extern);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t dynamic_lds,
                                      hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* dynamic_lds,
                                     hipStream_t* stream);
hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 grid, dim3 block,
                                          void** arguments, std::uint32_t dynamic_lds,
                                          hipStream_t stream);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x,
                                            unsigned int grid_y, unsigned int grid_z,
                                            unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int dynamic_lds,
                                            hipStream_t stream, void** parameters);
hipError_t hipLaunchKernel_spt(const void* function, dim3 grid, dim3 block, void** arguments,
                               std::size_t dynamic_lds, hipStream_t stream);

#pragma GCC visibility pop
}  // extern "C"
