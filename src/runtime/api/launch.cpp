// The HIP calls that launch kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "runtime/base/names.h"
#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

Outcome launch(const LaunchCall& call) { return process().launcher.launch(call); }

/// The kernel of a `__global__` function on the device of the stream.
Answer<std::shared_ptr<Function>> function_for(const void* host_function, hipStream_t stream) {
  auto function = process().registry.function(host_function, process().streams.device_of(stream));
  if (!function) process().launcher.tell_checker("a kernel of this program", function.error());
  return function;
}

Outcome launch_host_function(const void* host_function, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_lds, hipStream_t stream,
                             hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
  return launch({.function = MARGAY_TRY(function_for(host_function, stream)),
                 .size = {.grid = grid, .block = block, .dynamic_lds_bytes = dynamic_lds},
                 .stream = stream,
                 .parameters = arguments,
                 .start = start,
                 .stop = stop});
}

Outcome launch_cooperatively(const void* host_function, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_lds, hipStream_t stream) {
  return launch({.function = MARGAY_TRY(function_for(host_function, stream)),
                 .size = {.grid = grid,
                          .block = block,
                          .dynamic_lds_bytes = dynamic_lds,
                          .cooperative = true},
                 .stream = stream,
                 .parameters = arguments});
}

Answer<std::shared_ptr<Function>> find_function(hipFunction_t handle) {
  std::shared_ptr<Function> function = process().functions.find(handle);
  if (function == nullptr) {
    return refuse(hipErrorInvalidHandle,
                  "The function handle is not that of a kernel of a loaded module.",
                  "Use the handle that hipModuleGetFunction gave, before hipModuleUnload.");
  }
  return function;
}

struct WorkItems {
  std::uint32_t x, y, z;
};

// The Ext calls count the grid in work-items.
Outcome launch_work_items(hipFunction_t handle, WorkItems global, WorkItems local,
                          std::size_t dynamic_lds, hipStream_t stream, void** parameters,
                          void** extra, hipEvent_t start, hipEvent_t stop) {
  const auto function = MARGAY_TRY(find_function(handle));
  // The ROCm runtime shrinks a block that is larger than the whole grid.
  local = {std::min(local.x, global.x), std::min(local.y, global.y), std::min(local.z, global.z)};
  const auto groups = [](std::uint32_t items, std::uint32_t per_group) {
    return per_group == 0 ? 0 : items / per_group;
  };
  const dim3 grid(groups(global.x, local.x), groups(global.y, local.y), groups(global.z, local.z));
  if (grid.x * local.x != global.x || grid.y * local.y != global.y ||
      grid.z * local.z != global.z) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("The launch of {} has ({}, {}, {}) work-items, which is no whole "
                              "number of blocks of ({}, {}, {}).",
                              readable_name(function->name), global.x, global.y, global.z, local.x,
                              local.y, local.z),
                  "Round the number of work-items up; this call does not count workgroups.");
  }
  return launch({.function = function,
                 .size = {.grid = grid,
                          .block = dim3(local.x, local.y, local.z),
                          .dynamic_lds_bytes = dynamic_lds},
                 .stream = stream,
                 .parameters = parameters,
                 .buffer = extra,
                 .start = start,
                 .stop = stop});
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                           std::size_t dynamic_lds, hipStream_t stream) {
  return api(__func__, [&] {
    return launch_host_function(function, grid, block, arguments, dynamic_lds, stream);
  });
}

hipError_t hipLaunchKernel_spt(const void* function, dim3 grid, dim3 block, void** arguments,
                               std::size_t dynamic_lds, hipStream_t stream) {
  return api(__func__, [&] {
    return launch_host_function(function, grid, block, arguments, dynamic_lds, stream);
  });
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned int dynamic_lds, hipStream_t stream) {
  return api(__func__, [&] {
    return launch_cooperatively(function, grid, block, arguments, dynamic_lds, stream);
  });
}

hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 grid, dim3 block,
                                          void** arguments, std::uint32_t dynamic_lds,
                                          hipStream_t stream) {
  return api(__func__, [&] {
    return launch_cooperatively(function, grid, block, arguments, dynamic_lds, stream);
  });
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x,
                                            unsigned int grid_y, unsigned int grid_z,
                                            unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int dynamic_lds,
                                            hipStream_t stream, void** parameters) {
  return api(__func__, [&]() -> Outcome {
    return launch({.function = MARGAY_TRY(find_function(function)),
                   .size = {.grid = dim3(grid_x, grid_y, grid_z),
                            .block = dim3(block_x, block_y, block_z),
                            .dynamic_lds_bytes = dynamic_lds,
                            .family = LaunchFamily::module,
                            .cooperative = true},
                   .stream = stream,
                   .parameters = parameters});
  });
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                              std::size_t dynamic_lds, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, int) {
  return api(__func__, [&] {
    return launch_host_function(function, grid, block, arguments, dynamic_lds, stream, start, stop);
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int dynamic_lds, hipStream_t stream,
                                 void** parameters, void** extra) {
  return api(__func__, [&]() -> Outcome {
    return launch({.function = MARGAY_TRY(find_function(function)),
                   .size = {.grid = dim3(grid_x, grid_y, grid_z),
                            .block = dim3(block_x, block_y, block_z),
                            .dynamic_lds_bytes = dynamic_lds,
                            .family = LaunchFamily::module},
                   .stream = stream,
                   .parameters = parameters,
                   .buffer = extra});
  });
}

}  // extern "C"

// HIP 5 declares these two as C++ functions, later releases as C: both symbols are exported. The
// names and parameters are those of hip_ext.h.
#pragma GCC visibility push(default)

hipError_t hipExtModuleLaunchKernel(hipFunction_t function, std::uint32_t global_x,
                                    std::uint32_t global_y, std::uint32_t global_z,
                                    std::uint32_t local_x, std::uint32_t local_y,
                                    std::uint32_t local_z, std::size_t dynamic_lds,
                                    hipStream_t stream, void** parameters, void** extra,
                                    hipEvent_t start, hipEvent_t stop, std::uint32_t) {
  return api(__func__, [&] {
    return launch_work_items(function, {global_x, global_y, global_z}, {local_x, local_y, local_z},
                             dynamic_lds, stream, parameters, extra, start, stop);
  });
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t function, std::uint32_t global_x,
                                    std::uint32_t global_y, std::uint32_t global_z,
                                    std::uint32_t local_x, std::uint32_t local_y,
                                    std::uint32_t local_z, std::size_t dynamic_lds,
                                    hipStream_t stream, void** parameters, void** extra,
                                    hipEvent_t start, hipEvent_t stop) {
  return api(__func__, [&] {
    return launch_work_items(function, {global_x, global_y, global_z}, {local_x, local_y, local_z},
                             dynamic_lds, stream, parameters, extra, start, stop);
  });
}

hipError_t ext_module_launch_c(hipFunction_t function, std::uint32_t global_x,
                               std::uint32_t global_y, std::uint32_t global_z,
                               std::uint32_t local_x, std::uint32_t local_y, std::uint32_t local_z,
                               std::size_t dynamic_lds, hipStream_t stream, void** parameters,
                               void** extra, hipEvent_t start, hipEvent_t stop,
                               std::uint32_t flags) __asm__("hipExtModuleLaunchKernel");

hipError_t ext_module_launch_c(hipFunction_t function, std::uint32_t global_x,
                               std::uint32_t global_y, std::uint32_t global_z,
                               std::uint32_t local_x, std::uint32_t local_y, std::uint32_t local_z,
                               std::size_t dynamic_lds, hipStream_t stream, void** parameters,
                               void** extra, hipEvent_t start, hipEvent_t stop,
                               std::uint32_t flags) {
  return hipExtModuleLaunchKernel(function, global_x, global_y, global_z, local_x, local_y, local_z,
                                  dynamic_lds, stream, parameters, extra, start, stop, flags);
}

#pragma GCC visibility pop
