// See device_info.h. The figures of the hardware come from Gpu; this file adds the values that a
// MI300-class device reports through ROCm and that have no counterpart in the hardware model.
#include "runtime/device/device_info.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

namespace margay::runtime {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

// Work-items per dimension of a block, and workgroups per dimension of a grid. Source: hipinfo on
// MI300X (ROCm 6).
constexpr int kMaxBlockDim = 1024;
constexpr int kMaxGridDim[3] = {kMaxInt, 65536, 65536};
// 32-bit registers. Source: PyTorch's device properties on MI300X (ROCm 6). The VGPR file of a CU
// is twice that, 512 KiB (MI300 ISA guide 3.6.4); ROCm counts the architected half.
constexpr int kRegistersPerCu = 65536;
// The constant 100 MHz counter behind s_memrealtime and wall_clock64(). Source: ROCm, hipinfo.
constexpr int kWallClockKhz = 100'000;
// Bytes. Source: hipinfo on MI300X; pitch of hipMallocPitch and alignment of its rows.
constexpr std::size_t kTextureAlignment = 256;
constexpr int kPciBus = 1;

constexpr int kXnackOff = 0;  // kernels of a xnack- target cannot use pageable host memory

void set_text(char* out, std::size_t capacity, std::string_view text) {
  std::memcpy(out, text.data(), std::min(text.size(), capacity - 1));
}

int clamp_to_int(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, kMaxInt));
}

// Single-wave workgroups that fit a CU. Source: LLVM, AMDGPUBaseInfo, getMaxWorkGroupsPerCU.
int max_blocks_per_cu(const Gpu& gpu) { return static_cast<int>(gpu.arch().cu.wave_slots()); }

int work_items_per_cu(const Gpu& gpu) {
  return static_cast<int>(gpu.arch().cu.wave_slots() * gpu.arch().wavefront_size);
}

hipDeviceArch_t features() {
  hipDeviceArch_t arch{};
  arch.hasGlobalInt32Atomics = 1;
  arch.hasGlobalFloatAtomicExch = 1;
  arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = 1;
  arch.hasWarpVote = 1;
  arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = 1;
  arch.hasThreadFenceSystem = 1;
  arch.has3dGrid = 1;
  return arch;
}

// The members that both forms of the structure have under the same name.
template <typename Properties>
Properties common_properties(const Gpu& gpu) {
  Properties p;
  std::memset(&p, 0, sizeof p);  // padding and reserved words too
  set_text(p.name, sizeof p.name, gpu.name);
  set_text(p.gcnArchName, sizeof p.gcnArchName, gpu.arch().target_id);
  p.totalGlobalMem = gpu.memory_bytes;
  p.sharedMemPerBlock = gpu.arch().cu.lds_bytes;
  p.maxSharedMemoryPerMultiProcessor = gpu.arch().cu.lds_bytes;
  p.regsPerBlock = kRegistersPerCu;
  p.warpSize = static_cast<int>(gpu.arch().wavefront_size);
  p.maxThreadsPerBlock = static_cast<int>(gpu.arch().cu.max_workgroup_size);
  for (int d = 0; d < 3; ++d) {
    p.maxThreadsDim[d] = kMaxBlockDim;
    p.maxGridSize[d] = kMaxGridDim[d];
  }
  p.clockRate = static_cast<int>(gpu.clock_khz);
  p.memoryClockRate = static_cast<int>(gpu.memory_clock_khz);
  p.memoryBusWidth = static_cast<int>(gpu.memory_bus_bits);
  p.totalConstMem = kMaxInt;
  p.major = gpu.arch().version.major;
  p.minor = gpu.arch().version.minor;
  p.multiProcessorCount = static_cast<int>(gpu.compute_units());
  p.l2CacheSize = static_cast<int>(gpu.arch().caches.l2_bytes());
  p.maxThreadsPerMultiProcessor = work_items_per_cu(gpu);
  p.clockInstructionRate = kWallClockKhz;
  p.arch = features();
  p.concurrentKernels = 1;
  p.pciBusID = kPciBus;
  p.canMapHostMemory = 1;
  p.memPitch = kMaxInt;
  p.textureAlignment = kTextureAlignment;
  p.texturePitchAlignment = kTextureAlignment;
  p.ECCEnabled = 1;
  p.isLargeBar = 1;
  p.cooperativeLaunch = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.pageableMemoryAccess = kXnackOff;
  return p;
}

}  // namespace

int gcn_arch(const Gpu& gpu) {
  const Version& v = gpu.arch().version;
  return 100 * v.major + 10 * v.minor + v.stepping;
}

hipDeviceProp_t properties_r0000(const Gpu& gpu) {
  auto p = common_properties<hipDeviceProp_t>(gpu);
  p.gcnArch = gcn_arch(gpu);
  return p;
}

hipDeviceProp_tR0600 properties_r0600(const Gpu& gpu) {
  auto p = common_properties<hipDeviceProp_tR0600>(gpu);
  p.integrated = gpu.is_apu ? 1 : 0;
  p.asyncEngineCount = 1;
  p.unifiedAddressing = 1;
  p.streamPrioritiesSupported = 1;
  p.sharedMemPerMultiprocessor = gpu.arch().cu.lds_bytes;
  p.sharedMemPerBlockOptin = gpu.arch().cu.lds_bytes;
  p.regsPerMultiprocessor = kRegistersPerCu;
  p.canUseHostPointerForRegisteredMem = 1;
  p.maxBlocksPerMultiProcessor = max_blocks_per_cu(gpu);
  p.hostRegisterSupported = 1;
  p.hostNativeAtomicSupported = 1;  // ROCm needs a host whose PCIe has atomics
  p.memoryPoolsSupported = 1;
  p.gcnArch = gcn_arch(gpu);
  return p;
}

std::optional<int> device_attribute(const Gpu& gpu, int attribute) {
  switch (attribute) {
    case hipDeviceAttributeClockRate:
      return static_cast<int>(gpu.clock_khz);
    case hipDeviceAttributeMemoryClockRate:
      return static_cast<int>(gpu.memory_clock_khz);
    case hipDeviceAttributeMemoryBusWidth:
      return static_cast<int>(gpu.memory_bus_bits);
    case hipDeviceAttributeL2CacheSize:
      return static_cast<int>(gpu.arch().caches.l2_bytes());
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount:
      return static_cast<int>(gpu.compute_units());
    case hip6::kAttributeNumberOfXccs:
      return static_cast<int>(gpu.xcds);
    case hipDeviceAttributeWarpSize:
      return static_cast<int>(gpu.arch().wavefront_size);
    case hipDeviceAttributeMaxThreadsPerBlock:
    case hipDeviceAttributeMaxThreadsDim:
      return static_cast<int>(gpu.arch().cu.max_workgroup_size);
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      return work_items_per_cu(gpu);
    case hipDeviceAttributeMaxBlocksPerMultiProcessor:
      return max_blocks_per_cu(gpu);
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ:
      return kMaxBlockDim;
    case hipDeviceAttributeMaxGridDimX:
      return kMaxGridDim[0];
    case hipDeviceAttributeMaxGridDimY:
      return kMaxGridDim[1];
    case hipDeviceAttributeMaxGridDimZ:
      return kMaxGridDim[2];
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(gpu.arch().cu.lds_bytes);
    case hipDeviceAttributeReservedSharedMemPerBlock:
      return 0;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor:
      return kRegistersPerCu;
    case hip6::kAttributeMaxAvailableVgprsPerThread:
      return static_cast<int>(gpu.arch().cu.vgprs_per_lane);
    case hipDeviceAttributeTotalGlobalMem:
      return clamp_to_int(gpu.memory_bytes);
    case hipDeviceAttributeTotalConstantMemory:
      return kMaxInt;
    case hipDeviceAttributeMaxPitch:
      return kMaxInt;
    case hipDeviceAttributeTextureAlignment:
    case hipDeviceAttributeTexturePitchAlignment:
    case hipDeviceAttributeSurfaceAlignment:
      return static_cast<int>(kTextureAlignment);
    case hipDeviceAttributeComputeCapabilityMajor:
      return gpu.arch().version.major;
    case hipDeviceAttributeComputeCapabilityMinor:
      return gpu.arch().version.minor;
    case hipDeviceAttributeGcnArch:
      return gcn_arch(gpu);
    case hipDeviceAttributeClockInstructionRate:
    case hip6::kAttributeWallClockRate:
      return kWallClockKhz;
    case hipDeviceAttributePciBusId:
      return kPciBus;
    case hipDeviceAttributePciDeviceId:
      return 0;
    case hipDeviceAttributePciDomainID:
      return 0;
    case hip6::kAttributePciChipId:
      return static_cast<int>(gpu.pci_device_id);
    case hipDeviceAttributeIntegrated:
      return gpu.is_apu ? 1 : 0;
    case hipDeviceAttributeComputeMode:
      return hipComputeModeDefault;
    case hipDeviceAttributeAsicRevision:
      return 0;

    // Supported features.
    case hipDeviceAttributeEccEnabled:
    case hipDeviceAttributeAsyncEngineCount:
    case hipDeviceAttributeCanMapHostMemory:
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
    case hipDeviceAttributeConcurrentKernels:
    case hipDeviceAttributeConcurrentManagedAccess:
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributeStreamPrioritiesSupported:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeIsLargeBar:
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeFineGrainSupport:
    case hipDeviceAttributeHostNativeAtomicSupported:
    case hip6::kAttributeHostRegisterSupported:
      return 1;

    // Features that the hardware or Margay does not support.
    case hipDeviceAttributeAccessPolicyMaxWindowSize:
    case hipDeviceAttributeComputePreemptionSupported:
    case hipDeviceAttributeCooperativeMultiDeviceLaunch:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem:
    case hipDeviceAttributeDeviceOverlap:
    case hipDeviceAttributeDirectManagedMemAccessFromHost:
    case hipDeviceAttributeGlobalL1CacheSupported:
    case hipDeviceAttributeImageSupport:
    case hipDeviceAttributeIsMultiGpuBoard:
    case hipDeviceAttributeKernelExecTimeout:
    case hipDeviceAttributeLocalL1CacheSupported:
    case hipDeviceAttributeMaxSurface1D:
    case hipDeviceAttributeMaxSurface2D:
    case hipDeviceAttributeMaxSurface3D:
    case hipDeviceAttributeMaxTexture1DLinear:
    case hipDeviceAttributeMaxTexture1DWidth:
    case hipDeviceAttributeMaxTexture2DHeight:
    case hipDeviceAttributeMaxTexture2DWidth:
    case hipDeviceAttributeMaxTexture3DDepth:
    case hipDeviceAttributeMaxTexture3DHeight:
    case hipDeviceAttributeMaxTexture3DWidth:
    case hipDeviceAttributeMultiGpuBoardGroupID:
    case hipDeviceAttributePageableMemoryAccessUsesHostPageTables:
    case hipDeviceAttributePersistingL2CacheMaxSize:
    case hipDeviceAttributeTccDriver:
    case hip6::kAttributeMemoryPoolSupportedHandleTypes:
    case hip6::kAttributeVirtualMemoryManagementSupported:
      return 0;
    case hipDeviceAttributePageableMemoryAccess:
      return kXnackOff;
    default:
      return std::nullopt;
  }
}

}  // namespace margay::runtime
