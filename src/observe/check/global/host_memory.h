// Findings about memory on the host's side of a program: copies of bytes that were never written,
// and kernels whose arguments point to memory unknown to HIP.
#pragma once

#include <vector>

#include "exec/device/device.h"
#include "observe/check/global/bounds.h"
#include "observe/check/global/global_memory.h"
#include "report/check/finding.h"

namespace margay::check {

/// The finding about a copy; none if all of it was written, or if the store that left it undefined
/// was already reported. An error if a kernel computed the bytes from values that were never
/// written; otherwise a note: a list whose end is not used, padding, a grid that is too small.
[[nodiscard]] std::vector<Finding> undefined_copy(const UndefinedCopy& copy,
                                                  const GlobalMemory& memory);

/// Notes about a launch's arguments that point to unregistered host memory that the kernel
/// accessed.
[[nodiscard]] std::vector<Finding> unregistered_memory(const LaunchRequest& request,
                                                       std::vector<HostArgument> arguments);

}  // namespace margay::check
