// The limits of a launch, with the error codes of the ROCm runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include "code_object/code_object.h"
#include "gpu/gpu.h"
#include "runtime/base/errors.h"

namespace margay::runtime {

/// The ROCm runtime returns different codes for the same error in its two families of calls.
enum class LaunchFamily : std::uint8_t { runtime, module };

/// The size of a launch. Sizes are as wide as in the calls, so that nothing is truncated before it
/// is checked.
struct CallSize {
  dim3 grid;   ///< Workgroups.
  dim3 block;  ///< Work-items per workgroup.
  std::size_t dynamic_lds_bytes = 0;
  LaunchFamily family = LaunchFamily::runtime;
  bool cooperative = false;
};

/// An error for launches that cannot run, with the codes of the ROCm runtime. The executor says
/// which those are (exec/workgroup/launch_limits.h); the calls ask before a launch is put into a
/// graph or behind other work.
[[nodiscard]] Outcome check_launch(const Kernel& kernel, const Gpu& gpu, const CallSize& size);

}  // namespace margay::runtime
