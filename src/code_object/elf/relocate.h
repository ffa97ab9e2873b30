// Placing an image: segments into memory, then relocations.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "code_object/elf/elf_image.h"

namespace margay::code_object {

/// See CodeObject::load.
[[nodiscard]] Status place_image(const ElfImage& image, std::span<std::byte> memory,
                                 std::uint64_t load_address);

}  // namespace margay::code_object
