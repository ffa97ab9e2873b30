// Decompression of zlib and zstd data of a stated size, which is not trusted.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "code_object/elf/byte_reader.h"

namespace margay::code_object {

enum class Compression : std::uint8_t { zlib, zstd };

/// invalid_image when the data is corrupted or `size` cannot be true.
[[nodiscard]] Result<std::vector<std::byte>> decompress(Compression method, Bytes compressed,
                                                        std::uint64_t size);

}  // namespace margay::code_object
