// Floating point, bit for bit against the host: f64, f32 and f16 arithmetic, conversions between
// all types, rounding, comparisons. Which NaN an operation gives is not tested.
#include <cmath>

#include "judge.h"

namespace {

using judge::expect_as;
using judge::expect_same;
using judge::list;
using Half = _Float16;

template <typename T>
class Float : public testing::Test {
 protected:
  Float() { judge::pairs(a, b, 6000); }
  std::vector<T> a, b;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Float, Types);

TYPED_TEST(Float, arithmetic) {
  using T = TypeParam;
  expect_same(
      "arithmetic",
      [] JUDGE_BOTH(T a, T b) {
        return list<T>(a + b, a - b, b - a, a * b, a / b, -a, a * T(2), a * T(-0.5), T(1) / b,
                       a + T(1) / T(6.283185307179586), __builtin_fabs(a) - b, -(a * b),
                       a * a - T(4));
      },
      this->a, this->b);
}
TYPED_TEST(Float, square_root) {
  using T = TypeParam;
  expect_same(
      "sqrt",
      [] JUDGE_BOTH(T a) {
        if constexpr (sizeof(T) == 8)
          return sqrt(a);
        else
          return sqrtf(a);
      },
      judge::values<T>(6000));
}
TYPED_TEST(Float, fused) {
  using T = TypeParam;
  std::vector<T> c;
  judge::Random random(9);
  // Every third addend nearly cancels the product, where two roundings and one differ most.
  for (std::size_t i = 0; i < this->a.size(); ++i)
    c.push_back(i % 3 == 0 ? -this->a[i] * this->b[i] : judge::any_value<T>(random));
  expect_same(
      "fma",
      [] JUDGE_BOTH(T a, T b, T c) {
        if constexpr (sizeof(T) == 8)
          return list<T>(__builtin_fma(a, b, c), __builtin_fma(-a, b, c), __builtin_fma(a, b, -c),
                         __builtin_fma(a, T(3), c), __builtin_fma(a, b, T(0.1)));
        else
          return list<T>(__builtin_fmaf(a, b, c), __builtin_fmaf(-a, b, c),
                         __builtin_fmaf(a, b, -c), __builtin_fmaf(a, T(3), c),
                         __builtin_fmaf(a, b, T(0.1)));
      },
      this->a, this->b, c);
}
TYPED_TEST(Float, minimum_and_maximum) {
  using T = TypeParam;
  // IEEE 754 minNum: a number wins over a NaN; of two zeros the negative one is the smaller.
  const auto least = [](T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  expect_as(
      "fmin and fmax",
      [] JUDGE_BOTH(T a, T b) {
        if constexpr (sizeof(T) == 8)
          return list<T>(__builtin_fmin(a, b), __builtin_fmax(a, b),
                         __builtin_fmax(__builtin_fmin(a, T(1)), T(-1)));
        else
          return list<T>(__builtin_fminf(a, b), __builtin_fmaxf(a, b),
                         __builtin_fmaxf(__builtin_fminf(a, T(1)), T(-1)));
      },
      [least](T a, T b) {
        return list<T>(least(a, b), -least(-a, -b), -least(-least(a, T(1)), T(1)));
      },
      this->a, this->b);
}
TYPED_TEST(Float, comparison) {
  using T = TypeParam;
  expect_same(
      "comparison",
      [] JUDGE_BOTH(T a, T b) {
        return (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a >= b) << 4 |
               (a > b) << 5 | !(a < b) << 6 | !(a <= b) << 7 | !(a > b) << 8 | !(a >= b) << 9 |
               __builtin_isunordered(a, b) << 10 | __builtin_islessgreater(a, b) << 11 |
               !__builtin_isunordered(a, b) << 12 | !__builtin_islessgreater(a, b) << 13;
      },
      this->a, this->b);
}
TYPED_TEST(Float, classes) {
  using T = TypeParam;
  const auto in = judge::values<T>(3000);
  expect_same(
      "classes",
      [] JUDGE_BOTH(T a) {
        return __builtin_isnan(a) | __builtin_isinf(a) << 1 | __builtin_isfinite(a) << 2 |
               __builtin_isnormal(a) << 3 | (__builtin_signbit(a) != 0) << 4 |
               __builtin_isfpclass(a, 0x90) << 5 | __builtin_isfpclass(a, 0x60) << 6 |
               __builtin_isfpclass(a, 0x24c) << 7;
      },
      in);
  expect_same(
      "selection of a negated value",
      [] JUDGE_BOTH(T a) { return a > T(3) ? -a : __builtin_fabs(a); }, in);
  expect_same(
      "copysign",
      [] JUDGE_BOTH(T a, T b) {
        if constexpr (sizeof(T) == 8)
          return __builtin_copysign(a, b);
        else
          return __builtin_copysignf(a, b);
      },
      this->a, this->b);
}
TYPED_TEST(Float, rounding) {
  using T = TypeParam;
  expect_same(
      "rounding",
      [] JUDGE_BOTH(T a) {
        if constexpr (sizeof(T) == 8)
          return list<T>(floor(a), ceil(a), trunc(a), rint(a), round(a), nearbyint(a));
        else
          return list<T>(floorf(a), ceilf(a), truncf(a), rintf(a), roundf(a), nearbyintf(a));
      },
      judge::values<T>(4000));
}
TYPED_TEST(Float, scale_and_parts) {
  using T = TypeParam;
  std::vector<int> exponents;
  judge::Random random(5);
  for (std::size_t i = 0; i < this->a.size(); ++i)
    exponents.push_back(static_cast<int>(random.next() % 2400) - 1200);
  expect_same(
      "ldexp",
      [] JUDGE_BOTH(T a, int e) {
        if constexpr (sizeof(T) == 8)
          return list<T>(ldexp(a, e), ldexp(a, e / 16), ldexp(a, -e * 1000000));
        else
          return list<T>(ldexpf(a, e), ldexpf(a, e / 16), ldexpf(a, -e * 1000000));
      },
      this->a, exponents);
  expect_same(
      "frexp",
      [] JUDGE_BOTH(T a) {
        int e = 0;
        if (!__builtin_isfinite(a)) return list<T>(a, 0);
        T m;
        if constexpr (sizeof(T) == 8)
          m = frexp(a, &e);
        else
          m = frexpf(a, &e);
        return list<T>(m, e);
      },
      this->a);
  expect_same(
      "fmod",
      [] JUDGE_BOTH(T a, T b) {
        if constexpr (sizeof(T) == 8)
          return fmod(a, b);
        else
          return fmodf(a, b);
      },
      this->a, this->b);
}

/// What v_cvt does and C++ leaves undefined: truncate, saturate, NaN to 0.
template <typename I, typename F>
I saturate(F x) {
  if (x != x) return 0;
  const double d = x;
  if (d >= static_cast<double>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  if (d <= static_cast<double>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(d);
}
TYPED_TEST(Float, to_integer) {
  using T = TypeParam;
  const auto in = judge::values<T>(4000);
  expect_as(
      "to int", [] JUDGE_BOTH(T a) { return static_cast<std::int32_t>(a); },
      saturate<std::int32_t, T>, in);
  expect_as(
      "to unsigned", [] JUDGE_BOTH(T a) { return static_cast<std::uint32_t>(a); },
      saturate<std::uint32_t, T>, in);
  std::vector<T> in_range;
  for (const T x : in)
    if (std::fabs(x) < T(9e18)) in_range.push_back(x);
  expect_same(
      "to 64 and fewer bits",
      [] JUDGE_BOTH(T a) {
        const T positive = __builtin_fabs(a);
        const T small = a > T(-100) && a < T(100) ? a : T(0);
        return list<std::int64_t>(static_cast<std::int64_t>(a),
                                  static_cast<std::int64_t>(static_cast<std::uint64_t>(positive)),
                                  static_cast<std::int8_t>(small), static_cast<std::int16_t>(small),
                                  static_cast<std::uint8_t>(small < 0 ? T(0) : small));
      },
      in_range);
}
TYPED_TEST(Float, from_integer) {
  using T = TypeParam;
  expect_same(
      "from integers",
      [] JUDGE_BOTH(std::uint64_t a) {
        return list<T>(T(std::int8_t(a)), T(std::uint8_t(a)), T(std::int16_t(a)),
                       T(std::uint16_t(a)), T(std::int32_t(a)), T(std::uint32_t(a)),
                       T(std::int64_t(a)), T(a), T(std::uint8_t(a >> 8)), T(std::uint8_t(a >> 16)),
                       T(std::uint8_t(a >> 24)));
      },
      judge::values<std::uint64_t>(4000));
}
TYPED_TEST(Float, to_float) {
  using T = TypeParam;
  expect_same(
      "to f64", [] JUDGE_BOTH(T a) { return static_cast<double>(a); }, judge::values<T>(4000));
  expect_same(
      "to f32", [] JUDGE_BOTH(T a) { return static_cast<float>(a); }, judge::values<T>(4000));
  expect_same(
      "to f16", [] JUDGE_BOTH(T a) { return static_cast<Half>(a); }, judge::values<T>(4000));
}

TEST(Half, all_values_convert) {
  std::vector<Half> all;
  for (unsigned bits = 0; bits < 0x10000; ++bits) all.push_back(judge::from_bits<Half>(bits));
  expect_same("to f32", [] JUDGE_BOTH(Half a) { return static_cast<float>(a); }, all);
  expect_same("to f64", [] JUDGE_BOTH(Half a) { return static_cast<double>(a); }, all);
  expect_as(
      "rounding",
      [] JUDGE_BOTH(Half a) {
        return list<Half>(Half(__builtin_floorf16(a)), Half(__builtin_ceilf16(a)),
                          Half(__builtin_truncf16(a)), Half(__builtin_rintf16(a)),
                          Half(__builtin_fabsf16(a)), -a);
      },
      [](Half a) {
        return list<Half>(std::floor(float(a)), std::ceil(float(a)), std::trunc(float(a)),
                          std::nearbyint(float(a)), std::fabs(float(a)), -a);
      },
      all);
  expect_as(
      "square root", [] JUDGE_BOTH(Half a) { return Half(__builtin_sqrtf16(a)); },
      [](Half a) { return static_cast<Half>(std::sqrt(float(a))); }, all);
  expect_as(
      "to integers",
      [] JUDGE_BOTH(Half a) {
        return list<std::int64_t>(static_cast<std::int32_t>(a), static_cast<std::uint32_t>(a));
      },
      [](Half a) {
        return list<std::int64_t>(saturate<std::int32_t>(float(a)),
                                  saturate<std::uint32_t>(float(a)));
      },
      all);
  expect_same(
      "classes",
      [] JUDGE_BOTH(Half a) {
        return __builtin_isnan(a) | __builtin_isinf(a) << 1 | __builtin_isnormal(a) << 2 |
               __builtin_isfpclass(a, 0x90) << 3 | __builtin_isfpclass(a, 0x60) << 4;
      },
      all);
}
TEST(Half, arithmetic) {
  std::vector<Half> a, b, c;
  judge::pairs(a, b, 6000);
  judge::Random random(3);
  for (std::size_t i = 0; i < a.size(); ++i) c.push_back(judge::any_value<Half>(random));
  expect_same(
      "arithmetic",
      [] JUDGE_BOTH(Half a, Half b) {
        return list<Half>(Half(a + b), Half(a - b), Half(b - a), Half(a * b), Half(a / b),
                          Half(-a));
      },
      a, b);
  expect_same(
      "comparison",
      [] JUDGE_BOTH(Half a, Half b) {
        return (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | !(a >= b) << 4 |
               !(a > b) << 5;
      },
      a, b);
  const auto least = [](Half a, Half b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(float(a)) ? a : b;
    return a < b ? a : b;
  };
  expect_as(
      "fmin and fmax",
      [] JUDGE_BOTH(Half a, Half b) {
        return list<Half>(Half(__builtin_fminf16(a, b)), Half(__builtin_fmaxf16(a, b)));
      },
      [least](Half a, Half b) { return list<Half>(least(a, b), Half(-least(-a, -b))); }, a, b);
  expect_as(
      "fma",
      [] JUDGE_BOTH(Half a, Half b, Half c) {
        return list<Half>(Half(__builtin_fmaf16(a, b, c)), Half(__builtin_fmaf16(-a, b, -c)));
      },
      [](Half a, Half b, Half c) {
        return list<Half>(double(a) * double(b) + double(c), double(-a) * double(b) - double(c));
      },
      a, b, c);
  expect_same(
      "mixed precision",
      [] JUDGE_BOTH(Half a, Half b, Half c) {
        return list<float>(__builtin_fmaf(float(a), float(b), float(c)),
                           __builtin_fmaf(-float(a), float(b), 1.5f),
                           float(Half(__builtin_fmaf(float(a), float(b), float(c)))));
      },
      a, b, c);
}
TEST(Half, pairs) {
  typedef Half Half2 __attribute__((ext_vector_type(2)));
  std::vector<std::uint32_t> a, b;
  judge::pairs(a, b, 4000);
  expect_as(
      "packed",
      [] JUDGE_BOTH(std::uint32_t a, std::uint32_t b) {
        Half2 x, y;
        __builtin_memcpy(&x, &a, 4);
        __builtin_memcpy(&y, &b, 4);
        const Half2 sum = x + y.yx, product = x * -y, fused = __builtin_elementwise_fma(x, y, x),
                    shifted = x + Half2(1), scaled = x * Half2(0.1);
        return list<Half>(sum.x, sum.y, product.x, product.y, fused.x, fused.y, shifted.x,
                          shifted.y, scaled.x, scaled.y);
      },
      [](std::uint32_t a, std::uint32_t b) {
        const Half x0 = judge::from_bits<Half>(a), x1 = judge::from_bits<Half>(a >> 16),
                   y0 = judge::from_bits<Half>(b), y1 = judge::from_bits<Half>(b >> 16);
        const auto fma = [](Half x, Half y) {
          return static_cast<Half>(double(x) * double(y) + double(x));
        };
        return list<Half>(Half(x0 + y1), Half(x1 + y0), Half(x0 * -y0), Half(x1 * -y1), fma(x0, y0),
                          fma(x1, y1), Half(x0 + Half(1)), Half(x1 + Half(1)), Half(x0 * Half(0.1)),
                          Half(x1 * Half(0.1)));
      },
      a, b);
}
TEST(Float2, pairs) {
  typedef float Float2 __attribute__((ext_vector_type(2)));
  std::vector<float> a, b;
  judge::pairs(a, b, 3000);
  expect_same(
      "packed f32",
      [] JUDGE_BOTH(float a, float b) {
        const Float2 x = {a, b}, y = {b, a};
        const Float2 fused = __builtin_elementwise_fma(x, y, Float2(1.0f)),
                     other = __builtin_elementwise_fma(-x, y, Float2{0.1f, -0.1f}),
                     sum = x + Float2(2.0f), product = x * Float2(-4.0f), turned = x + y.yx;
        return list<float>(fused.x, fused.y, other.x, other.y, sum.x, sum.y, product.x, product.y,
                           turned.x, turned.y);
      },
      a, b);
}
/// A minimum of a signalling NaN is a quiet one, regardless of what the host's conversions do.
TEST(Half, signalling_nan_is_seen_by_class_tests) {
  const std::vector<std::uint16_t> in = {0x7c01, 0x7dff, 0x7e00, 0xfc01, 0xfe01, 0x7c00, 0x3c00};
  expect_as(
      "signalling",
      [] JUDGE_BOTH(std::uint16_t bits) {
        Half h;
        __builtin_memcpy(&h, &bits, 2);
        return int(__builtin_isfpclass(h, 1)) | __builtin_isfpclass(h, 2) << 1;
      },
      [](std::uint16_t bits) {
        const bool nan = (bits & 0x7fff) > 0x7c00, quiet = bits & 0x200;
        return (nan && !quiet) | (nan && quiet) << 1;
      },
      in);
}

}  // namespace
