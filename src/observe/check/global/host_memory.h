// Findings about memory at the host's side of a program: copies of what nobody has written, and
// kernels that are given memory HIP knows nothing of.
#pragma once

#include <vector>

#include "exec/device/device.h"
#include "observe/check/global/bounds.h"
#include "observe/check/global/global_memory.h"
#include "report/check/finding.h"

namespace margay::check {

/// What is to be said of a copy; nothing when all of it was written, or when the store that left it
/// undefined was a finding already. An error when a kernel computed the bytes from values that
/// nobody had written; a note otherwise: a list whose end is not used, padding, a grid too small.
[[nodiscard]] std::vector<Finding> undefined_copy(const UndefinedCopy& copy,
                                                  const GlobalMemory& memory);

/// Notes about a launch's arguments that point to unregistered host memory in which the kernel was.
[[nodiscard]] std::vector<Finding> unregistered_memory(const LaunchRequest& request,
                                                       std::vector<HostArgument> arguments);

}  // namespace margay::check
