// The rotary kernels against the definition in double, from the rounded inputs.
//
// What may differ: the output's rounding to bf16 (2^-8, relative), and three roundings in float
// before that.
#include <cmath>
#include <limits>
#include <random>

#include "profiled.h"
#include "rotary/rotary.h"

namespace {

using kittens::bf16;
using margay_rotary::Layout;
using margay_rotary::Problem;
using tile_test::as;
using tile_test::as_float;
using tile_test::Buffer;

constexpr int kGuard = 256;
constexpr float kMark = -77;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Shape {
  int batch, heads, length, dim;
  Layout layout = Layout::kBatchSequenceHeads;
  int position = 0;
};

struct Case {
  Shape shape;
  size_t count;
  std::vector<bf16> x, cos, sin;
  Buffer<bf16> x_device, cos_device, sin_device, y_device;

  explicit Case(const Shape& s)
      : shape(s),
        count(static_cast<size_t>(s.batch) * s.heads * s.length * s.dim),
        x(random_values(count)),
        cos(table([](double angle) { return std::cos(angle); })),
        sin(table([](double angle) { return std::sin(angle); })),
        x_device(x),
        cos_device(cos),
        sin_device(sin),
        y_device(std::vector<bf16>(x.size(), as<bf16>(kMark))) {}

  static std::vector<bf16> random_values(size_t count) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-2, 2);
    std::vector<bf16> values(count + 2 * kGuard, as<bf16>(kNan));
    for (size_t i = 0; i < count; ++i) values[kGuard + i] = as<bf16>(uniform(random));
    return values;
  }
  /// Rows up to the last position that is needed.
  template <typename F>
  std::vector<bf16> table(F&& function) const {
    const int rows = shape.position + shape.length, half = shape.dim / 2;
    std::vector<bf16> values(static_cast<size_t>(rows) * half + 2 * kGuard, as<bf16>(kNan));
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < half; ++i) {
        const double angle = row * std::pow(10000.0, -static_cast<double>(i) / half);
        values[kGuard + static_cast<size_t>(row) * half + i] =
            as<bf16>(static_cast<float>(function(angle)));
      }
    }
    return values;
  }

  Problem problem() const {
    Problem p;
    p.x = x_device.get() + kGuard;
    p.cos = cos_device.get() + kGuard;
    p.sin = sin_device.get() + kGuard;
    p.y = y_device.get() + kGuard;
    p.batch = shape.batch;
    p.heads = shape.heads;
    p.length = shape.length;
    p.dim = shape.dim;
    p.table_rows = shape.position + shape.length;
    p.position = shape.position;
    p.layout = shape.layout;
    return p;
  }

  void expect_right(const std::vector<bf16>& y) const {
    const int half = shape.dim / 2;
    const size_t rows = count / shape.dim;
    for (size_t row = 0; row < rows; ++row) {
      const size_t place = shape.layout == Layout::kBatchSequenceHeads
                               ? row / shape.heads % shape.length
                               : row % shape.length;
      for (int i = 0; i < half; ++i) {
        const size_t at = kGuard + row * shape.dim + i;
        const size_t angle = kGuard + (shape.position + place) * half + i;
        const double x1 = as_float(x[at]), x2 = as_float(x[at + half]);
        const double c = as_float(cos[angle]), s = as_float(sin[angle]);
        const double slack = 0x1p-22 * (std::abs(x1) + std::abs(x2));
        const double want1 = x1 * c - x2 * s, want2 = x2 * c + x1 * s;
        ASSERT_NEAR(as_float(y[at]), want1, 0x1p-8 * std::abs(want1) + slack)
            << "row " << row << ", " << i;
        ASSERT_NEAR(as_float(y[at + half]), want2, 0x1p-8 * std::abs(want2) + slack)
            << "row " << row << ", " << i + half;
      }
    }
  }
};

void check(const Shape& shape) {
  SCOPED_TRACE(std::to_string(shape.batch) + " x " + std::to_string(shape.heads) + " heads, " +
               std::to_string(shape.length) + " of dim " + std::to_string(shape.dim));
  const Case one(shape);
  ASSERT_EQ(margay_rotary::rotary_bf16(one.problem()), hipSuccess);
  const auto y = one.y_device.read();
  for (int i = 0; i < kGuard; ++i) {
    ASSERT_EQ(as_float(y[i]), kMark) << "before y";
    ASSERT_EQ(as_float(y[y.size() - 1 - i]), kMark) << "behind y";
  }
  one.expect_right(y);
}

TEST(Rotary, WholeBlocks) {
  check({1, 1, 64, 64});
  check({2, 8, 128, 128});
}
TEST(Rotary, AnyLengthAndNumberOfHeads) {
  check({1, 1, 1, 64});
  check({2, 3, 17, 128});
  check({1, 9, 130, 64});
  check({3, 20, 50, 64});
}
TEST(Rotary, AnyLengthWithHeadsBeforeTheSequence) {
  check({2, 3, 70, 64, Layout::kBatchHeadsSequence});
  check({1, 10, 33, 128, Layout::kBatchHeadsSequence});
}
TEST(Rotary, PositionsMayStartLater) {
  check({1, 2, 1, 64, Layout::kBatchSequenceHeads, 37});
  check({2, 2, 70, 128, Layout::kBatchHeadsSequence, 100});
}
TEST(Rotary, InPlace) {
  const Case one({2, 3, 40, 64});
  Problem p = one.problem();
  p.y = const_cast<void*>(p.x);
  ASSERT_EQ(margay_rotary::rotary_bf16(p), hipSuccess);
  one.expect_right(one.x_device.read());
}

/// x once and y once, 8 bytes per lane; of cos and sin a row for every eight heads; no scratch.
TEST(RotaryCost, FollowsFromTheShape) {
  const Case one({1, 16, 128, 128});
  const auto profile = tile_test::counts_of(
      [&] { EXPECT_EQ(margay_rotary::rotary_bf16(one.problem()), hipSuccess); });
  const double accesses = one.count / 4.0 / 64;
  EXPECT_EQ(profile["SQ_INSTS_VMEM_RD"], accesses + 2 * accesses / 2 / 8);
  EXPECT_EQ(profile["SQ_INSTS_VMEM_WR"], accesses);
  EXPECT_EQ(profile["scratch_bytes"], 0);
}

TEST(RotaryPlan, RefusesWithAReason) {
  alignas(16) static float memory[64];
  const auto refusal = [&](auto change) {
    Problem bad;
    bad.x = bad.cos = bad.sin = bad.y = memory;
    bad.batch = bad.heads = bad.length = bad.table_rows = 1;
    bad.dim = 64;
    EXPECT_EQ(margay_rotary::plan(bad).refusal, "");
    change(bad);
    EXPECT_EQ(margay_rotary::rotary_bf16(bad), hipErrorInvalidValue);
    return margay_rotary::plan(bad).refusal;
  };
  EXPECT_EQ(refusal([](Problem& p) { p.length = -1; }),
            "batch, heads and length must not be negative");
  EXPECT_EQ(refusal([](Problem& p) { p.position = -1; }), "position: must not be negative, got -1");
  EXPECT_EQ(refusal([](Problem& p) { p.dim = 32; }),
            "x: its last dimension is 32; the kernels have dim 64 and 128");
  EXPECT_EQ(refusal([](Problem& p) { p.length = p.table_rows = 1 << 30; }),
            "x: its length must not exceed 1073741823");
  EXPECT_EQ(refusal([](Problem& p) { p.batch = 65536; }), "x: its batch must not exceed 65535");
  EXPECT_EQ(refusal([](Problem& p) { p.heads = 600000; }), "x: its heads must not exceed 524280");
  EXPECT_EQ(refusal([](Problem& p) { p.heads = 262145; }),
            "x: heads times dim must not exceed 16777216");
  EXPECT_EQ(refusal([](Problem& p) { p.position = 1; }),
            "tables: only 1 positions; x needs those from 1 to 1");
  EXPECT_EQ(refusal([](Problem& p) { p.x = nullptr; }), "x or y is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.sin = nullptr; }), "cos or sin is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.cos = memory + 1; }),
            "x, y, cos and sin must be aligned to 16 bytes");
}
TEST(RotaryPlan, AnEmptyResultLaunchesNothing) {
  Problem empty;
  empty.dim = 64;
  empty.batch = 1;
  empty.length = 5;
  EXPECT_EQ(margay_rotary::plan(empty).grid_x, 0u);
  EXPECT_EQ(margay_rotary::rotary_bf16(empty), hipSuccess);
}

}  // namespace
