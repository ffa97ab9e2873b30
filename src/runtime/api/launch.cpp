// See launch.h; and the HIP calls that launch kernels.
#include "runtime/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "exec/state/wave.h"
#include "exec/workgroup/occupancy.h"
#include "runtime/process/runtime.h"

namespace margay::runtime {
namespace {

// Work-items of a grid per dimension: a dispatch packet holds them in 32 bits. Source: HSA Platform
// System Architecture Specification 1.2, 2.9.6, kernel dispatch packet.
constexpr std::uint64_t kMaxGridItems = std::numeric_limits<std::uint32_t>::max();
// Workgroups per dimension that the module calls take. Source: hipDeviceProp_t::maxGridSize.
constexpr std::uint64_t kMaxModuleGrid[3] = {2147483647, 65536, 65536};

std::string text_of(const dim3& size) {
  return fmt::format("({}, {}, {})", size.x, size.y, size.z);
}

std::uint32_t explicit_bytes(const Kernel& kernel) {
  std::uint32_t bytes = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (is_hidden(argument.kind)) continue;
    bytes = std::max(bytes, argument.offset_bytes + argument.size_bytes);
  }
  return bytes;
}

Outcome check_grid(const Kernel& kernel, const LaunchCall& call) {
  const hipError_t code =
      call.family == LaunchFamily::module ? hipErrorInvalidValue : hipErrorInvalidConfiguration;
  const std::uint64_t grid[] = {call.grid.x, call.grid.y, call.grid.z};
  const std::uint64_t block[] = {call.block.x, call.block.y, call.block.z};
  if (std::ranges::count(grid, 0) != 0 || std::ranges::count(block, 0) != 0) {
    return refuse(code,
                  fmt::format("The launch of {} has a zero dimension: grid {}, block {}.",
                              readable_name(kernel.name), text_of(call.grid), text_of(call.block)),
                  "Skip the launch when there is no work, or round the grid up.");
  }
  for (int d = 0; d < 3; ++d) {
    const char axis = static_cast<char>('x' + d);
    if (call.family == LaunchFamily::module && grid[d] > kMaxModuleGrid[d]) {
      return refuse(code,
                    fmt::format("The launch of {} asks for {} workgroups in {}; the most that "
                                "is possible is {}.",
                                readable_name(kernel.name), grid[d], axis, kMaxModuleGrid[d]));
    }
    if (grid[d] * block[d] > kMaxGridItems) {
      return refuse(hipErrorInvalidConfiguration,
                    fmt::format("The launch of {} has {} x {} work-items in {}; a dispatch packet "
                                "counts them in 32 bits, at most {}.",
                                readable_name(kernel.name), grid[d], block[d], axis, kMaxGridItems),
                    "Let each work-item do more, in a loop.");
    }
  }
  return {};
}

Outcome check_block(const Kernel& kernel, const Gpu& gpu, const LaunchCall& call) {
  // Three 32-bit factors may overflow 64 bits: stop at the first product that is too large.
  std::uint64_t items = 1;
  for (const std::uint64_t size : {call.block.x, call.block.y, call.block.z}) {
    items = std::min<std::uint64_t>(items * size, kMaxGridItems);
  }
  if (items > gpu.arch().cu.max_workgroup_size) {
    return refuse(
        call.family == LaunchFamily::module ? hipErrorInvalidValue : hipErrorInvalidConfiguration,
        fmt::format("The launch of {} asks for a block of {} = {} work-items; {} has at "
                    "most {} in a workgroup.",
                    readable_name(kernel.name), text_of(call.block), items, gpu.name,
                    gpu.arch().cu.max_workgroup_size),
        fmt::format("Use at most {} waves of {} work-items per block.",
                    gpu.arch().cu.max_workgroup_size / gpu.arch().wavefront_size,
                    gpu.arch().wavefront_size));
  }
  if (items > kernel.max_workgroup_size) {
    return refuse(hipErrorLaunchFailure,
                  fmt::format("The launch of {} asks for a block of {} = {} work-items, but the "
                              "kernel was compiled for at most {}.",
                              readable_name(kernel.name), text_of(call.block), items,
                              kernel.max_workgroup_size),
                  fmt::format("Declare the kernel with __launch_bounds__({}), or launch smaller "
                              "blocks.",
                              items));
  }
  return {};
}

Outcome check_lds(const Kernel& kernel, const Gpu& gpu, const LaunchCall& call) {
  if (call.dynamic_lds_bytes <= gpu.arch().cu.lds_bytes &&
      kernel.lds_bytes + call.dynamic_lds_bytes <= gpu.arch().cu.lds_bytes) {
    return {};
  }
  return refuse(
      hipErrorInvalidValue,
      fmt::format("The launch of {} needs {} bytes of LDS ({} static and {} dynamic); a "
                  "workgroup on {} has at most {}.",
                  readable_name(kernel.name), kernel.lds_bytes + call.dynamic_lds_bytes,
                  kernel.lds_bytes, call.dynamic_lds_bytes, gpu.name, gpu.arch().cu.lds_bytes),
      "Use smaller tiles or fewer stages of the pipeline.");
}

Outcome check_cooperative(const Kernel& kernel, const Gpu& gpu, const LaunchCall& call) {
  const std::uint64_t workgroups = std::uint64_t{call.grid.x} * call.grid.y * call.grid.z;
  const Occupancy fits = occupancy(gpu.arch(), kernel, call.block.x * call.block.y * call.block.z,
                                   static_cast<std::uint32_t>(call.dynamic_lds_bytes));
  const std::uint64_t most = std::uint64_t{fits.workgroups_per_cu} * gpu.compute_units();
  if (workgroups <= most) return {};
  return refuse(
      hipErrorCooperativeLaunchTooLarge,
      fmt::format("The cooperative launch of {} asks for {} workgroups, which all have to "
                  "be resident; {} has room for {} of them ({} on each of {} CUs, limited "
                  "by {}).",
                  readable_name(kernel.name), workgroups, gpu.name, most, fits.workgroups_per_cu,
                  gpu.compute_units(), name_of(fits.limit)),
      "Launch no more than hipOccupancyMaxActiveBlocksPerMultiprocessor times the number "
      "of CUs, and let each workgroup do more.");
}

}  // namespace

Outcome check_launch(const Kernel& kernel, const Gpu& gpu, const LaunchCall& call) {
  // The order is the ROCm runtime's, so that a launch with several faults gets the same code.
  // Source for the codes: ROCm clr, hipamd/src/hip_module.cpp (launch validation), 2025.
  MARGAY_CHECK(check_grid(kernel, call));
  MARGAY_CHECK(check_lds(kernel, gpu, call));
  MARGAY_CHECK(check_block(kernel, gpu, call));
  return call.cooperative ? check_cooperative(kernel, gpu, call) : Outcome{};
}

Answer<std::vector<std::byte>> pack_arguments(const Kernel& kernel, void** parameters) {
  std::vector<std::byte> bytes(explicit_bytes(kernel));
  std::size_t index = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (is_hidden(argument.kind)) continue;
    if (parameters == nullptr) {
      return refuse(hipErrorInvalidValue,
                    fmt::format("The launch of {} passes no arguments, but the kernel takes some.",
                                readable_name(kernel.name)));
    }
    if (parameters[index] == nullptr) {
      return refuse(hipErrorInvalidValue,
                    fmt::format("The launch of {} passes a null pointer in place of argument {}{}.",
                                readable_name(kernel.name), index,
                                argument.name.empty() ? "" : " (" + argument.name + ")"),
                    "The argument array holds the address of each argument's value.");
    }
    std::memcpy(bytes.data() + argument.offset_bytes, parameters[index], argument.size_bytes);
    ++index;
  }
  return bytes;
}

namespace {

/// What the program does not pass looks like what a kernel did not initialise.
std::vector<std::byte> without_values(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; ++at)
    bytes[at] = static_cast<std::byte>(kUninitialised >> 8 * (at % sizeof kUninitialised));
  return bytes;
}

/// Once for each kernel: it may be launched again and again.
void say_short(const Kernel& kernel, std::size_t given, std::size_t needed) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>();
  {
    const std::lock_guard lock(mutex);
    if (!said->insert(kernel.name).second || Runtime::instance().quiet()) return;
  }
  fmt::print(
      stderr,
      "margay: The argument buffer of the launch of {} has {} bytes; the kernel's metadata "
      "has arguments up to byte {}.\n  fix  Pass all of them; what is missing is {:#x} here, "
      "and whatever is behind the buffer on a device.\n",
      readable_name(kernel.name), given, needed, kUninitialised);
}

}  // namespace

Answer<std::vector<std::byte>> copy_arguments(const Kernel& kernel, void** buffer) {
  if (buffer[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || buffer[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      buffer[4] != HIP_LAUNCH_PARAM_END || buffer[3] == nullptr) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("The argument list of the launch of {} is not in the expected form.",
                              readable_name(kernel.name)),
                  "Pass HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, "
                  "&size, HIP_LAUNCH_PARAM_END.");
  }
  const auto* const source = static_cast<const std::byte*>(buffer[1]);
  const std::size_t given = *static_cast<const std::size_t*>(buffer[3]);
  const std::uint32_t needed = explicit_bytes(kernel);
  if (needed > 0 && (source == nullptr || given == 0)) {
    return refuse(hipErrorInvalidValue,
                  fmt::format("The argument buffer of the launch of {} is empty; the kernel takes "
                              "{} bytes.",
                              readable_name(kernel.name), needed));
  }
  // A structure with padding at its end is larger than the arguments it holds. One that is smaller
  // is taken as well: ROCm's runtime does not look at the size and copies what is behind (clr,
  // hip_module.cpp, ihipLaunchKernelCommand), so libraries leave out what their kernels do not
  // read.
  std::vector<std::byte> bytes = without_values(needed);
  const std::size_t copied = std::min<std::size_t>(given, needed);
  if (copied != 0) std::memcpy(bytes.data(), source, copied);
  if (copied < needed) say_short(kernel, copied, needed);
  return bytes;
}

namespace {

LaunchRequest request_of(const LaunchCall& call, std::span<const std::byte> arguments) {
  LaunchRequest request;
  request.module = call.function->module;
  request.kernel = call.function->kernel;
  request.grid = {call.grid.x, call.grid.y, call.grid.z};
  request.block = {call.block.x, call.block.y, call.block.z};
  request.dynamic_lds_bytes = static_cast<std::uint32_t>(call.dynamic_lds_bytes);
  request.arguments = arguments;
  request.cooperative = call.cooperative;
  request.device = call.function->device;
  request.visible_devices =
      std::uint64_t{1} << request.device | Runtime::instance().peers(request.device).load();
  return request;
}

Outcome run(const LaunchCall& call, std::span<const std::byte> arguments) {
  MARGAY_CHECK(record_if_given(call.start));
  MARGAY_CHECK(Runtime::instance().launch(request_of(call, arguments)));
  return record_if_given(call.stop);
}

/// As run(), but gives back what is left where the kernel waits for the host.
Answer<Work> start(const LaunchCall& call, std::span<const std::byte> arguments) {
  MARGAY_CHECK(record_if_given(call.start));
  Work rest = MARGAY_TRY(Runtime::instance().start(request_of(call, arguments)));
  if (rest)
    return [rest = std::move(rest), stop = call.stop]() -> Outcome {
      MARGAY_CHECK(rest());
      return record_if_given(stop);
    };
  MARGAY_CHECK(record_if_given(call.stop));
  return Work{};
}

/// A launch that was checked, with its arguments.
Answer<std::vector<std::byte>> checked_arguments(const LaunchCall& call) {
  const Kernel& kernel = *call.function->kernel;
  MARGAY_CHECK(check_launch(kernel, Runtime::instance().gpu(), call));
  if (call.parameters != nullptr && call.buffer != nullptr) {
    return refuse(
        hipErrorInvalidValue,
        fmt::format("The launch of {} passes its arguments twice.", readable_name(kernel.name)),
        "Pass either kernelParams or extra.");
  }
  return call.buffer != nullptr ? copy_arguments(kernel, call.buffer)
                                : pack_arguments(kernel, call.parameters);
}

}  // namespace

Answer<Work> prepare(const LaunchCall& call) {
  return [call, arguments = MARGAY_TRY(checked_arguments(call))] { return run(call, arguments); };
}

namespace {

Answer<std::vector<std::byte>> arguments_for(const LaunchCall& call) {
  MARGAY_CHECK(check_stream(call.stream));
  if (const unsigned device = device_of(call.stream); device != call.function->device)
    return refuse(hipErrorInvalidHandle,
                  fmt::format("The module of {} was loaded on device {}, and the launch is for "
                              "device {}.",
                              readable_name(call.function->name), call.function->device, device),
                  "Load the module on each device that is to run it.");
  return checked_arguments(call);
}

}  // namespace

namespace {

/// Programs often do not look at what a launch returns: for the checker that is a finding. What
/// the device itself refuses is one already.
void tell_checker(const std::string& kernel, const Refusal& refusal) {
  // A check begins with the device.
  static_cast<void>(Runtime::instance().device());
  if (const auto checking = Runtime::instance().checking())
    checking->launch_refused(kernel, refusal.error);
}

}  // namespace

Outcome launch(const LaunchCall& call) {
  const auto arguments = arguments_for(call);
  if (!arguments) {
    tell_checker(readable_name(call.function->kernel->name), arguments.error());
    return std::unexpected(arguments.error());
  }
  return on_stream(
      call.stream, hipGraphNodeTypeKernel,
      [call, arguments = *arguments] { return run(call, arguments); },
      [&] { return start(call, *arguments); }, call.function->readable);
}

namespace {

/// The kernel of a `__global__` function on the device of the stream.
Answer<std::shared_ptr<Function>> function_for(const void* host_function, hipStream_t stream) {
  const unsigned before = Runtime::current_device();
  Runtime::set_current_device(device_of(stream));
  auto function = Runtime::instance().registry().function(host_function);
  Runtime::set_current_device(before);
  if (!function) tell_checker("a kernel of this program", function.error());
  return function;
}

Outcome launch_host_function(const void* host_function, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_lds, hipStream_t stream,
                             hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
  return launch({.function = MARGAY_TRY(function_for(host_function, stream)),
                 .grid = grid,
                 .block = block,
                 .dynamic_lds_bytes = dynamic_lds,
                 .stream = stream,
                 .parameters = arguments,
                 .start = start,
                 .stop = stop});
}

Outcome launch_cooperatively(const void* host_function, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_lds, hipStream_t stream) {
  return launch({.function = MARGAY_TRY(function_for(host_function, stream)),
                 .grid = grid,
                 .block = block,
                 .dynamic_lds_bytes = dynamic_lds,
                 .stream = stream,
                 .parameters = arguments,
                 .cooperative = true});
}

Answer<std::shared_ptr<Function>> find_function(hipFunction_t handle) {
  std::shared_ptr<Function> function = Runtime::instance().functions().find(handle);
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
                 .grid = grid,
                 .block = dim3(local.x, local.y, local.z),
                 .dynamic_lds_bytes = dynamic_lds,
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
                   .grid = dim3(grid_x, grid_y, grid_z),
                   .block = dim3(block_x, block_y, block_z),
                   .dynamic_lds_bytes = dynamic_lds,
                   .stream = stream,
                   .parameters = parameters,
                   .family = LaunchFamily::module,
                   .cooperative = true});
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
                   .grid = dim3(grid_x, grid_y, grid_z),
                   .block = dim3(block_x, block_y, block_z),
                   .dynamic_lds_bytes = dynamic_lds,
                   .stream = stream,
                   .parameters = parameters,
                   .buffer = extra,
                   .family = LaunchFamily::module});
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
