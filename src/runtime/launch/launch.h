// From the arguments of a HIP launch call to a checked LaunchRequest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/device/device.h"
#include "runtime/base/errors.h"
#include "runtime/graph/graph.h"
#include "runtime/module/module.h"

namespace margay::runtime {

/// The ROCm runtime answers the same mistake with different codes in its two families of calls.
enum class LaunchFamily : std::uint8_t { runtime, module };

/// A launch as the program asked for it. Sizes are as wide as the calls take them, so that nothing
/// is cut off before it is checked.
struct LaunchCall {
  std::shared_ptr<Function> function;
  dim3 grid;   ///< Workgroups.
  dim3 block;  ///< Work-items per workgroup.
  std::size_t dynamic_lds_bytes = 0;
  hipStream_t stream = nullptr;
  void** parameters = nullptr;  ///< One pointer per explicit argument ...
  void** buffer = nullptr;      ///< ... or HIP_LAUNCH_PARAM_BUFFER_POINTER and so on.
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  LaunchFamily family = LaunchFamily::runtime;
  bool cooperative = false;
};

/// Refuses what the hardware cannot run, with the codes of the ROCm runtime and a sentence.
[[nodiscard]] Outcome check_launch(const Kernel& kernel, const Gpu& gpu, const LaunchCall& call);

/// The explicit arguments, laid out as the kernel's metadata says.
[[nodiscard]] Answer<std::vector<std::byte>> pack_arguments(const Kernel& kernel,
                                                            void** parameters);
/// The same from a buffer in the form of HIP_LAUNCH_PARAM_BUFFER_POINTER, ...,
/// HIP_LAUNCH_PARAM_END.
[[nodiscard]] Answer<std::vector<std::byte>> copy_arguments(const Kernel& kernel, void** buffer);

/// Checks a launch and takes its arguments: what is left is to run it, once or more.
[[nodiscard]] Answer<Work> prepare(const LaunchCall& call);

/// Checks and runs a launch to its end, or makes it a node of a graph.
[[nodiscard]] Outcome launch(const LaunchCall& call);

}  // namespace margay::runtime
