// The levels of the GEMM ladder: every element of C against a sum in whole numbers, at several
// shapes; what they refuse; and what they cost, by counts that follow from their tiling.
//
// Inputs are small integers, so every product and sum is exact in float and the comparison is for
// equality. C starts as NaN, and is written between two guard zones that must stay as they were.
#include <cmath>
#include <limits>
#include <ostream>

#include "ladder.h"
#include "profiled.h"

namespace margay_gemm::ladder {
/// How GoogleTest shows a level; without it the bytes, with addresses in them.
static void PrintTo(const Level& level, std::ostream* out) { *out << level.name; }
}  // namespace margay_gemm::ladder

namespace {

using kittens::bf16;
using margay_gemm::ladder::kLevels;
using margay_gemm::ladder::Level;
using margay_gemm::ladder::Problem;
using tile_test::as;
using tile_test::Buffer;

int a_value(int m, int k) { return (m * 7 + k * 5) % 13 - 6; }
int b_value(int k, int n) { return (k * 3 + n * 11) % 17 - 8; }

struct Operands {
  int m, n, k;
  Buffer<bf16> a, b;

  Operands(const Level& level, int m, int n, int k)
      : m(m),
        n(n),
        k(k),
        a(filled(m, k, a_value)),
        b(level.transpose_b ? filled(n, k, [](int col, int kk) { return b_value(kk, col); })
                            : filled(k, n, b_value)) {}

 private:
  template <typename F>
  static std::vector<bf16> filled(int rows, int cols, F&& value) {
    std::vector<bf16> result;
    result.reserve(static_cast<size_t>(rows) * cols);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) result.push_back(as<bf16>(value(r, c)));
    }
    return result;
  }
};

class Ladder : public testing::TestWithParam<Level> {
 protected:
  /// A problem of the given number of blocks and steps.
  static void expect_right(int rows, int cols, int steps) {
    const Level& level = GetParam();
    const int m = rows * level.block_m, n = cols * level.block_n, k = steps * level.step_k;
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k));
    const Operands in(level, m, n, k);
    constexpr size_t kGuard = 1024;
    constexpr float kMark = -77;
    const size_t count = static_cast<size_t>(m) * n;
    std::vector<float> before(count + 2 * kGuard, kMark);
    std::fill_n(before.begin() + kGuard, count, std::numeric_limits<float>::quiet_NaN());
    const Buffer<float> c(before);
    ASSERT_EQ(launch(level, {in.a.get(), in.b.get(), c.get() + kGuard, m, n, k}), "");

    const auto result = c.read();
    for (size_t i = 0; i < kGuard; ++i) {
      ASSERT_EQ(result[i], kMark) << "before C";
      ASSERT_EQ(result[kGuard + count + i], kMark) << "behind C";
    }
    std::vector<int> a_row(k);
    for (int row = 0; row < m; ++row) {
      for (int kk = 0; kk < k; ++kk) a_row[kk] = a_value(row, kk);
      for (int col = 0; col < n; ++col) {
        int want = 0;
        for (int kk = 0; kk < k; ++kk) want += a_row[kk] * b_value(kk, col);
        ASSERT_EQ(result[kGuard + static_cast<size_t>(row) * n + col], static_cast<float>(want))
            << "row " << row << ", column " << col;
      }
    }
  }
};

TEST_P(Ladder, OneBlock) {
  expect_right(1, 1, 1);
  expect_right(1, 1, 2);
  expect_right(1, 1, 5);
}
TEST_P(Ladder, SeveralBlocks) {
  expect_right(2, 3, 3);
  expect_right(3, 1, 4);
}

TEST_P(Ladder, RefusesOtherSizes) {
  const Level& level = GetParam();
  const Buffer<bf16> ab(8);
  const Buffer<float> c(8);
  const auto refusal = [&](int64_t m, int64_t n, int64_t k) {
    return launch(level, {ab.get(), ab.get(), c.get(), m, n, k});
  };
  const int64_t m = level.block_m, n = level.block_n, k = level.step_k;
  const auto wanted = [&](char name, int64_t block, int64_t is) {
    return "level " + std::to_string(level.number) + " needs " + name + " in multiples of " +
           std::to_string(block) + ", up to 1048576; " + name + " is " + std::to_string(is);
  };
  for (const int64_t wrong : {int64_t{0}, -m, m - 1, m + 16, m << 20})
    EXPECT_EQ(refusal(wrong, n, k), wanted('m', m, wrong));
  for (const int64_t wrong : {int64_t{0}, -n, n - 1, n + 16, n << 20})
    EXPECT_EQ(refusal(m, wrong, k), wanted('n', n, wrong));
  for (const int64_t wrong : {int64_t{0}, -k, k - 1, k + 16, k << 20})
    EXPECT_EQ(refusal(m, n, wrong), wanted('k', k, wrong));
  EXPECT_EQ(launch(level, {nullptr, ab.get(), c.get(), m, n, k}), "a matrix is a null pointer");
  EXPECT_EQ(launch(level, {ab.get(), ab.get(), c.get() + 1, m, n, k}),
            "the ladder needs matrices aligned to 16 bytes");
  if (level.grid_1d)
    EXPECT_EQ(refusal(1 << 20, 1 << 20, k), "the result has too many blocks for one launch");
}

/// 64-bit LDS reads for each MFMA, from the part of C that a wave makes: (rows + columns) / 16
/// reads of 16x16 for rows / 16 x columns / 16 products. From level 3 on.
double reads_per_mfma(int level) {
  if (level <= 6) return (4.0 + 4.0) / (4 * 4);  // 64x64
  if (level == 7) return (4.0 + 2.0) / (4 * 2);  // 64x32
  return (4.0 + 8.0) / (4 * 8);                  // 64x128
}

/// What a level does, by counts that follow from its blocks and steps.
TEST_P(Ladder, CostFollowsFromTheTiling) {
  const Level& level = GetParam();
  const int m = 2 * level.block_m, n = 3 * level.block_n, k = 256;
  const Operands in(level, m, n, k);
  const Buffer<float> c(static_cast<size_t>(m) * n);
  const auto profile = tile_test::counts_of(
      [&] { EXPECT_EQ(launch(level, {in.a.get(), in.b.get(), c.get(), m, n, k}), ""); });

  const double mfma = m / 16.0 * (n / 16.0) * (k / 16.0);
  EXPECT_EQ(profile["SQ_WAVES"], 6.0 * level.threads / 64);
  EXPECT_EQ(profile["mfma_bf16_instructions"], mfma);
  EXPECT_EQ(profile["mfma_instructions"], mfma);
  EXPECT_EQ(profile["scratch_bytes"], 0);
  EXPECT_EQ(profile["coalescing"], 1.0);
  // A and B in 16 bytes per lane; C by single floats.
  const double blocks = 6, chunks = blocks * (level.block_m + level.block_n) * k / 8.0 / 64;
  EXPECT_EQ(profile["SQ_INSTS_VMEM_RD"], chunks);
  EXPECT_EQ(profile["SQ_INSTS_VMEM_WR"], static_cast<double>(m) * n / 64);

  EXPECT_EQ(profile["lds_bank_conflicts"], 0);
  if (level.number >= 3)
    tile_test::expect_no_lds_conflicts(profile, 2 * chunks + mfma * reads_per_mfma(level.number));
  // Steps of 64 read whole lines of 128 bytes, each once for the block.
  if (level.step_k == 64 && level.number >= 3) {
    EXPECT_EQ(profile["TCP_TCC_READ_REQ"], blocks * (level.block_m + level.block_n) * k * 2 / 128);
  }
}

TEST(LadderInterface, OtherLanguagesGetTheSame) {
  const Level& level = kLevels[2];
  const Operands in(level, 128, 128, 64);
  const Buffer<float> c(128 * 128);
  EXPECT_EQ(margay_gemm_level(3, in.a.get(), in.b.get(), c.get(), 128, 128, 64), nullptr);
  int want = 0;
  for (int k = 0; k < 64; ++k) want += a_value(5, k) * b_value(k, 77);
  EXPECT_EQ(c.read()[5 * 128 + 77], static_cast<float>(want));
  EXPECT_STREQ(margay_gemm_level(3, in.a.get(), in.b.get(), c.get(), 128, 100, 64),
               "level 3 needs n in multiples of 128, up to 1048576; n is 100");
  EXPECT_STREQ(margay_gemm_level(99, in.a.get(), in.b.get(), c.get(), 128, 128, 64),
               "no such level");
}

INSTANTIATE_TEST_SUITE_P(Level, Ladder, testing::ValuesIn(kLevels), [](const auto& info) {
  return std::to_string(info.param.number) + "_" + info.param.name;
});

}  // namespace
