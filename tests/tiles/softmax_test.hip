// The softmax kernels against the definition in double, from the rounded inputs.
//
// What may differ: the output is rounded to its type (2^-8 or 2^-24, relative). In float before
// that: the difference x - max, up to 2^-24 of its size, which is relative in its exponential and,
// with the rounding of log2(e), counted four times; a sum, within 2^-20.
#include <cmath>
#include <limits>
#include <random>

#include "profiled.h"
#include "softmax/softmax.h"

namespace {

using kittens::bf16;
using margay_softmax::Problem;
using margay_softmax::Type;
using tile_test::as;
using tile_test::as_float;
using tile_test::Buffer;

constexpr int kGuard = 256;
constexpr float kMark = -77;

template <typename T>
constexpr double kRounding = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-8;

template <typename T>
Problem problem_of(const Buffer<T>& x, const Buffer<T>& y, int rows, int cols) {
  Problem p;
  p.x = x.get() + kGuard;
  p.y = y.get() + kGuard;
  p.rows = rows;
  p.cols = cols;
  p.type = std::is_same_v<T, float> ? Type::kFloat : Type::kBf16;
  return p;
}

template <typename T>
void expect_row(const T* x, const T* y, int cols) {
  double largest = -INFINITY, sum = 0;
  for (int c = 0; c < cols; ++c) largest = std::max(largest, double{as_float(x[c])});
  for (int c = 0; c < cols; ++c) sum += std::exp(as_float(x[c]) - largest);
  for (int c = 0; c < cols; ++c) {
    const double distance = largest - as_float(x[c]);
    const double want = std::exp(-distance) / sum;
    if (distance == INFINITY) {
      ASSERT_EQ(as_float(y[c]), 0) << "column " << c;
      continue;
    }
    // Below 2^-126 the exponential is flushed to zero.
    const double slack = kRounding<T> + 0x1p-20 + 0x1p-22 * distance;
    ASSERT_NEAR(as_float(y[c]), want, slack * want + 0x1p-125) << "column " << c;
  }
}

/// Runs rows of `x`, which has guards on both sides, and compares them all.
template <typename T>
void check_values(const std::vector<T>& x, int rows, int cols, const char* kernel) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
  const Buffer<T> x_device(x), y_device(std::vector<T>(x.size(), as<T>(kMark)));
  const Problem p = problem_of(x_device, y_device, rows, cols);
  ASSERT_STREQ(margay_softmax::plan(p).kernel, kernel);
  ASSERT_EQ(margay_softmax::softmax(p), hipSuccess);
  const auto y = y_device.read();
  for (int i = 0; i < kGuard; ++i) {
    ASSERT_EQ(as_float(y[i]), kMark) << "before y";
    ASSERT_EQ(as_float(y[y.size() - 1 - i]), kMark) << "behind y";
  }
  for (int row = 0; row < rows; ++row) {
    SCOPED_TRACE("row " + std::to_string(row));
    const size_t at = kGuard + static_cast<size_t>(row) * cols;
    expect_row(&x[at], &y[at], cols);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Guards of NaN: what is read too much shows in the sum.
template <typename T, typename F>
std::vector<T> filled(int rows, int cols, F&& value) {
  const size_t count = static_cast<size_t>(rows) * cols;
  std::vector<T> result(count + 2 * kGuard, as<T>(std::numeric_limits<float>::quiet_NaN()));
  for (size_t i = 0; i < count; ++i) {
    result[kGuard + i] = as<T>(value(static_cast<int>(i / cols), static_cast<int>(i % cols)));
  }
  return result;
}
template <typename T>
void check(int rows, int cols, const char* kernel, float range = 8) {
  std::mt19937 random(cols);
  std::uniform_real_distribution<float> uniform(-range, range);
  check_values(filled<T>(rows, cols, [&](int, int) { return uniform(random); }), rows, cols,
               kernel);
}

TEST(Softmax, WholeRegisters) {
  check<bf16>(4, 1024, "softmax_bf16_1024");
  check<float>(4, 1024, "softmax_f32_1024");
  check<bf16>(8, 4096, "softmax_bf16_4096");
  check<float>(8, 4096, "softmax_f32_4096");
}
TEST(Softmax, AnyLength) {
  for (const int cols : {1, 7, 63, 64, 65, 1000}) {
    check<bf16>(5, cols, "softmax_bf16_1024");
    check<float>(5, cols, "softmax_f32_1024");
  }
  for (const int cols : {1025, 2047, 4095}) {
    check<bf16>(3, cols, "softmax_bf16_4096");
    check<float>(3, cols, "softmax_f32_4096");
  }
}
TEST(Softmax, AnyLongRow) {
  for (const int cols : {4097, 8192, 20001}) {
    check<bf16>(2, cols, "softmax_bf16_long");
    check<float>(2, cols, "softmax_f32_long");
  }
}
/// No overflow, and what is far below the maximum is zero.
TEST(Softmax, LargeValues) {
  check<float>(2, 300, "softmax_f32_1024", 1e30f);
  check<bf16>(2, 5000, "softmax_bf16_long", 1e4f);
}

template <typename T>
void check_infinities(int cols, const char* kernel) {
  // Row 0: a few finite values at the end. Row 1: none.
  const auto x = filled<T>(
      2, cols, [&](int row, int c) { return row == 0 && c >= cols - 3 ? c % 5 : -INFINITY; });
  const Buffer<T> x_device(x), y_device(x.size());
  const Problem p = problem_of(x_device, y_device, 2, cols);
  ASSERT_STREQ(margay_softmax::plan(p).kernel, kernel);
  ASSERT_EQ(margay_softmax::softmax(p), hipSuccess);
  const auto y = y_device.read();
  expect_row(&x[kGuard], &y[kGuard], cols);
  for (int c = 0; c < cols; ++c) ASSERT_TRUE(std::isnan(as_float(y[kGuard + cols + c])));
}
TEST(Softmax, MinusInfinityHasNoWeight) {
  check_infinities<float>(300, "softmax_f32_1024");
  check_infinities<float>(3000, "softmax_f32_4096");
  check_infinities<bf16>(9000, "softmax_bf16_long");
}

TEST(Softmax, InPlace) {
  for (const int cols : {300, 3000, 5000}) {
    const auto x = filled<float>(2, cols, [](int row, int c) { return (row * 7 + c * 5) % 13; });
    const Buffer<float> x_device(x);
    ASSERT_EQ(margay_softmax::softmax(problem_of(x_device, x_device, 2, cols)), hipSuccess);
    const auto y = x_device.read();
    for (int row = 0; row < 2; ++row) {
      expect_row(&x[kGuard + row * cols], &y[kGuard + row * cols], cols);
    }
  }
}

/// A wave reads and writes 64 elements at a time, of a long row reads them twice; no scratch.
void check_cost(int rows, int cols, double reads) {
  const Buffer<float> x(static_cast<size_t>(rows) * cols + 2 * kGuard), y(x.read().size());
  const auto profile = tile_test::counts_of(
      [&] { EXPECT_EQ(margay_softmax::softmax(problem_of(x, y, rows, cols)), hipSuccess); });
  EXPECT_EQ(profile["SQ_INSTS_VMEM_RD"], reads * rows * cols / 64);
  EXPECT_EQ(profile["SQ_INSTS_VMEM_WR"], rows * cols / 64);
  EXPECT_EQ(profile["coalescing"], 1.0);
  EXPECT_EQ(profile["scratch_bytes"], 0);
  EXPECT_EQ(profile["lds_bank_conflicts"], 0);
}
TEST(SoftmaxCost, FollowsFromTheShape) {
  check_cost(8, 1024, 1);
  check_cost(8, 4096, 1);
  check_cost(3, 16384, 2);
}

TEST(SoftmaxPlan, RefusesWithAReason) {
  static float memory[2];
  const auto refusal = [&](auto change) {
    Problem bad;
    bad.x = bad.y = memory;
    bad.rows = bad.cols = 1;
    EXPECT_EQ(margay_softmax::plan(bad).refusal, "");
    change(bad);
    EXPECT_EQ(margay_softmax::softmax(bad), hipErrorInvalidValue);
    return margay_softmax::plan(bad).refusal;
  };
  EXPECT_EQ(refusal([](Problem& p) { p.rows = -1; }), "rows and columns must not be negative");
  EXPECT_EQ(refusal([](Problem& p) { p.cols = 1 << 30; }),
            "x: its rows have 1073741824 elements; the kernel's limit is 1073709055");
  // (2^32 - 1) / 256 workgroups of four rows.
  EXPECT_EQ(refusal([](Problem& p) { p.rows = 67108861; }),
            "x: its 67108861 rows are too many for one launch");
  EXPECT_EQ(refusal([](Problem& p) { p.y = nullptr; }), "x or y is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.x = reinterpret_cast<char*>(memory) + 2; }),
            "x and y must be aligned to their elements");
}
TEST(SoftmaxPlan, AnEmptyResultLaunchesNothing) {
  Problem empty;
  empty.rows = 5;
  EXPECT_EQ(margay_softmax::plan(empty).grid_x, 0u);
  EXPECT_EQ(margay_softmax::softmax(empty), hipSuccess);
}

}  // namespace
