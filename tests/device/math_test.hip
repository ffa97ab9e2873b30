// The math library on the device against the host's in a wider type. The bounds, in units in the
// last place, are those of the OpenCL C 3.0 specification, section 7.4, which the device library
// (ocml) is written to; they test the instructions it is made of.
#include <cmath>

#include "judge.h"

namespace {

/// Distance of `got` from `exact` in units of the last place of T near `exact`.
template <typename T>
double ulps(double exact, T got) {
  if (exact != exact || got != got) return (exact != exact) == (got != got) ? 0 : 1e30;
  const T rounded = static_cast<T>(exact);
  if (rounded == got) return 0;
  if (std::isinf(rounded) || std::isinf(got)) return 1e30;
  T unit =
      std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity()) - std::fabs(rounded);
  if (!(unit > 0)) unit = std::numeric_limits<T>::denorm_min();
  return std::fabs(static_cast<double>(got) - exact) / unit;
}
template <typename T, typename F, typename G>
void expect_within(const char* what, double bound, F f, G reference, double low, double high) {
  std::vector<T> in;
  judge::Random random(11);
  for (int i = 0; i < 4000; ++i)
    in.push_back(static_cast<T>(low + (high - low) * (random.next() >> 11) * 0x1p-53));
  for (const T x : judge::corners<T>())
    if (x != x || std::isinf(x) || (x >= low && x <= high)) in.push_back(x);
  const auto got = judge::on_device(f, in);
  double worst = 0;
  T at = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double error =
        ulps<T>(static_cast<double>(reference(static_cast<long double>(in[i]))), got[i]);
    if (error > worst) {
      worst = error;
      at = in[i];
    }
  }
  EXPECT_LE(worst, bound) << what << " at " << judge::text(at);
}

#define WITHIN(bound, function, low, high)                                 \
  expect_within<float>(                                                    \
      #function, bound, [] JUDGE_BOTH(float x) { return function##f(x); }, \
      [](long double x) { return std::function(x); }, low, high)
TEST(Math, floats) {
  WITHIN(3, exp, -104, 89);
  WITHIN(3, exp2, -150, 128);
  WITHIN(3, expm1, -20, 88);
  WITHIN(3, log, 0, 1e30);
  WITHIN(3, log2, 0, 1e30);
  WITHIN(3, log10, 0, 1e30);
  WITHIN(2, log1p, -0.999, 1e6);
  WITHIN(4, sin, -1000, 1000);
  WITHIN(4, cos, -1000, 1000);
  WITHIN(5, tan, -100, 100);
  WITHIN(4, sin, -1e20, 1e20);
  WITHIN(4, asin, -1, 1);
  WITHIN(4, acos, -1, 1);
  WITHIN(5, atan, -1e4, 1e4);
  WITHIN(4, sinh, -80, 80);
  WITHIN(4, cosh, -80, 80);
  WITHIN(5, tanh, -10, 10);
  WITHIN(16, erf, -5, 5);
  WITHIN(2, cbrt, -1e10, 1e10);
  WITHIN(16, tgamma, 0.5, 30);
}
#define WITHIN64(bound, function, low, high)                             \
  expect_within<double>(                                                 \
      #function, bound, [] JUDGE_BOTH(double x) { return function(x); }, \
      [](long double x) { return std::function(x); }, low, high)
TEST(Math, doubles) {
  WITHIN64(3, exp, -740, 709);
  WITHIN64(3, log, 0, 1e300);
  WITHIN64(4, sin, -1000, 1000);
  WITHIN64(4, cos, -1e8, 1e8);
  WITHIN64(4, sin, -1e300, 1e300);
  WITHIN64(5, tanh, -10, 10);
  WITHIN64(5, atan, -1e4, 1e4);
  WITHIN64(16, erf, -5, 5);
  WITHIN64(2, cbrt, -1e10, 1e10);
}
TEST(Math, powers) {
  std::vector<float> x, y;
  judge::pairs(x, y, 4000);
  const auto got = judge::on_device([] JUDGE_BOTH(float a, float b) { return powf(a, b); }, x, y);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(ulps<float>(std::pow(double(x[i]), double(y[i])), got[i]), 16.0)
        << judge::text(x[i]) << " to the power of " << judge::text(y[i]) << " gave "
        << judge::text(got[i]);
}
/// The intrinsics that are one hardware instruction: rsqrt, fast exp2 and log2, and the division
/// HIP documents as approximate.
TEST(Math, approximations) {
  WITHIN(0.5, sqrt, 0, 1e30);
  expect_within<float>(
      "rsqrt", 2,
      [] JUDGE_BOTH(float x) {
#ifdef __HIP_DEVICE_COMPILE__
        return rsqrtf(x);
#else
        return x;
#endif
      },
      [](long double x) { return 1.0L / std::sqrt(x); }, 0, 1e30);
  expect_within<float>(
      "hardware exp2", 1,
      [] JUDGE_BOTH(float x) {
#ifdef __HIP_DEVICE_COMPILE__
        return __builtin_amdgcn_exp2f(x);
#else
        return x;
#endif
      },
      [](long double x) { return std::exp2(x); }, -120, 120);
  expect_within<float>(
      "hardware reciprocal", 1,
      [] JUDGE_BOTH(float x) {
#ifdef __HIP_DEVICE_COMPILE__
        return __builtin_amdgcn_rcpf(x);
#else
        return x;
#endif
      },
      // It flushes denormals, regardless of MODE.
      [](long double x) { return 1.0L / (std::fabs(x) < 0x1p-126L ? std::copysign(0.0L, x) : x); },
      -1e30, 1e30);
}

}  // namespace
