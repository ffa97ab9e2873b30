// Finds the code objects for one architecture in a file of the user's: a code object, an offload
// bundle or a host program.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "gpu/architecture.h"

namespace margay {

/// Finds the code object for `architecture` in `bytes`, which is a plain ELF code object (.hsaco),
/// a clang offload bundle (`__CLANG_OFFLOAD_BUNDLE__`, or compressed, "CCOB"), or a host program or
/// shared library that embeds such bundles, and returns a copy of the ELF image inside.
/// wrong_architecture lists the targets that exist when that one does not.
[[nodiscard]] Result<std::vector<std::byte>> find_image(std::span<const std::byte> bytes,
                                                        const Architecture& architecture);

/// The same, for all of them: a program embeds one per translation unit with device code. Never
/// empty.
[[nodiscard]] Result<std::vector<std::vector<std::byte>>> find_images(
    std::span<const std::byte> bytes, const Architecture& architecture);

}  // namespace margay
