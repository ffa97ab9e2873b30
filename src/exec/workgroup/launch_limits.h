// What a launch may ask for: the limits of the hardware, of the dispatch packet and of the kernel.
// The one place for them: the device checks each launch here, and the HIP calls ask beforehand.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "code_object/code_object.h"
#include "exec/workgroup/launch_request.h"
#include "gpu/gpu.h"

namespace margay {

/// The part of a launch that is limited.
struct LaunchSize {
  Dim3 grid;                            ///< Workgroups.
  Dim3 block;                           ///< Work-items per workgroup.
  std::uint64_t dynamic_lds_bytes = 0;  ///< Wider than in a request, where it could be truncated.
  bool cooperative = false;
};

/// In the order in which they are checked, which is that of the ROCm runtime, so that a launch with
/// several faults gets the same code. Source: ROCm clr, hipamd/src/hip_module.cpp (launch
/// validation), 2025.
enum class LaunchLimit : std::uint8_t {
  no_zero_dimension,
  grid_items,       ///< Work-items in one dimension of the grid, and workgroups in all.
  lds_bytes,        ///< Of a workgroup.
  workgroup_items,  ///< As the hardware allows.
  launch_bounds,    ///< Work-items of a workgroup, as the kernel was compiled for.
  vgprs,            ///< Of a lane.
  no_trap_handler,  ///< The kernel needs none.
  resident_grid,    ///< Of a cooperative launch: all workgroups at a time.
};

struct LimitBreach {
  LaunchLimit limit{};
  Error error;
};

/// The first limit that the launch of a kernel goes beyond; nothing where it can run.
[[nodiscard]] std::optional<LimitBreach> broken_limit(const Kernel& kernel, const LaunchSize& size,
                                                      const Gpu& gpu);

/// The same of a request.
[[nodiscard]] Status check_limits(const LaunchRequest& request, const Gpu& gpu);

/// The number of workgroups of this launch that can be resident on the device at a time.
[[nodiscard]] std::uint64_t resident_limit(const LaunchRequest& request, const Gpu& gpu);

}  // namespace margay
