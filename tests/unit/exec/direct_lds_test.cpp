// From scratch to LDS without a register: scratch_load_lds_*. The words are LLVM's encodings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "buffer_bench.h"
#include "exec/program/lane_access.h"

namespace margay::buffer_test {
namespace {

class DirectLds : public testing::Test {
 protected:
  DirectLds() {
    std::mt19937_64 random(3);
    for (std::uint8_t& byte : bench_.scratch) byte = static_cast<std::uint8_t>(random());
    for (std::uint8_t& byte : bench_.lds) byte = static_cast<std::uint8_t>(random());
    for (unsigned lane = 0; lane < 64; ++lane)
      bench_.wave.row(kAddress)[lane] = static_cast<std::uint32_t>(random() % 12 * 4);
    bench_.wave.s[kSoffset] = 16;
    bench_.wave.s[kM0Index] = 512;
  }
  /// Byte `at` of a lane's scratch: dword 0 of all lanes, then dword 1.
  [[nodiscard]] std::uint8_t scratch(unsigned lane, unsigned at) const {
    return bench_.scratch[at / 4 * 256 + lane * 4 + at % 4];
  }
  [[nodiscard]] std::uint32_t lds_word(unsigned at) const {
    std::uint32_t word;
    std::memcpy(&word, &bench_.lds[at], 4);
    return word;
  }
  BufferBench bench_;
};

TEST_F(DirectLds, ScratchLoads) {
  struct Load {
    const char* name;
    std::uint64_t opcode;
    unsigned bytes;
    bool with_sign;
  };
  constexpr Load kLoads[] = {{"dword", 0xa8, 4, false},
                             {"ubyte", 0x98, 1, false},
                             {"sbyte", 0x9c, 1, true},
                             {"ushort", 0xa0, 2, false},
                             {"sshort", 0xa4, 2, true}};
  for (const Load& load : kLoads)
    for (const bool per_lane : {true, false}) {
      // v0, off offset:4   or   off, s12 offset:8
      const unsigned offset = per_lane ? 4 : 8;
      const std::uint64_t word = 0xdc00'4000ull | load.opcode << 16 | offset |
                                 (per_lane ? 0x2000ull | 0x7full << 48 : 0x0cull << 48);
      bench_.wave.set_exec(0xffff'0fff'ffff'fff5);
      const auto before = bench_.lds;
      const std::string name = std::string("scratch_load_lds_") + load.name;
      ASSERT_EQ(bench_.run_word(name, word), "");
      for (unsigned lane = 0; lane < 64; ++lane) {
        const unsigned to = 512 + offset + 4 * lane;
        const unsigned from = offset + (per_lane ? bench_.wave.row(kAddress)[lane] : 16);
        std::uint32_t expected = 0;
        for (unsigned n = 0; n < load.bytes; ++n)
          expected |= std::uint32_t{scratch(lane, from + n)} << (8 * n);
        if (load.with_sign && expected >> (8 * load.bytes - 1)) expected |= ~0u << (8 * load.bytes);
        if (!(bench_.wave.exec() >> lane & 1)) std::memcpy(&expected, &before[to], 4);
        ASSERT_EQ(lds_word(to), expected) << name << " lane " << lane;
      }
      LaneAccesses told;
      lane_accesses(bench_.wave, bench_.instruction, memory_form(bench_.instruction), told);
      ASSERT_EQ(told.count, 2u);
      EXPECT_EQ(told.access[0].space, MemorySpace::scratch);
      EXPECT_EQ(told.access[0].bytes, load.bytes);
      EXPECT_TRUE(told.access[0].is_read && !told.access[0].is_write);
      EXPECT_EQ(told.access[1].space, MemorySpace::lds);
      EXPECT_TRUE(told.access[1].is_write && told.access[1].to_lds);
      EXPECT_EQ(told.access[1].at[5], 512u + offset + 20);
    }
  bench_.wave.row(kAddress)[9] = 64;
  EXPECT_THAT(bench_.run_word("scratch_load_lds_dword", 0x007f'0000'dca8'6004),
              testing::HasSubstr("scratch access at byte 68 of lane 9"));
}

}  // namespace
}  // namespace margay::buffer_test
