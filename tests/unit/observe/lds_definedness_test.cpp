// LdsDefinedness compared with an array with an entry per byte.
#include "observe/check/lds/lds_definedness.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace margay::check {
namespace {

constexpr std::uint32_t kBytes = 1000;

struct Access {
  alignas(64) std::uint64_t at[64];
  std::uint64_t active = 0;
  unsigned bytes = 4;
};

Access random_access(std::mt19937_64& random) {
  constexpr unsigned kSizes[] = {1, 2, 4, 8, 12, 16};
  Access a;
  a.bytes = kSizes[random() % 6];
  a.active = random() % 3 == 0 ? ~0ull : random() & random();
  const bool contiguous = random() % 2 == 0;
  const auto first = static_cast<std::uint32_t>(random() % 64);
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    a.at[lane] = contiguous && first + 64 * a.bytes <= kBytes ? first + a.bytes * lane
                                                              : random() % (kBytes - a.bytes + 1);
  return a;
}

TEST(LdsDefinedness, AgreesWithAnArrayOfBytes) {
  std::mt19937_64 random(12);
  std::uint64_t found = 0, silent = 0;
  for (int round = 0; round < 200; ++round) {
    LdsDefinedness lds(kBytes);
    lds.begin_workgroup();
    std::vector<std::uint8_t> undefined(kBytes, 0xff);  // bits
    for (int step = 0; step < 60; ++step) {
      const Access a = random_access(random);
      const auto kind = random() % 8;
      if (kind == 0) {
        LaneBits bits;
        bits.lanes = 1;
        for (unsigned b = 0; b < a.bytes; ++b) {
          bits.bytes[0][b] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0xff);
          undefined[a.at[0] + b] = bits.bytes[0][b];
        }
        lds.write(a.at, 1, a.bytes);
        lds.write_undefined(a.at, bits, a.bytes);
        continue;
      }
      if (kind < 3) {
        lds.write(a.at, a.active, a.bytes);
        for (unsigned lane = 0; lane < 64; ++lane)
          for (unsigned b = 0; (a.active >> lane & 1) != 0 && b < a.bytes; ++b)
            undefined[a.at[lane] + b] = 0;
        continue;
      }
      LaneBits have;
      const bool any = lds.read(a.at, a.active, a.bytes, have);
      std::uint64_t want = 0;
      for (unsigned lane = 0; lane < 64; ++lane) {
        if ((a.active >> lane & 1) == 0) continue;
        for (unsigned b = 0; b < a.bytes; ++b) {
          const std::uint8_t bits = undefined[a.at[lane] + b];
          if (bits != 0) want |= 1ull << lane;
          if ((have.lanes >> lane & 1) != 0) {
            ASSERT_EQ(have.bytes[lane][b], bits);
          }
        }
      }
      ASSERT_EQ(have.lanes, want);
      ASSERT_EQ(any, want != 0);
      (any ? found : silent) += 1;
    }
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(silent, 500u);
}

TEST(LdsDefinedness, AWorkgroupStartsWithNothingWritten) {
  LdsDefinedness lds(64);
  Access a;
  for (std::uint32_t lane = 0; lane < 64; ++lane) a.at[lane] = lane % 16 * 4;
  a.active = ~0ull;
  lds.begin_workgroup();
  lds.write(a.at, a.active, 4);
  LaneBits bits;
  EXPECT_FALSE(lds.read(a.at, a.active, 4, bits));
  lds.begin_workgroup();
  EXPECT_TRUE(lds.read(a.at, a.active, 4, bits));
  EXPECT_EQ(bits.lanes, ~0ull);
}

}  // namespace
}  // namespace margay::check
