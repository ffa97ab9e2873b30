// The HIP calls that ask about and configure kernels: attributes and occupancy.
#include <fmt/format.h>

#include <algorithm>

#include "exec/workgroup/occupancy.h"
#include "runtime/base/names.h"
#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

Answer<std::shared_ptr<Function>> by_address(const void* host_address) {
  return process().registry.function(host_address, Devices::current());
}

Answer<std::shared_ptr<Function>> by_handle(hipFunction_t handle) {
  std::shared_ptr<Function> function = process().functions.find(handle);
  if (function == nullptr) {
    return refuse(hipErrorInvalidHandle,
                  "The function handle is not that of a kernel of a loaded module.");
  }
  return function;
}

std::uint32_t free_lds(const Function& function) {
  const std::uint32_t total = process().devices.gpu().arch().cu.lds_bytes;
  return total - std::min(total, function.kernel->lds_bytes);
}

int max_dynamic_lds(const Function& function) {
  const std::uint32_t set = function.max_dynamic_lds_bytes.load();
  return static_cast<int>(set != 0 ? set : free_lds(function));
}

hipFuncAttributes attributes_of(const Function& function) {
  const Kernel& kernel = *function.kernel;
  hipFuncAttributes a{};
  // The major version counts in tens: 94 of gfx942.
  const Version& version = process().devices.gpu().arch().version;
  a.binaryVersion = a.ptxVersion = 10 * version.major + version.minor;
  a.localSizeBytes = kernel.scratch_bytes;
  a.maxDynamicSharedSizeBytes = max_dynamic_lds(function);
  a.maxThreadsPerBlock = static_cast<int>(kernel.max_workgroup_size);
  a.numRegs = static_cast<int>(kernel.vgpr_count);
  a.preferredShmemCarveout = function.preferred_lds_carveout.load();
  a.sharedSizeBytes = kernel.lds_bytes;
  return a;
}

Outcome read_attribute(int* out, hipFunction_attribute attribute, const Function& function) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  const hipFuncAttributes a = attributes_of(function);
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *out = a.maxThreadsPerBlock;
      return {};
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *out = static_cast<int>(a.sharedSizeBytes);
      return {};
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *out = static_cast<int>(a.constSizeBytes);
      return {};
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *out = static_cast<int>(a.localSizeBytes);
      return {};
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *out = a.numRegs;
      return {};
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
      *out = a.ptxVersion;
      return {};
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *out = a.binaryVersion;
      return {};
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *out = a.cacheModeCA;
      return {};
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *out = a.maxDynamicSharedSizeBytes;
      return {};
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *out = a.preferredShmemCarveout;
      return {};
    default:
      return refuse(hipErrorInvalidValue,
                    fmt::format("There is no function attribute {}.", static_cast<int>(attribute)));
  }
}

Outcome set_attribute(Function& function, int attribute, int value) {
  if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize) {
    const std::uint32_t limit = free_lds(function);
    if (value < 0 || static_cast<std::uint32_t>(value) > limit) {
      return refuse(
          hipErrorInvalidValue,
          fmt::format("{} cannot have {} bytes of dynamic LDS: {} has {} bytes per "
                      "workgroup, of which the kernel uses {} statically.",
                      readable_name(function.name), value, process().devices.gpu().name,
                      process().devices.gpu().arch().cu.lds_bytes, function.kernel->lds_bytes),
          "Use smaller tiles or fewer stages of the pipeline.");
    }
    function.max_dynamic_lds_bytes = static_cast<std::uint32_t>(value);
    return {};
  }
  if (attribute == hipFuncAttributePreferredSharedMemoryCarveout) {
    if (value < -1 || value > 100) {
      return refuse(hipErrorInvalidValue,
                    fmt::format("A carve-out of {} percent is not possible.", value));
    }
    function.preferred_lds_carveout = value;
    return {};
  }
  return refuse(hipErrorInvalidValue,
                fmt::format("The function attribute {} cannot be set.", attribute));
}

Outcome blocks_per_cu(int* out, const Function& function, int block_size, std::size_t dynamic_lds) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  if (block_size <= 0) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("A block of {} work-items is not possible.", block_size));
  }
  *out = 0;
  if (static_cast<std::uint32_t>(block_size) > function.kernel->max_workgroup_size ||
      dynamic_lds > free_lds(function)) {
    return {};  // no block fits, which is a valid answer
  }
  *out = static_cast<int>(occupancy(process().devices.gpu().arch(), *function.kernel,
                                    static_cast<std::uint32_t>(block_size),
                                    static_cast<std::uint32_t>(dynamic_lds))
                              .workgroups_per_cu);
  return {};
}

// The largest block among those with the most waves per CU, as the CUDA and HIP documentation of
// these calls requires: "a block size that achieves the maximum occupancy".
Outcome best_block(int* grid_size, int* block_size, const Function& function,
                   std::size_t dynamic_lds, int block_limit) {
  if (grid_size == nullptr || block_size == nullptr) {
    return refuse(hipErrorInvalidValue, "One of the results is a null pointer.");
  }
  const Gpu& gpu = process().devices.gpu();
  std::uint32_t limit = function.kernel->max_workgroup_size;
  if (block_limit > 0) limit = std::min(limit, static_cast<std::uint32_t>(block_limit));
  if (dynamic_lds > free_lds(function)) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("{} bytes of dynamic LDS do not fit a workgroup of {}.", dynamic_lds,
                              readable_name(function.name)));
  }
  Occupancy best;
  std::uint32_t best_size = 0;
  const std::uint32_t wave = gpu.arch().wavefront_size;
  for (std::uint32_t size = limit < wave ? limit : limit / wave * wave; size > 0;
       size = size > wave ? size - wave : 0) {
    const Occupancy here =
        occupancy(gpu.arch(), *function.kernel, size, static_cast<std::uint32_t>(dynamic_lds));
    if (here.waves_per_cu > best.waves_per_cu) {
      best = here;
      best_size = size;
    }
  }
  *block_size = static_cast<int>(best_size);
  *grid_size = static_cast<int>(best.workgroups_per_cu * gpu.compute_units());
  return {};
}

Outcome check_function(const void* host_address) {
  MARGAY_TRY(by_address(host_address));
  return {};
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return api(__func__, [&]() -> Outcome {
    if (attributes == nullptr) {
      return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    }
    *attributes = attributes_of(*MARGAY_TRY(by_address(function)));
    return {};
  });
}
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute,
                               hipFunction_t function) {
  return api(__func__, [&]() -> Outcome {
    return read_attribute(value, attribute, *MARGAY_TRY(by_handle(function)));
  });
}
hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  return api(__func__, [&]() -> Outcome {
    return set_attribute(*MARGAY_TRY(by_address(function)), attribute, value);
  });
}
// One cache and one LDS configuration: the preferences are checked and have no effect.
hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t) {
  return api(__func__, [&] { return check_function(function); });
}
hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig) {
  return api(__func__, [&] { return check_function(function); });
}
hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol) {
  return api(__func__, [&]() -> Outcome {
    if (function == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    *function = MARGAY_TRY(by_address(symbol)).get();
    return {};
  });
}
const char* hipKernelNameRef(const hipFunction_t function) {
  const auto found = process().functions.find(function);
  return found != nullptr ? found->name.c_str() : nullptr;
}
const char* hipKernelNameRefByPtr(const void* host_function, hipStream_t) {
  const char* name = nullptr;
  const hipError_t code = api(__func__, [&]() -> Outcome {
    name = MARGAY_TRY(by_address(host_function))->name.c_str();
    return {};
  });
  return code == hipSuccess ? name : nullptr;
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                        int block_size, std::size_t dynamic_lds) {
  return api(__func__, [&]() -> Outcome {
    return blocks_per_cu(blocks, *MARGAY_TRY(by_address(function)), block_size, dynamic_lds);
  });
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                 int block_size,
                                                                 std::size_t dynamic_lds,
                                                                 unsigned int) {
  return api(__func__, [&]() -> Outcome {
    return blocks_per_cu(blocks, *MARGAY_TRY(by_address(function)), block_size, dynamic_lds);
  });
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int block_size,
                                                              std::size_t dynamic_lds) {
  return api(__func__, [&]() -> Outcome {
    return blocks_per_cu(blocks, *MARGAY_TRY(by_handle(function)), block_size, dynamic_lds);
  });
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, hipFunction_t function, int block_size, std::size_t dynamic_lds, unsigned int) {
  return api(__func__, [&]() -> Outcome {
    return blocks_per_cu(blocks, *MARGAY_TRY(by_handle(function)), block_size, dynamic_lds);
  });
}
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, const void* function,
                                             std::size_t dynamic_lds, int block_limit) {
  return api(__func__, [&]() -> Outcome {
    return best_block(grid_size, block_size, *MARGAY_TRY(by_address(function)), dynamic_lds,
                      block_limit);
  });
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size,
                                                   hipFunction_t function, std::size_t dynamic_lds,
                                                   int block_limit) {
  return api(__func__, [&]() -> Outcome {
    return best_block(grid_size, block_size, *MARGAY_TRY(by_handle(function)), dynamic_lds,
                      block_limit);
  });
}
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size,
                                                            hipFunction_t function,
                                                            std::size_t dynamic_lds,
                                                            int block_limit, unsigned int) {
  return api(__func__, [&]() -> Outcome {
    return best_block(grid_size, block_size, *MARGAY_TRY(by_handle(function)), dynamic_lds,
                      block_limit);
  });
}

}  // extern "C"
