#include "apps/fuzz/programs/judge.h"

#include <bit>
#include <cmath>
#include <limits>

namespace margay::fuzz {

namespace {

double widen_half(std::uint64_t bits) {
  const auto fraction = static_cast<double>(bits & 0x3ff);
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

double widen(Type type, std::uint64_t bits) {
  if (type == Type::f16) return widen_half(bits);
  if (type == Type::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

double reference(std::string_view name, double x) {
  const double turns = x - std::floor(x);  // sin and cos take revolutions
  if (name == "rcp") return 1 / x;
  if (name == "rsq") return 1 / std::sqrt(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "exp2") return std::exp2(x);
  if (name == "log2") return std::log2(x);
  if (!std::isfinite(x)) return std::nan("");
  return name == "sin" ? std::sin(2 * M_PI * turns) : std::cos(2 * M_PI * turns);
}

/// The least normal number, the largest number and the distance of numbers in [1, 2).
struct Range {
  double least, most, step;
};
Range range_of(Type type) {
  if (type == Type::f16) return {0x1p-14, 65504, 0x1p-10};
  if (type == Type::f32) return {0x1p-126, 0x1.fffffep127, 0x1p-23};
  return {0x1p-1022, 0x1.fffffffffffffp1023, 0x1p-52};
}

}  // namespace

bool approximation_holds(unsigned function, std::uint64_t device, std::uint64_t argument) {
  const auto [name, type] = kApproximations[function];
  const Range range = range_of(type);
  const auto x = std::bit_cast<double>(argument);
  // Some of these instructions treat denormals as zeros; LLVM does not always do so when it folds
  // constants.
  if (x != 0 && std::abs(x) < range.least) return true;
  const double got = widen(type, device);
  const double want = reference(name, x);
  if (std::isnan(want)) return std::isnan(got);
  if (want != 0 && std::abs(want) < 2 * range.least) return std::abs(got) <= 2 * range.least;
  if (std::abs(want) > range.most / 2)
    return std::abs(got) >= range.most / 2 && (got > 0) == (want > 0);
  // MI300 ISA guide, 12.8: 1 ulp for f32, 0.51 ulp for f16, about 2^-23 relative for the f64 seeds;
  // sin and cos are bounded absolutely.
  const double error = std::abs(got - want);
  if (name == "sin" || name == "cos") return error <= 0x1p-18;
  if (name == "log2" && std::abs(want) < 1) return error <= 0x1p-22;
  const double step = std::ldexp(range.step, std::ilogb(want == 0 ? 1.0 : want));
  if (type == Type::f64) return error <= std::abs(want) * 0x1p-20;
  return want == 0 ? got == 0 : error <= 1.5 * step;
}

}  // namespace margay::fuzz
