// See reference.h.
#include "reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace exhaustive {
namespace {

using Real = long double;  // 64 bits of significand on x86, 113 elsewhere
static_assert(std::numeric_limits<Real>::digits >= 64);
#if defined(__SIZEOF_FLOAT128__)
using Wide = __float128;
#else
using Wide = long double;
#endif

constexpr Real kTwoPi = 6.283185307179586476925286766559005768L;
/// How far the long double functions may be off, in units of their last place.
constexpr Real kDoubt = 8;

/// The fraction of a turn that is left of `x` beyond the nearest quarter; exact.
struct Turn {
  int quadrant;
  Real rest;
};
Turn reduced(Real x) {
  x -= std::trunc(x);
  const Real quarters = std::rint(x * 4);
  return {static_cast<int>(quarters) & 3, x - quarters / 4};
}
Real quarter_sine(int quadrant, Real rest) {
  const Real value = quadrant % 2 == 0 ? std::sin(kTwoPi * rest) : std::cos(kTwoPi * rest);
  return (quadrant & 2 ? -value : value) + 0.0L;  // zeros are positive
}

Real value_of(Function function, Real x) {
  switch (function) {
    case Function::rcp:
      return 1 / x;
    case Function::rsq:
      return 1 / std::sqrt(x);
    case Function::sqrt:
      return std::sqrt(x);
    case Function::exp:
      return std::exp2(x);
    case Function::log:
      return std::log2(x);
    case Function::sin: {
      if (x == 0) return x;
      const Turn turn = reduced(x);
      return quarter_sine(turn.quadrant, turn.rest);
    }
    case Function::cos: {
      const Turn turn = reduced(x);
      return quarter_sine((turn.quadrant + 1) & 3, turn.rest);
    }
  }
  __builtin_unreachable();
}
bool is_invalid(Function function, Real x) {
  switch (function) {
    case Function::rsq:
    case Function::sqrt:
    case Function::log:
      return x < 0;
    case Function::sin:
    case Function::cos:
      return std::isinf(x);
    default:
      return false;
  }
}
/// The one function that takes numbers to middles between two numbers: 2^-25 is one of f16.
bool is_exact(Function function, Real x) { return function == Function::exp && x == std::rint(x); }

/// A binary format of IEEE 754.
template <int exponent_bits, int mantissa_bits>
struct Format {
  static constexpr int kBits = 1 + exponent_bits + mantissa_bits, kMantissa = mantissa_bits;
  static constexpr std::uint64_t kSign = std::uint64_t{1} << (kBits - 1);
  static constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << exponent_bits) - 1)
                                             << mantissa_bits;
  static constexpr std::uint64_t kQuiet = std::uint64_t{1} << (mantissa_bits - 1);
  static constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int kSmallest = 1 - kBias;  ///< Exponent of the smallest normal number.

  static bool is_nan(std::uint64_t bits) { return (bits & ~kSign) > kInfinity; }
  static bool is_denormal(std::uint64_t bits) { return (bits & kInfinity) == 0; }
  static Real decode(std::uint64_t bits) {
    if constexpr (kBits == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto field = static_cast<int>((bits & kInfinity) >> mantissa_bits);
    const std::uint64_t mantissa = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
    Real magnitude;
    if ((bits & kInfinity) == kInfinity)
      magnitude = std::numeric_limits<Real>::infinity();
    else if (field == 0)
      magnitude = std::ldexp(static_cast<Real>(mantissa), kSmallest - mantissa_bits);
    else
      magnitude = std::ldexp(static_cast<Real>(mantissa | std::uint64_t{1} << mantissa_bits),
                             field - kBias - mantissa_bits);
    return bits & kSign ? -magnitude : magnitude;
  }
  /// The exponent of the unit in the last place of a value.
  static int unit(Real value) {
    int exponent = kSmallest;
    if (value != 0) std::frexp(value, &exponent);
    return std::max(exponent - 1, kSmallest) - mantissa_bits;
  }
  /// Rounds to nearest, ties to even. `doubt` says whether the value is within kDoubt of a middle.
  static std::uint64_t encode(Real value, bool& doubt) {
    const std::uint64_t sign = std::signbit(value) ? kSign : 0;
    if (value == 0) return sign;
    if (std::isinf(value)) return sign | kInfinity;
    const Real magnitude = std::fabs(value);
    const int last = unit(magnitude);
    const Real scaled = std::ldexp(magnitude, -last);
    const Real whole = std::floor(scaled);
    doubt =
        std::fabs(scaled - whole - 0.5L) <= kDoubt * scaled * std::numeric_limits<Real>::epsilon();
    const auto number = static_cast<std::uint64_t>(std::rint(scaled));
    if (number == 0) return sign;
    // A carry out of the mantissa goes into the exponent.
    const std::uint64_t field = static_cast<std::uint64_t>(last + mantissa_bits - kSmallest);
    const std::uint64_t bits = (field << mantissa_bits) + number;
    return sign | std::min(bits, kInfinity);
  }
};
using Half = Format<5, 10>;
using Single = Format<8, 23>;
using Double = Format<11, 52>;

template <typename F>
double error_in_units(std::uint64_t got, std::uint64_t correct, Real exact) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  if (F::is_nan(got) || F::is_nan(correct)) return got == correct ? 0 : kAny;
  const Real number = F::decode(got);
  if (std::isinf(exact) || std::isinf(number)) return got == correct ? 0 : kAny;
  const auto error = static_cast<double>(std::ldexp(std::fabs(number - exact), -F::unit(exact)));
  // Of a correctly rounded number anything above is the reference's own error.
  return got == correct ? std::min(error, 0.5) : error;
}

/// f32 results between the smallest normal and the largest number, which are nearly all, fast.
/// The error is that of the correctly rounded result.
bool encode_quickly(Real value, Verdict& verdict) {
#if defined(__x86_64__)
  const Real magnitude = std::fabs(value);
  if (!(magnitude >= 0x1p-126L && magnitude < 0x1p127L)) return false;
  std::uint64_t significand;
  std::memcpy(&significand, &value, sizeof significand);
  constexpr std::uint64_t kBelow = (std::uint64_t{1} << 40) - 1, kMiddle = std::uint64_t{1} << 39;
  const auto bound = static_cast<std::uint64_t>(kDoubt);
  const std::uint64_t rest = significand & kBelow;
  verdict.undecided = (rest - (kMiddle - bound)) <= 2 * bound;
  verdict.correct = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  verdict.error = static_cast<double>(std::min(rest, kBelow + 1 - rest)) * 0x1p-40;
  return true;
#else
  (void)value, (void)verdict;
  return false;
#endif
}

template <typename F>
Verdict judge(Function function, Denormals denormals, std::uint64_t input, std::uint64_t got) {
  Verdict verdict;
  if (F::is_nan(input)) {
    verdict.correct = input | F::kQuiet;
    if (got != verdict.correct) verdict.error = std::numeric_limits<double>::infinity();
    return verdict;
  }
  const bool flushes = denormals == Denormals::flushed;
  if (flushes && F::is_denormal(input)) input &= F::kSign;
  const Real x = F::decode(input);
  Real exact = 0;
  bool quick = false;
  if (is_invalid(function, x)) {
    verdict.correct = F::kSign | F::kInfinity | F::kQuiet;
  } else {
    exact = value_of(function, x);
    quick = F::kMantissa == Single::kMantissa && encode_quickly(exact, verdict);
    if (!quick) verdict.correct = F::encode(exact, verdict.undecided);
    if (verdict.undecided && is_exact(function, x)) verdict.undecided = false;
    if (flushes && F::is_denormal(verdict.correct)) {
      verdict.correct &= F::kSign;
      exact = std::copysign(0.0L, exact);
      verdict.undecided = false;
    }
  }
  if (!quick || got != verdict.correct)
    verdict.error = error_in_units<F>(got, verdict.correct, exact);
  return verdict;
}

/// Whether the true value is above `middle` (1), below (-1), or undecided (0), for a positive x.
/// f64 has too many bits for long double to decide every case.
int beyond_middle(Function function, Real x, Real middle) {
  const Wide m = middle, wide = x;
  Wide apart = 1 - m * wide;  // rcp: exact but for the subtraction
  if (function == Function::sqrt) apart = 1 - m * m / wide;
  if (function == Function::rsq) apart = 1 - m * m * wide;
  constexpr Real kSure = 0x1p-110L;
  const auto distance = static_cast<Real>(apart);
  return std::fabs(distance) <= kSure ? 0 : distance > 0 ? 1 : -1;
}

}  // namespace

Verdict judge_f16(Function function, std::uint16_t input, std::uint16_t got) {
  return judge<Half>(function, Denormals::kept, input, got);
}
Verdict judge_f32(Function function, Denormals denormals, std::uint32_t input, std::uint32_t got) {
  return judge<Single>(function, denormals, input, got);
}
Verdict judge_f64(Function function, std::uint64_t input, std::uint64_t got) {
  Verdict verdict = judge<Double>(function, Denormals::kept, input, got);
  if (!verdict.undecided) return verdict;
  // In magnitudes, of which the signs of input and result are the same.
  const Real x = std::fabs(Double::decode(input));
  const Real exact = value_of(function, x);
  const Real unit = std::ldexp(1.0L, Double::unit(exact));
  const Real below = std::floor(exact / unit) * unit;
  const int side = beyond_middle(function, x, below + unit / 2);
  if (side == 0) return verdict;
  verdict.undecided = false;
  const std::uint64_t sign = verdict.correct & Double::kSign;
  bool doubt = false;
  verdict.correct = sign | Double::encode(side > 0 ? below + unit : below, doubt);
  verdict.error =
      error_in_units<Double>(got & ~Double::kSign, verdict.correct & ~Double::kSign, exact);
  return verdict;
}

}  // namespace exhaustive
