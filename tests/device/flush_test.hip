// Compiled with -fgpu-flush-denormals-to-zero: kernels start with f32 denormals flushed (float mode
// 0xc0), and divisions switch them on and off again with s_setreg. Against the host's arithmetic
// with the flushing written out. f64 and f16 keep theirs.
#include <cmath>

#include "judge.h"

namespace {

using judge::expect_as;
using judge::list;

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

class Flush : public testing::Test {
 protected:
  Flush() {
    judge::pairs(a, b, 6000);
    judge::Random random(5);
    // Products and sums around the smallest normal number.
    for (int n = 0; n < 4000; ++n) {
      const auto near = [&](int exponent) {
        return std::ldexp(1.0f + static_cast<float>(random.next() & 0x7fffff) / 8388608.0f,
                          exponent + static_cast<int>(random.next() % 5)) *
               (random.next() & 1 ? 1.0f : -1.0f);
      };
      a.push_back(near(-65));
      b.push_back(near(-65));
      a.push_back(near(-127));
      b.push_back(near(-127));
    }
  }
  std::vector<float> a, b;
};

TEST_F(Flush, arithmetic) {
  expect_as(
      "arithmetic",
      [] JUDGE_BOTH(float a, float b) { return list<float>(a + b, a - b, a * b, a * 0.5f); },
      [](float a, float b) {
        a = flushed(a), b = flushed(b);
        return list<float>(flushed(a + b), flushed(a - b), flushed(a * b), flushed(a * 0.5f));
      },
      a, b);
}
TEST_F(Flush, fused) {
  expect_as(
      "fma",
      [] JUDGE_BOTH(float a, float b) {
        return list<float>(__builtin_fmaf(a, b, a), __builtin_fmaf(a, a, b));
      },
      [](float a, float b) {
        a = flushed(a), b = flushed(b);
        return list<float>(flushed(std::fma(a, b, a)), flushed(std::fma(a, a, b)));
      },
      a, b);
}
TEST_F(Flush, division) {
  expect_as(
      "division", [] JUDGE_BOTH(float a, float b) { return list<float>(a / b, (a / b) * b); },
      [](float a, float b) {
        a = flushed(a), b = flushed(b);
        const float quotient = flushed(a / b);
        return list<float>(quotient, flushed(quotient * b));
      },
      a, b);
}
TEST_F(Flush, comparisons) {
  expect_as(
      "comparisons",
      [] JUDGE_BOTH(float a, float b) {
        return list<std::uint32_t>(a < b, a == b, a >= b, a != 0.0f);
      },
      [](float a, float b) {
        a = flushed(a), b = flushed(b);
        return list<std::uint32_t>(a < b, a == b, a >= b, a != 0.0f);
      },
      a, b);
}
TEST_F(Flush, conversions) {
  expect_as(
      "conversions",
      [] JUDGE_BOTH(float a, float b) {
        return list<double>(static_cast<double>(a), static_cast<float>(static_cast<double>(a) * b),
                            static_cast<double>(static_cast<_Float16>(a)));
      },
      [](float a, float b) {
        a = flushed(a), b = flushed(b);
        return list<double>(static_cast<double>(a),
                            flushed(static_cast<float>(static_cast<double>(a) * b)),
                            static_cast<double>(static_cast<_Float16>(a)));
      },
      a, b);
}
TEST_F(Flush, doubles_keep_theirs) {
  std::vector<double> x, y;
  judge::pairs(x, y, 3000);
  judge::expect_same(
      "f64",
      [] JUDGE_BOTH(double a, double b) { return list<double>(a + b, a * b, a / b, a * 0.5); }, x,
      y);
}

/// Moving and classifying are no arithmetic.
TEST_F(Flush, moves_keep_bits) {
  judge::expect_same(
      "moves",
      [] JUDGE_BOTH(float a, float b) {
        const auto bits = __builtin_bit_cast(std::uint32_t, a);
        return list<std::uint32_t>(bits, bits >> 31 ? __builtin_bit_cast(std::uint32_t, b) : bits,
                                   __builtin_isnan(a));
      },
      a, b);
}

}  // namespace
