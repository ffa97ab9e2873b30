// The layernorm kernels against the definition in double, from the rounded inputs.
//
// What may differ: the output's rounding to bf16 (2^-8, relative), and float arithmetic before
// that: sums of up to 8192 elements, by pieces, within 2^-18 of the largest term that they are made
// of.
#include <cmath>
#include <limits>
#include <random>

#include "layernorm/layernorm.h"
#include "profiled.h"

namespace {

using kittens::bf16;
using margay_layernorm::Problem;
using tile_test::as;
using tile_test::as_float;
using tile_test::Buffer;

constexpr int kGuard = 256;
constexpr float kMark = -77;

struct Shape {
  int rows, cols;
  bool residual = true, affine = true, write_sum = true;
  float offset = 0;  // mean of x
  float eps = 1e-5f;
};

/// Between guards of NaN: what is read too much shows in the sum.
std::vector<bf16> random_values(size_t count, float offset, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<bf16> values(count + 2 * kGuard, as<bf16>(std::numeric_limits<float>::quiet_NaN()));
  for (size_t i = 0; i < count; ++i) values[kGuard + i] = as<bf16>(uniform(random) + offset);
  return values;
}

struct Case {
  Shape shape;
  size_t count;
  std::vector<bf16> x, residual, weight, bias;
  Buffer<bf16> x_device, residual_device, weight_device, bias_device, y_device, sum_device;

  explicit Case(const Shape& s)
      : shape(s),
        count(static_cast<size_t>(s.rows) * s.cols),
        x(random_values(count, s.offset, 1)),
        residual(random_values(count, 0, 2)),
        weight(random_values(s.cols, 0, 3)),
        bias(random_values(s.cols, 0, 4)),
        x_device(x),
        residual_device(residual),
        weight_device(weight),
        bias_device(bias),
        y_device(std::vector<bf16>(x.size(), as<bf16>(kMark))),
        sum_device(std::vector<bf16>(x.size(), as<bf16>(kMark))) {}

  Problem problem() const {
    Problem p;
    p.x = x_device.get() + kGuard;
    if (shape.residual) p.residual = residual_device.get() + kGuard;
    if (shape.affine) p.weight = weight_device.get() + kGuard;
    if (shape.affine) p.bias = bias_device.get() + kGuard;
    p.y = y_device.get() + kGuard;
    if (shape.write_sum) p.sum = sum_device.get() + kGuard;
    p.rows = shape.rows;
    p.cols = shape.cols;
    p.eps = shape.eps;
    return p;
  }

  /// y and sum point at the row.
  void expect_row(int row, const bf16* y, const bf16* sum) const {
    std::vector<double> s(shape.cols);
    double mean = 0, variance = 0, largest = 0;
    for (int c = 0; c < shape.cols; ++c) {
      const size_t at = kGuard + static_cast<size_t>(row) * shape.cols + c;
      s[c] = as_float(x[at]) + (shape.residual ? double{as_float(residual[at])} : 0);
      mean += s[c];
      largest = std::max(largest, std::abs(s[c]));
      // Exact in float, so the kernel rounds once.
      if (shape.write_sum) ASSERT_EQ(as_float(sum[c]), as_float(as<bf16>(s[c]))) << "sum " << c;
    }
    mean /= shape.cols;
    for (const double value : s) variance += (value - mean) * (value - mean);
    const double deviation = std::sqrt(variance / shape.cols + shape.eps);
    for (int c = 0; c < shape.cols; ++c) {
      const double weight_at = shape.affine ? as_float(weight[kGuard + c]) : 1;
      const double bias_at = shape.affine ? as_float(bias[kGuard + c]) : 0;
      const double scaled = (s[c] - mean) / deviation * weight_at;
      const double slack =
          0x1p-18 * (std::abs(weight_at) * largest / deviation + std::abs(bias_at));
      const double want = scaled + bias_at;
      ASSERT_NEAR(as_float(y[c]), want, 0x1p-8 * std::abs(want) + slack) << "column " << c;
    }
  }

  void expect_right(const char* kernel) const {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.cols));
    const Problem p = problem();
    ASSERT_STREQ(margay_layernorm::plan(p).kernel, kernel);
    ASSERT_EQ(margay_layernorm::layernorm_bf16(p), hipSuccess);
    const auto y = y_device.read(), sum = sum_device.read();
    for (size_t i = 0; i < y.size(); ++i) {
      const bool guard = i < kGuard || i >= kGuard + count;
      if (guard) ASSERT_EQ(as_float(y[i]), kMark) << "beside y";
      if (guard || !shape.write_sum) ASSERT_EQ(as_float(sum[i]), kMark) << "beside sum";
    }
    for (int row = 0; row < shape.rows; ++row) {
      SCOPED_TRACE("row " + std::to_string(row));
      const size_t at = kGuard + static_cast<size_t>(row) * shape.cols;
      expect_row(row, &y[at], &sum[at]);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};

void check(const Shape& shape, const char* kernel) { Case(shape).expect_right(kernel); }

TEST(Layernorm, WholeRegisters) {
  check({8, 1024}, "layernorm_bf16_1024");
  check({4, 2048}, "layernorm_bf16_2048");
  check({4, 4096}, "layernorm_bf16_4096");
  check({4, 8192}, "layernorm_bf16_8192");
}
TEST(Layernorm, AnyLength) {
  for (const int cols : {1, 7, 64, 65, 1000}) check({5, cols}, "layernorm_bf16_1024");
  check({3, 1025}, "layernorm_bf16_2048");
  check({3, 3001}, "layernorm_bf16_4096");
  check({3, 8191}, "layernorm_bf16_8192");
}
TEST(Layernorm, EachPartIsOptional) {
  check({5, 768, false, true, true}, "layernorm_bf16_1024");
  check({5, 768, true, false, true}, "layernorm_bf16_1024");
  check({5, 768, true, true, false}, "layernorm_bf16_1024");
  check({5, 768, false, false, false}, "layernorm_bf16_1024");
}
/// A mean far larger than the deviation: a variance from the sum of squares would be lost.
TEST(Layernorm, AMeanFarFromZero) {
  check({3, 1000, true, true, false, 1000}, "layernorm_bf16_1024");
}
TEST(Layernorm, EpsCountsUnderTheRoot) {
  check({3, 500, true, true, true, 0, 10.0f}, "layernorm_bf16_1024");
  // All elements are equal: the deviation is sqrt(eps), and y is the bias.
  check({2, 1, true, true, true, 0, 1.0f}, "layernorm_bf16_1024");
}
TEST(Layernorm, TheResultsMayReplaceTheOperands) {
  for (const int cols : {600, 2500}) {
    const Case one({4, cols});
    Problem p = one.problem();
    p.y = one.x_device.get() + kGuard;
    p.sum = one.residual_device.get() + kGuard;
    ASSERT_EQ(margay_layernorm::layernorm_bf16(p), hipSuccess);
    const auto y = one.x_device.read(), sum = one.residual_device.read();
    for (int row = 0; row < 4; ++row) {
      one.expect_row(row, &y[kGuard + row * cols], &sum[kGuard + row * cols]);
    }
  }
}

/// A wave reads x, residual, weight and bias and writes y and sum once, 64 elements at a time.
void check_cost(int rows, int cols) {
  const Case one({rows, cols});
  const auto profile = tile_test::counts_of(
      [&] { EXPECT_EQ(margay_layernorm::layernorm_bf16(one.problem()), hipSuccess); });
  EXPECT_EQ(profile["SQ_INSTS_VMEM_RD"], 4.0 * rows * cols / 64);
  EXPECT_EQ(profile["SQ_INSTS_VMEM_WR"], 2.0 * rows * cols / 64);
  EXPECT_EQ(profile["scratch_bytes"], 0);
}
TEST(LayernormCost, FollowsFromTheShape) {
  check_cost(8, 1024);
  check_cost(4, 8192);
}

TEST(LayernormPlan, RefusesWithAReason) {
  static bf16 memory[2];
  const auto refusal = [&](auto change) {
    Problem bad;
    bad.x = bad.y = memory;
    bad.rows = bad.cols = 1;
    EXPECT_EQ(margay_layernorm::plan(bad).refusal, "");
    change(bad);
    EXPECT_EQ(margay_layernorm::layernorm_bf16(bad), hipErrorInvalidValue);
    return margay_layernorm::plan(bad).refusal;
  };
  EXPECT_EQ(refusal([](Problem& p) { p.rows = -1; }), "rows and columns must not be negative");
  EXPECT_EQ(refusal([](Problem& p) { p.cols = 8193; }),
            "x: its rows have 8193 elements; the kernel's limit is 8192");
  // (2^32 - 1) / 512 workgroups.
  EXPECT_EQ(refusal([](Problem& p) { p.rows = 8388608; }),
            "x: its 8388608 rows are too many for one launch");
  EXPECT_EQ(refusal([](Problem& p) { p.eps = -1; }), "eps: must not be negative, got -1");
  EXPECT_EQ(refusal([](Problem& p) { p.x = nullptr; }), "x or y is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.sum = p.y; }), "y and sum must not be the same");
  EXPECT_EQ(refusal([](Problem& p) { p.bias = reinterpret_cast<char*>(memory) + 1; }),
            "a tensor is not aligned to its elements");
}
TEST(LayernormPlan, AnEmptyResultLaunchesNothing) {
  Problem empty;
  empty.rows = 5;
  EXPECT_EQ(margay_layernorm::plan(empty).grid_x, 0u);
  EXPECT_EQ(margay_layernorm::layernorm_bf16(empty), hipSuccess);
}

}  // namespace
