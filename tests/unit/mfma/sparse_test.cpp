// v_smfmac_*: the layout tested with exact small integers by plain loops over the layout tables of
// AMD's matrix instruction calculator, A expanded to a dense matrix; the sums compared with the
// dense instruction of half the k, fed with the k of B that each row's indices name.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "operands.h"

namespace margay {
namespace {

using namespace test;

constexpr int kIndex = 48;
constexpr int kMaxM = 32, kMaxK = 64;

/// The two of four k that a pair of indices keeps, as it is encoded.
constexpr std::uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};

SmfmacOperands sparse_at(Registers& registers, int d = kD, int a = kA, int b = kB,
                         int index = kIndex, std::uint8_t shift = 0) {
  return {registers.row(d), registers.row(a), registers.row(b), registers.row(index), shift};
}

std::vector<MfmaShape> sparse_shapes() {
  return {std::begin(kSmfmacShapes), std::end(kSmfmacShapes)};
}

std::uint32_t element_at(const Registers& registers, int base, int gpr, int bit, int width,
                         int lane) {
  return registers.row(base + gpr)[lane] >> bit & (width == 32 ? ~0u : (1u << width) - 1);
}

/// One instruction's operands as plain matrices of element bits. What of A is not kept is absent,
/// not zero.
struct Matrices {
  std::uint32_t a[kMaxM][kMaxK] = {};
  bool kept[kMaxM][kMaxK] = {};
  std::uint32_t b[kMaxK][kMaxM] = {};
};

// 16-bit A: group = gpr of the lane, k base = 8 * (lane / M) + 4 * gpr; 8-bit A: two groups per
// gpr, k base = 16 * (lane / M) + 8 * gpr + 4 * half. Four bits of index per group. B: consecutive
// k.
Matrices matrices_of(const MfmaShape& s, const Registers& registers, unsigned set) {
  Matrices out;
  const bool bytes = bits_of(s.a) == 8;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int row = lane % s.m, part = lane / s.m;
    const std::uint32_t index = registers.row(kIndex)[lane];
    for (int gpr = 0; gpr < 2; ++gpr) {
      for (int half = 0; half < (bytes ? 2 : 1); ++half) {
        const int base = bytes ? 16 * part + 8 * gpr + 4 * half : 8 * part + 4 * gpr;
        const int group = bytes ? 2 * gpr + half : gpr;
        const std::uint32_t lane_set = bytes ? index >> (16 * set) & 0xffff : index >> (8 * set);
        const std::uint32_t pair = lane_set >> (4 * group) & 15;
        for (int n = 0; n < 2; ++n) {
          const int k = base + static_cast<int>(n == 0 ? pair & 3 : pair >> 2);
          const int bit = bytes ? 16 * half + 8 * n : 16 * n;
          out.a[row][k] = element_at(registers, kA, gpr, bit, bits_of(s.a), lane);
          out.kept[row][k] = true;
        }
      }
    }
    for (int gpr = 0; gpr < 4; ++gpr)
      for (int n = 0; n < (bytes ? 4 : 2); ++n) {
        const int k = bytes ? 16 * part + 4 * gpr + n : 8 * part + 2 * gpr + n;
        out.b[k][row] = element_at(registers, kB, gpr, bits_of(s.b) * n, bits_of(s.b), lane);
      }
  }
  return out;
}

void result_place(const MfmaShape& s, int i, int j, int& gpr, int& lane) {
  gpr = s.m == 32 ? i / 8 * 4 + i % 4 : i % 4;
  lane = s.m == 32 ? i / 4 % 2 * 32 + j : i / 4 * 16 + j;
}

/// Any pair in every group of every set.
void fill_index(Registers& registers, Random& random) {
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint32_t& word = registers.row(kIndex)[lane] = 0;
    for (int group = 0; group < 8; ++group) word |= kPairs[random() % 6] << (4 * group);
  }
}

/// A small integer from its encoding.
class SmallIntegers {
 public:
  explicit SmallIntegers(MfmaType type) {
    for (int value = -4; value <= 4; ++value) values_[encode(type, value)] = value;
  }
  [[nodiscard]] int operator[](std::uint32_t bits) const { return values_.at(bits); }

 private:
  std::map<std::uint64_t, int> values_;
};

class Sparse : public ::testing::TestWithParam<MfmaShape> {
 protected:
  const MfmaShape& shape_ = *find_smfmac_shape(GetParam().mnemonic);
  Registers registers_;

  /// Integers from -4 to 4: every sum is exact, in any order.
  void fill_small(Random& random) {
    const auto fill = [&](int base, int count, MfmaType type) {
      for (int n = 0; n < count * kLanes; ++n) {
        std::uint32_t& word = registers_.row(base)[n] = 0;
        for (int bit = 0; bit < 32; bit += bits_of(type))
          word |= static_cast<std::uint32_t>(encode(type, static_cast<int>(random() % 9) - 4))
                  << bit;
      }
    };
    fill(kA, 2, shape_.a);
    fill(kB, 4, shape_.b);
    for (int n = 0; n < shape_.d_registers * kLanes; ++n) {
      const int value = static_cast<int>(random() % 201) - 100;
      registers_.row(kC)[n] = shape_.a == MfmaType::i8
                                  ? static_cast<std::uint32_t>(value)
                                  : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
  }
  void copy_c_to(int d) {
    std::copy_n(registers_.row(kC), shape_.d_registers * kLanes, registers_.row(d));
  }
};

TEST_P(Sparse, SmallIntegersLandWhereTheTablesSay) {
  Random random(11);
  const unsigned sets = bits_of(shape_.a) == 8 ? 2 : 4;
  const SmallIntegers integers_a(shape_.a), integers_b(shape_.b);
  const auto integer = [&](std::uint32_t bits) {
    return shape_.a == MfmaType::i8 ? static_cast<int>(bits)
                                    : static_cast<int>(std::bit_cast<float>(bits));
  };
  for (int round = 0; round < 10; ++round)
    for (unsigned cbsz = 0; cbsz < 4; ++cbsz)
      for (unsigned abid = 0; abid < sets; ++abid) {
        fill_small(random);
        fill_index(registers_, random);
        const Matrices m = matrices_of(shape_, registers_, cbsz == 0 ? abid : 0);
        const std::uint8_t shift = smfmac_index_shift(shape_, cbsz, abid);
        ASSERT_EQ(smfmac_bad_index_lane(shape_, sparse_at(registers_, kD, kA, kB, kIndex, shift)),
                  -1);
        int sums[kMaxM][kMaxM];
        for (int i = 0; i < shape_.m; ++i)
          for (int j = 0; j < shape_.m; ++j) {
            int gpr = 0, lane = 0;
            result_place(shape_, i, j, gpr, lane);
            sums[i][j] = integer(registers_.row(kC + gpr)[lane]);
            for (int k = 0; k < shape_.k; ++k)
              if (m.kept[i][k]) sums[i][j] += integers_a[m.a[i][k]] * integers_b[m.b[k][j]];
          }
        for (const std::string_view level : mfma_levels())
          for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma, MfmaMode::fast}) {
            copy_c_to(kD);
            smfmac_kernel(shape_, mode, level)(sparse_at(registers_, kD, kA, kB, kIndex, shift));
            for (int i = 0; i < shape_.m; ++i)
              for (int j = 0; j < shape_.m; ++j) {
                int gpr = 0, lane = 0;
                result_place(shape_, i, j, gpr, lane);
                const std::uint32_t got = registers_.row(kD + gpr)[lane];
                ASSERT_EQ(integer(got), sums[i][j])
                    << level << " mode " << static_cast<int>(mode) << " i " << i << " j " << j
                    << " cbsz " << cbsz << " abid " << abid;
              }
          }
      }
}

const MfmaShape& dense_of_half_k(const MfmaShape& s) {
  return *std::ranges::find_if(kMfmaShapes, [&](const MfmaShape& d) {
    return d.a == s.a && d.b == s.b && d.m == s.m && d.k == s.k / 2 && d.blocks == 1;
  });
}

// B for row i's indices, in the dense instruction's layout; A's kept values are already where the
// dense instruction takes them.
void gather_b(const MfmaShape& s, const Matrices& m, int i, Registers& out, int base) {
  std::fill_n(out.row(base), 2 * kLanes, 0);
  const int width = bits_of(s.b), per_lane = 64 / width;
  int p = 0;
  for (int k = 0; k < s.k; ++k) {
    if (!m.kept[i][k]) continue;
    for (int j = 0; j < s.m; ++j) {
      const int bit = p % per_lane * width;
      out.row(base + bit / 32)[p / per_lane * s.m + j] |= m.b[k][j] << bit % 32;
    }
    ++p;
  }
  ASSERT_EQ(p, s.k / 2);
}

// The unselected half of B may be anything, infinite or NaN: it is not even multiplied by 0.
TEST_P(Sparse, RoundsAsTheDenseInstructionOfHalfTheK) {
  const MfmaShape& dense = dense_of_half_k(shape_);
  constexpr int kGathered = 120, kExpected = 128;
  Random random(12);
  for (const Fill fill : kFills)
    for (const Fill c : {Fill::bits, Fill::normal, Fill::wide}) {
      fill_rows(registers_.row(kA), 2, shape_.a, fill, random);
      fill_rows(registers_.row(kB), 4, shape_.b, fill, random);
      fill_rows(registers_.row(kC), shape_.d_registers, result_type(shape_), c, random);
      fill_index(registers_, random);
      const Matrices m = matrices_of(shape_, registers_, 0);
      for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma}) {
        std::vector<std::uint32_t> expected(std::size_t{shape_.d_registers} * kLanes);
        for (int i = 0; i < shape_.m; ++i) {
          gather_b(shape_, m, i, registers_, kGathered);
          mfma_kernel(dense, mode, "").run(operands_at(registers_, kExpected, kA, kGathered, kC));
          for (int j = 0; j < shape_.m; ++j) {
            int gpr = 0, lane = 0;
            result_place(shape_, i, j, gpr, lane);
            expected[static_cast<std::size_t>(gpr * kLanes + lane)] =
                registers_.row(kExpected + gpr)[lane];
          }
        }
        for (const std::string_view level : mfma_levels()) {
          copy_c_to(kD);
          smfmac_kernel(shape_, mode, level)(sparse_at(registers_));
          ASSERT_EQ(difference(shape_, expected.data(), registers_.row(kD)), "")
              << level << " mode " << static_cast<int>(mode) << ", A and B "
              << static_cast<int>(fill) << ", C " << static_cast<int>(c);
        }
      }
    }
}

TEST_P(Sparse, DMayOverlapEveryOperand) {
  Random random(13);
  constexpr int kCopies = 128;
  for (const std::string_view level : mfma_levels())
    for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma})
      for (const int source : {kA, kB, kIndex}) {
        Registers registers;
        for (int n = 0; n < 100 * kLanes; ++n)
          registers.words[static_cast<std::size_t>(n)] =
              static_cast<std::uint32_t>(encode(MfmaType::f32, 1 + random() % 100));
        // Bit patterns that are numbers in every type, and indices in order.
        for (int n = 0; n < 8 * kLanes; ++n)
          registers.row(source)[n] = source == kIndex ? 0x4e9c4e9c : 0x3c383c38 + random() % 4;
        Registers apart = registers;
        std::copy_n(registers.row(source), 8 * kLanes, apart.row(kCopies));
        smfmac_kernel(shape_, mode, level)(sparse_at(registers, source));
        smfmac_kernel(shape_, mode, level)(sparse_at(apart, source, source == kA ? kCopies : kA,
                                                     source == kB ? kCopies : kB,
                                                     source == kIndex ? kCopies : kIndex));
        ASSERT_EQ(difference(shape_, apart.row(source), registers.row(source)), "")
            << level << " D over " << source;
      }
}

TEST_P(Sparse, IndicesOutOfOrderAreToldByLane) {
  for (int lane = 0; lane < kLanes; lane += 21)
    for (std::uint32_t pair = 0; pair < 16; ++pair)
      for (int group = 0; group < (bits_of(shape_.a) == 8 ? 4 : 2); ++group) {
        const bool valid = std::ranges::find(kPairs, pair) != std::end(kPairs);
        std::fill_n(registers_.row(kIndex), kLanes, 0x4444u);
        std::uint32_t& word = registers_.row(kIndex)[lane];
        word = (word & ~(15u << (4 * group))) | pair << (4 * group);
        // The upper sets do not count.
        EXPECT_EQ(smfmac_bad_index_lane(shape_, sparse_at(registers_)), valid ? -1 : lane)
            << pair << " group " << group;
      }
}

TEST_P(Sparse, TakesCbszAndAbidOnlyToChooseASet) {
  const bool bytes = bits_of(shape_.a) == 8;
  EXPECT_TRUE(mfma_modifiers_valid(shape_, 0, bytes ? 1 : 3, 0));
  EXPECT_TRUE(mfma_modifiers_valid(shape_, 3, 1, 0));
  EXPECT_FALSE(mfma_modifiers_valid(shape_, 4, 0, 0));
  EXPECT_FALSE(mfma_modifiers_valid(shape_, 0, bytes ? 2 : 4, 0));
  EXPECT_FALSE(mfma_modifiers_valid(shape_, 0, 0, 1));
  EXPECT_EQ(smfmac_index_shift(shape_, 0, 1), bytes ? 16 : 8);
  EXPECT_EQ(smfmac_index_shift(shape_, 1, 1), 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Sparse, ::testing::ValuesIn(sparse_shapes()),
                         [](const auto& info) { return shape_name(info.param); });

TEST(SparseShapes, RegistersAreTheGuides) {
  for (const MfmaShape& s : kSmfmacShapes) {
    EXPECT_EQ(s.a_registers, 2) << s.mnemonic;
    EXPECT_EQ(s.b_registers, 4) << s.mnemonic;
    EXPECT_EQ(s.d_registers, s.m == 16 ? 4 : 16) << s.mnemonic;
  }
  EXPECT_EQ(find_smfmac_shape("v_mfma_f32_16x16x16_f16"), nullptr);
  EXPECT_EQ(find_smfmac_shape("v_smfmac_f32_16x16x64_f16"), nullptr);  // gfx950 only
}

}  // namespace
}  // namespace margay
