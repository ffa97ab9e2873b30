// The length of a fat binary of which only the start is known: clang registers it by pointer.
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"

namespace margay {

/// How many bytes a bundle or plain code object occupies that starts `readable` and whose end is
/// not known (clang registers fat binaries, and programs load modules, by pointer only). It is in
/// `readable`; one that claims to be longer is refused.
[[nodiscard]] Result<std::size_t> bundle_size(std::span<const std::byte> readable);

}  // namespace margay
