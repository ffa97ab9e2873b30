// What the code-object tests share: the files built in inputs/, and ways to damage them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "code_object/code_object.h"

namespace margay::test {

using Image = std::vector<std::byte>;

/// A file of the inputs' build directory. Fails the test when it is missing.
[[nodiscard]] Image input(std::string_view name);

/// parse() of an input that must be sound.
[[nodiscard]] CodeObject parsed(std::string_view name);

/// The line of an input's source file that holds `text`.
[[nodiscard]] std::uint32_t line_of(std::string_view source, std::string_view text);

/// Where `text` begins in `image` for the `occurrence`-th time.
[[nodiscard]] std::size_t find_text(const Image& image, std::string_view text,
                                    unsigned occurrence = 0);

template <typename T>
void put(Image& image, std::size_t offset, T value) {
  std::memcpy(image.data() + offset, &value, sizeof(value));
}

template <typename T>
[[nodiscard]] T get(const Image& image, std::size_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof(value));
  return value;
}

}  // namespace margay::test
