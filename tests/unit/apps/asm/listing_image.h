// The code object made of listing.s.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "apps/asm/input.h"
#include "apps/asm/listing.h"
#include "gpu/gfx942/gfx942.h"

namespace margay::assembly {

inline const CodeObject& listing_object() {
  static const std::vector<CodeObject> objects = [] {
    auto read = read_code_objects(MARGAY_LISTING_IMAGE);
    EXPECT_TRUE(read) << read.error().text();
    return std::move(*read);
  }();
  return objects.front();
}

inline const Kernel& listing_kernel() { return listing_object().kernels().front(); }

inline Listing listing() {
  const CodeObject& object = listing_object();
  std::vector<std::byte> image(object.image_bytes());
  EXPECT_TRUE(object.load(image, 0));
  const auto decoder = isa::Decoder::create(kGfx942);
  EXPECT_TRUE(decoder);
  return list_function(object, image, listing_kernel().entry_vaddr, **decoder);
}

/// The line of listing.s that holds `text`.
inline std::uint32_t line_of(const std::string& text) {
  std::ifstream source(MARGAY_LISTING_SOURCE);
  std::uint32_t number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.contains(text)) return number;
  }
  ADD_FAILURE() << "no line holds " << text;
  return 0;
}

}  // namespace margay::assembly
