// The verification of `margay gemm` itself: it must accept rounding, and nothing else.
#include "apps/gemm/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace margay::gemm {
namespace {

/// A problem whose C is the f32 rounding of the exact result, so that any change is an error.
struct Case {
  Options options;
  std::vector<std::uint16_t> a, b;
  std::vector<float> c_before, product, c;

  Case(std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_b, float alpha = 1,
       float beta = 0) {
    options.m = m;
    options.n = n;
    options.k = k;
    options.transpose_b = transpose_b;
    options.alpha = alpha;
    options.beta = beta;
    a.resize(static_cast<std::size_t>(m * k));
    b.resize(static_cast<std::size_t>(n * k));
    product.resize(static_cast<std::size_t>(m * n));
    fill_random(a, 1, 1, 1);
    fill_random(b, 1, 2, 1);
    if (beta != 0) {
      c_before.resize(product.size());
      fill_random(c_before, 1, 3, 1);
    }
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t q = 0; q < k; ++q) sum += element(i, j, q);
        product[at(i, j)] = static_cast<float>(sum);
      }
    c = product;
    for (std::size_t i = 0; i < c.size(); ++i)
      c[i] = alpha * product[i] + (beta != 0 ? beta * c_before[i] : 0);
  }
  [[nodiscard]] std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * options.n + j);
  }
  [[nodiscard]] double element(std::int64_t i, std::int64_t j, std::int64_t q) const {
    const std::int64_t k = options.k, n = options.n;
    return static_cast<double>(to_float(a[static_cast<std::size_t>(i * k + q)])) *
           to_float(b[static_cast<std::size_t>(options.transpose_b ? j * k + q : q * n + j)]);
  }
  [[nodiscard]] Verdict check() const {
    return verify(options, {a, b, c_before}, ResultView(c.data(), OutputType::f32), product, 2);
  }
};

TEST(GemmVerify, AcceptsTheExactResultRounded) {
  for (const bool transpose_b : {true, false}) {
    const Verdict v = Case(70, 50, 96, transpose_b).check();
    EXPECT_TRUE(v.verified);
    EXPECT_EQ(v.checked, 70 * 50);
    EXPECT_GT(v.sampled, 0);
    EXPECT_EQ(v.max_abs_error, 0);
  }
}

TEST(GemmVerify, AcceptsAlphaAndBeta) {
  const Verdict v = Case(40, 40, 64, true, -2.5f, 0.75f).check();
  EXPECT_TRUE(v.verified);
  EXPECT_LT(v.max_abs_error, 1e-5);
}

TEST(GemmVerify, FindsOneMissingProductAtTheLargestK) {
  // A single wrong product of ordinary size among 8192 must not hide in the bound.
  Case one(4, 4, 8192, true);
  for (std::int64_t q = 0; q < 8192; ++q) {
    if (std::abs(one.element(2, 3, q)) < 0.4) continue;
    one.c[one.at(2, 3)] -= static_cast<float>(one.element(2, 3, q));
    break;
  }
  const Verdict v = one.check();
  EXPECT_FALSE(v.verified);
  EXPECT_EQ(v.large_errors, 1);
}

TEST(GemmVerify, FindsNanAndInfinity) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Case one(40, 40, 16, true);
    one.c[one.at(39, 0)] = bad;
    const Verdict v = one.check();
    EXPECT_FALSE(v.verified);
    EXPECT_EQ(v.large_errors, 1);
  }
}

TEST(GemmVerify, FindsAWrongReference) {
  Case one(16, 16, 64, true);
  for (float& x : one.product) x += 1;  // both agree, and both are wrong
  one.c = one.product;
  const Verdict v = one.check();
  EXPECT_EQ(v.large_errors, 0);
  EXPECT_GT(v.sample_failures, 0);
  EXPECT_FALSE(v.verified);
}

TEST(GemmVerify, FindsAnIgnoredBeta) {
  Case one(40, 40, 64, true, 1, 1);
  one.c = one.product;
  EXPECT_FALSE(one.check().verified);
}

TEST(GemmVerify, MapShowsWhichTilesAreWrong) {
  Case one(300, 520, 16, true);  // 2 x 3 tiles of 256
  for (std::int64_t i = 256; i < 300; ++i) one.c[one.at(i, 260)] = 99;
  const Verdict v = one.check();
  EXPECT_EQ(v.large_errors, 44);
  ASSERT_EQ(v.tiles.wrong.size(), 6u);
  EXPECT_EQ(v.tiles.wrong[4], 44);
  const std::string map = draw(v.tiles);
  EXPECT_NE(map.find("    ...\n    .@.\n"), std::string::npos) << map;
}

TEST(GemmVerify, MapOfOneWrongElementIsNotAllDots) {
  const std::string map = draw({.rows = 1, .columns = 2, .wrong = {1, 1000}});
  EXPECT_EQ(map.substr(0, 7), "    :@\n") << map;
}

TEST(GemmProblem, SameValuesForAnyNumberOfThreads) {
  std::vector<std::uint16_t> one(1001), four(1001), other(1001);
  fill_random(one, 7, 1, 1);
  fill_random(four, 7, 1, 4);
  fill_random(other, 8, 1, 4);
  EXPECT_EQ(one, four);
  EXPECT_NE(one, other);
  float largest = 0;
  for (const std::uint16_t x : one) largest = std::max(largest, std::abs(to_float(x)));
  EXPECT_LE(largest, 1);
  EXPECT_GT(largest, 0.9f);
}

TEST(GemmProblem, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.00390625f), 0x3f80);  // 1 + 2^-8: a tie, down to even
  EXPECT_EQ(to_bf16(1.01171875f), 0x3f82);  // 1 + 3 * 2^-8: a tie, up to even
  EXPECT_EQ(to_bf16(1.00390637f), 0x3f81);  // just above the tie
  EXPECT_TRUE(std::isnan(to_float(to_bf16(NAN))));
}

}  // namespace
}  // namespace margay::gemm
