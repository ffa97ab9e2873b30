// The explicit arguments of a launch, from either form in which programs pass them.
#pragma once

#include <cstddef>
#include <vector>

#include "code_object/code_object.h"
#include "runtime/base/errors.h"
#include "runtime/base/said_once.h"

namespace margay::runtime {

/// The explicit arguments, laid out as the kernel's metadata says.
[[nodiscard]] Answer<std::vector<std::byte>> pack_arguments(const Kernel& kernel,
                                                            void** parameters);

/// The same from a buffer in the form of HIP_LAUNCH_PARAM_BUFFER_POINTER, ...,
/// HIP_LAUNCH_PARAM_END. `said`: of which kernels it was said that their buffer is short; null
/// where it is not to be said.
[[nodiscard]] Answer<std::vector<std::byte>> copy_arguments(const Kernel& kernel, void** buffer,
                                                            SaidOnce* said);

}  // namespace margay::runtime
