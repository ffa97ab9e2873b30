// See limits.h.
#include "runtime/launch/limits.h"

#include <fmt/format.h>

#include <utility>

#include "exec/workgroup/launch_limits.h"
#include "runtime/base/names.h"

namespace margay::runtime {
namespace {

// Workgroups per dimension that the module calls take. Source: hipDeviceProp_t::maxGridSize.
constexpr std::uint64_t kMaxModuleGrid[3] = {2147483647, 65536, 65536};

Dim3 dim3_of(const dim3& size) { return {size.x, size.y, size.z}; }

/// Source: ROCm clr, hipamd/src/hip_module.cpp (launch validation), 2025.
hipError_t code_of(LaunchLimit limit, LaunchFamily family, hipError_t otherwise) {
  switch (limit) {
    case LaunchLimit::no_zero_dimension:
    case LaunchLimit::workgroup_items:
      return family == LaunchFamily::module ? hipErrorInvalidValue : hipErrorInvalidConfiguration;
    case LaunchLimit::grid_items:
      return hipErrorInvalidConfiguration;
    case LaunchLimit::lds_bytes:
      return hipErrorInvalidValue;
    case LaunchLimit::launch_bounds:
      return hipErrorLaunchFailure;
    case LaunchLimit::resident_grid:
      return hipErrorCooperativeLaunchTooLarge;
    case LaunchLimit::vgprs:
    case LaunchLimit::no_trap_handler:
      break;
  }
  return otherwise;
}

/// A limit of the calls, not of what can run.
Outcome check_module_grid(const Kernel& kernel, const CallSize& size) {
  if (size.family != LaunchFamily::module) return {};
  const std::uint64_t grid[] = {size.grid.x, size.grid.y, size.grid.z};
  for (int d = 0; d < 3; ++d)
    if (grid[d] > kMaxModuleGrid[d])
      return refuse(hipErrorInvalidValue,
                    fmt::format("The launch of {} asks for {} workgroups in {}; the most that "
                                "is possible is {}.",
                                readable_name(kernel.name), grid[d], static_cast<char>('x' + d),
                                kMaxModuleGrid[d]));
  return {};
}

}  // namespace

Outcome check_launch(const Kernel& kernel, const Gpu& gpu, const CallSize& size) {
  MARGAY_CHECK(check_module_grid(kernel, size));
  auto broken = broken_limit(
      kernel, {dim3_of(size.grid), dim3_of(size.block), size.dynamic_lds_bytes, size.cooperative},
      gpu);
  if (!broken) return {};
  const hipError_t code = code_of(broken->limit, size.family, hip_error(broken->error.code));
  return std::unexpected(Refusal(code, std::move(broken->error)));
}

}  // namespace margay::runtime
