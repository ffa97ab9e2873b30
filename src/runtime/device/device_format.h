// The text of a device-side printf: the host formats the arguments that the kernel sends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace margay::runtime {

struct FormattedText {
  std::string text;
  /// Unsupported conversions ("%n"); they are in `text` as written.
  std::string refused;
};

/// Formats a message: the format, then its arguments, each padded to 8 bytes; strings in place,
/// integers and floating-point numbers as 64 bits.
/// Source: LLVM, llvm/lib/Transforms/Utils/AMDGPUEmitPrintf.cpp, which builds the messages.
[[nodiscard]] FormattedText format_device_message(std::span<const std::uint64_t> message);

}  // namespace margay::runtime
