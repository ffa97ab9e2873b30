// Damaged inputs: cut off at every length, and with random bytes and words changed. Nothing may
// crash, hang or request excessive memory; what is still accepted must keep its promises.
#include <gtest/gtest.h>

#include <random>

#include "code_object/bundle/find_image.h"
#include "code_object/code_object.h"
#include "exercise.h"
#include "gpu/gfx942/gfx942.h"
#include "inputs.h"

namespace margay {
namespace {

using test::Image;

/// How many damaged copies of each input. Sanitizer builds run the same number.
constexpr int kDamagedCopies = 6000;

TEST(Truncation, IsAlwaysNoticedInCodeObjects) {
  for (const char* name : {"v5.hsaco", "plain.hsaco"}) {
    const Image sound = test::input(name);
    for (std::size_t length = 0; length < sound.size(); ++length) {
      const Image cut(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(length));
      // The section headers come last, so no prefix is a code object.
      ASSERT_FALSE(CodeObject::parse(cut).has_value()) << name << " cut at " << length;
      test::exercise(cut);
    }
  }
}

TEST(Truncation, IsAlwaysNoticedInBundles) {
  for (const char* name : {"several.bundle", "compressed.bundle"}) {
    const Image sound = test::input(name);
    // Every length in the table and around the end, and a sample of the rest.
    for (std::size_t length = 0; length < sound.size();
         length += length < 600 || length + 600 > sound.size() ? 1 : 37) {
      const Image cut(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(length));
      ASSERT_FALSE(find_image(cut, kGfx942).has_value()) << name << " cut at " << length;
    }
  }
}

TEST(Truncation, OfHostProgramsIsHarmless) {
  const Image sound = test::input("host.so");
  for (std::size_t length = 0; length < sound.size(); length += 61) {
    test::exercise({sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(length)});
  }
}

class Damage : public testing::TestWithParam<const char*> {};

TEST_P(Damage, IsHarmless) {
  const Image sound = test::input(GetParam());
  // NOLINTNEXTLINE(cert-msc51-cpp): the same damage on every run.
  std::mt19937_64 random(20240117);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  // Values at which range checks go wrong more often than at random ones.
  constexpr std::uint64_t kEdges[] = {0,          1,          0x7f,       0x80,
                                      0xff,       0xffff,     0x7fffffff, 0x80000000,
                                      0xffffffff, 1ull << 32, 1ull << 62, ~0ull};
  for (int copy = 0; copy < kDamagedCopies; ++copy) {
    Image image = sound;
    for (std::size_t hits = 1 + below(3); hits > 0; --hits) {
      const std::size_t offset = below(image.size() - 8);
      const std::uint64_t value = below(2) == 0 ? kEdges[below(std::size(kEdges))] : random();
      switch (below(4)) {
        case 0:
          test::put(image, offset, static_cast<std::uint8_t>(value));
          break;
        case 1:
          image[offset] ^= std::byte(1u << below(8));
          break;
        case 2:
          test::put(image, offset / 4 * 4, static_cast<std::uint32_t>(value));
          break;
        default:
          test::put(image, offset / 8 * 8, value);
          break;
      }
    }
    test::exercise(image);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryInput, Damage,
                         testing::Values("v4.hsaco", "v5.hsaco", "full_dwarf4.hsaco",
                                         "full_dwarf5.hsaco", "debug_zlib.hsaco",
                                         "debug_zstd.hsaco", "plain.hsaco", "several.bundle",
                                         "compressed.bundle", "host.so"));

/// Damage aimed at the debug information, which most of the random hits above miss.
TEST(Damage, OfDebugInformationIsHarmless) {
  for (const char* name : {"full_dwarf4.hsaco", "full_dwarf5.hsaco", "dwarf64.hsaco",
                           "parameters_dwarf4.hsaco", "parameters_dwarf5.hsaco"}) {
    const Image sound = test::input(name);
    std::mt19937_64 random(7);
    for (const std::string_view section : test::kDebugSections) {
      const auto [offset, size] = test::section_range(sound, section);
      for (int copy = 0; size != 0 && copy < kDamagedCopies / 8; ++copy) {
        Image image = sound;
        for (std::size_t hits = 1 + random() % 4; hits > 0; --hits) {
          image[offset + random() % size] =
              random() % 3 == 0 ? std::byte{0xff} : std::byte(random());
        }
        test::exercise(image);
      }
    }
  }
}

}  // namespace
}  // namespace margay
