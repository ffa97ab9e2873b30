// The length of a fat binary of which only the start is known: clang registers it by pointer.
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"

namespace margay {

/// The size in bytes of the bundle or plain code object that starts at `readable` and whose end is
/// not known (clang registers fat binaries, and programs load modules, by pointer only). One that
/// claims to be longer than `readable` is refused.
[[nodiscard]] Result<std::size_t> bundle_size(std::span<const std::byte> readable);

}  // namespace margay
