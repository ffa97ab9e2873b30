// See arguments.h.
#include "runtime/launch/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "exec/state/wave.h"
#include "runtime/base/names.h"

namespace margay::runtime {
namespace {

std::uint32_t explicit_bytes(const Kernel& kernel) {
  std::uint32_t bytes = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (is_hidden(argument.kind)) continue;
    bytes = std::max(bytes, argument.offset_bytes + argument.size_bytes);
  }
  return bytes;
}

/// Arguments that the program does not pass have the pattern of uninitialised values.
std::vector<std::byte> without_values(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; ++at)
    bytes[at] = static_cast<std::byte>(kUninitialised >> 8 * (at % sizeof kUninitialised));
  return bytes;
}

void say_short(const Kernel& kernel, std::size_t given, std::size_t needed) {
  fmt::print(
      stderr,
      "margay: The argument buffer of the launch of {} has {} bytes; the kernel's metadata "
      "has arguments up to byte {}.\n  fix  Pass all of them; what is missing is {:#x} here, "
      "and whatever is behind the buffer on a device.\n",
      readable_name(kernel.name), given, needed, kUninitialised);
}

}  // namespace

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

Answer<std::vector<std::byte>> copy_arguments(const Kernel& kernel, void** buffer, SaidOnce* said) {
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
  // is accepted as well: ROCm's runtime ignores the size and copies the bytes behind it (clr,
  // hip_module.cpp, ihipLaunchKernelCommand), so libraries omit what their kernels do not read.
  std::vector<std::byte> bytes = without_values(needed);
  const std::size_t copied = std::min<std::size_t>(given, needed);
  if (copied != 0) std::memcpy(bytes.data(), source, copied);
  if (copied < needed && said != nullptr && said->first(kernel.name))
    say_short(kernel, copied, needed);
  return bytes;
}

}  // namespace margay::runtime
