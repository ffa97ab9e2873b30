// See limits.h.
#include "runtime/launch/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "exec/workgroup/occupancy.h"
#include "runtime/base/names.h"

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

Outcome check_grid(const Kernel& kernel, const LaunchSize& call) {
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

Outcome check_block(const Kernel& kernel, const Gpu& gpu, const LaunchSize& call) {
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

Outcome check_lds(const Kernel& kernel, const Gpu& gpu, const LaunchSize& call) {
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

Outcome check_cooperative(const Kernel& kernel, const Gpu& gpu, const LaunchSize& call) {
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

Outcome check_launch(const Kernel& kernel, const Gpu& gpu, const LaunchSize& call) {
  // The order is the ROCm runtime's, so that a launch with several faults gets the same code.
  // Source for the codes: ROCm clr, hipamd/src/hip_module.cpp (launch validation), 2025.
  MARGAY_CHECK(check_grid(kernel, call));
  MARGAY_CHECK(check_lds(kernel, gpu, call));
  MARGAY_CHECK(check_block(kernel, gpu, call));
  return call.cooperative ? check_cooperative(kernel, gpu, call) : Outcome{};
}

}  // namespace margay::runtime
