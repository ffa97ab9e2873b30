// The explicit arguments of a launch, from either of the two forms in which programs pass them.
#pragma once

#include <cstddef>
#include <vector>

#include "code_object/code_object.h"
#include "runtime/base/errors.h"
#include "runtime/base/said_once.h"

namespace margay::runtime {

/// The explicit arguments, in the layout of the kernel's metadata.
[[nodiscard]] Answer<std::vector<std::byte>> pack_arguments(const Kernel& kernel,
                                                            void** parameters);

/// The same from a buffer in the form of HIP_LAUNCH_PARAM_BUFFER_POINTER, ...,
/// HIP_LAUNCH_PARAM_END. `said`: the kernels whose short buffer has been reported; null to report
/// nothing.
[[nodiscard]] Answer<std::vector<std::byte>> copy_arguments(const Kernel& kernel, void** buffer,
                                                            SaidOnce* said);

}  // namespace margay::runtime
