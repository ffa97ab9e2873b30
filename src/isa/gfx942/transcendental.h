// Division helpers and the instructions the hardware approximates.
//
// The hardware's approximations (rcp, rsq, sqrt, exp, log, sin, cos) are within 1 ulp or so and
// their exact bits are not published; here they are the correctly rounded results, which
// tests/exhaustive tests over all inputs. The f32 ones, except sin and cos, flush denormal operands
// and results to zeros of the same sign, regardless of MODE. The division helpers are exact
// algorithms: a compiled division gives IEEE bits. Sources: MI300 ISA guide, sections 12.8 and
// 12.10; for error, denormals and the range of sin and cos the CDNA4 ISA guide, section 12.8, with
// which LLVM's code for gfx942 agrees: it scales denormals away around v_rcp_f32, v_sqrt_f32,
// v_exp_f32 and v_log_f32 and leaves the operand of v_sin_f32 unreduced.
#pragma once

#include <cmath>
#include <iterator>
#include <limits>

#include "isa/gfx942/float.h"

namespace margay::MARGAY_HOST_LEVEL {

[[nodiscard]] inline F32 flush_denormals(F32 a) {
  const U32 bits = as<U32>(a);
  return as<F32>(select((bits & 0x7f800000u) == 0, bits & 0x80000000u, bits));
}

struct v_rcp_f32 : Op<f32(f32), Operation::transcendental> {
  static auto eval(auto a) { return flush_denormals(1.0f / flush_denormals(a)); }
};
struct v_rcp_iflag_f32 : v_rcp_f32 {};
struct v_rcp_f64 : Op<f64(f64), Operation::transcendental> {
  static auto eval(auto a) { return 1.0 / a; }
};
struct v_sqrt_f32 : Op<f32(f32), Operation::transcendental> {
  static auto eval(auto a) { return sqrt(flush_denormals(a)); }
};
struct v_sqrt_f64 : Op<f64(f64), Operation::transcendental> {
  static auto eval(auto a) {
    return per_lane<double>([](double x) { return __builtin_sqrt(x); }, a);
  }
};
[[nodiscard]] inline F32 reciprocal_square_root(F32 a) {
  return per_lane<float>(
      [](float x) { return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))); }, a);
}
struct v_rsq_f32 : Op<f32(f32), Operation::transcendental> {
  static auto eval(auto a) { return reciprocal_square_root(flush_denormals(a)); }
};
struct v_rsq_f64 : Op<f64(f64), Operation::transcendental> {
  static double one(double x) {
    if (!(x > 0) || x > std::numeric_limits<double>::max()) return 1.0 / __builtin_sqrt(x);
    // Squares of the result stay in range.
    const bool small = x < 0x1p-500, large = x > 0x1p500;
    x *= small ? 0x1p600 : large ? 0x1p-600 : 1;
    const double near = 1.0 / __builtin_sqrt(x);  // rounded twice
    const double square = near * near, rest = __builtin_fma(near, near, -square);
    const double apart = __builtin_fma(-x, rest, __builtin_fma(-x, square, 1.0));
    // Two terms of the series: the second decides where the first leads to a midpoint.
    return (near + near * apart * (0.5 + 0.375 * apart)) * (small ? 0x1p300 : large ? 0x1p-300 : 1);
  }
  static auto eval(auto a) { return per_lane<double>(one, a); }
};

/// Whether a value that is known to within 16 units of its last place may be on either side of the
/// midpoint between two f32: then a wider type is needed to round it. Not for denormal f32.
[[nodiscard]] inline bool is_near_middle(double x) {
  constexpr std::uint64_t kBelow = (1u << 29) - 1, kMiddle = 1u << 28, kDoubt = 16;
  return ((__builtin_bit_cast(std::uint64_t, x) & kBelow) - (kMiddle - kDoubt)) <= 2 * kDoubt;
}
[[nodiscard]] inline float power_of_two(float x) {
  const double y = __builtin_exp2(static_cast<double>(x));
  if (is_near_middle(y)) return static_cast<float>(__builtin_exp2l(x));
  return static_cast<float>(y);
}
[[nodiscard]] inline float binary_logarithm(float x) {
  const double y = __builtin_log2(static_cast<double>(x));
  if (is_near_middle(y)) return static_cast<float>(__builtin_log2l(x));
  return static_cast<float>(y);
}
struct v_exp_f32 : Op<f32(f32), Operation::transcendental> {  // 2^a
  static auto eval(auto a) {
    return flush_denormals(per_lane<float>(power_of_two, flush_denormals(a)));
  }
};
struct v_log_f32 : Op<f32(f32), Operation::transcendental> {  // log2(a)
  static auto eval(auto a) { return per_lane<float>(binary_logarithm, flush_denormals(a)); }
};
struct v_exp_legacy_f32 : v_exp_f32 {};
struct v_log_legacy_f32 : v_log_f32 {};

/// sin and cos take revolutions, of any size. Zeros that are not an operand's are positive.
/// `Real` is double, or long double where double is not precise enough.
template <typename Real>
[[nodiscard]] inline Real sine_of_quarters(double x, int more_quarters) {
  constexpr auto kTwoPi = static_cast<Real>(6.283185307179586476925286766559005768L);
  x -= __builtin_trunc(x);
  const double quarters = __builtin_rint(x * 4);
  const Real angle = kTwoPi * static_cast<Real>(x - quarters / 4);  // the difference is exact
  const int quadrant = static_cast<int>(quarters) + more_quarters;
  const Real value = quadrant % 2 == 0 ? std::sin(angle) : std::cos(angle);
  return (quadrant & 2 ? -value : value) + Real{0};
}
/// sin of a whole turn's fractions, cos with one more quarter.
[[nodiscard]] inline double sine_of_revolutions(double x, int more_quarters) {
  if (!(__builtin_fabs(x) <= std::numeric_limits<double>::max()))
    return x == x ? -std::numeric_limits<double>::quiet_NaN() : x;
  if (x == 0) return more_quarters == 0 ? x : 1;
  return sine_of_quarters<double>(x, more_quarters);
}
template <int more_quarters>
[[nodiscard]] inline float sine_rounded(float x) {
  const double y = sine_of_revolutions(x, more_quarters);
  if (is_near_middle(y)) return static_cast<float>(sine_of_quarters<long double>(x, more_quarters));
  return static_cast<float>(y);
}
struct v_sin_f32 : Op<f32(f32), Operation::transcendental> {
  static auto eval(auto a) { return per_lane<float>(sine_rounded<0>, a); }
};
struct v_cos_f32 : Op<f32(f32), Operation::transcendental> {
  static auto eval(auto a) { return per_lane<float>(sine_rounded<1>, a); }
};

/// 53 bits of the fraction 2/pi, placed by their weight: what the reduction of large angles
/// multiplies with. Bit 0 of the table is the most significant; 1201 bits exist.
/// Source: MI300 ISA guide, section 12.10, V_TRIG_PREOP_F64.
struct v_trig_preop_f64 : Op<f64(f64, u32), Operation::other, BitRule::whole> {
  static constexpr std::uint32_t kTwoOverPi[] = {
      0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
      0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
      0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
      0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
      0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
      0x1f8d5d08, 0x56033046, 0xfc7b6bab,
  };
  static double one(double angle, std::uint32_t segment) {
    const auto exponent = static_cast<int>(__builtin_bit_cast(std::uint64_t, angle) >> 52 & 0x7ff);
    const int shift = static_cast<int>(segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    const auto word = static_cast<std::size_t>(shift / 32);
    if (word + 2 >= std::size(kTwoOverPi)) return 0;
    const int within = shift % 32;
    std::uint64_t top = std::uint64_t{kTwoOverPi[word]} << 32 | kTwoOverPi[word + 1];
    if (within != 0) top = top << within | kTwoOverPi[word + 2] >> (32 - within);
    // Products with the largest angles would leave the range of f64: those are scaled up.
    const int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
    return __builtin_ldexp(static_cast<double>(top >> 11), scale);
  }
  static auto eval(auto angle, auto segment) { return per_lane<double>(one, angle, segment); }
};

// ---- Division -------------------------------------------------------------------------------
// a / b is compiled to: scale both, reciprocal, Newton steps with fma, v_div_fmas (undo the scale),
// v_div_fixup (special cases).

/// The constants of the two formats: the factor of div_scale and its thresholds.
template <typename T>
struct DivisionFormat;
template <>
struct DivisionFormat<float> {
  static constexpr int mantissa_bits = 23, exponent_mask = 0xff, bias = 127;
  static constexpr int scale = 64, far_apart = 96, tiny_numerator = 23;
};
template <>
struct DivisionFormat<double> {
  static constexpr int mantissa_bits = 52, exponent_mask = 0x7ff, bias = 1023;
  static constexpr int scale = 128, far_apart = 768, tiny_numerator = 53;
};
template <typename T>
[[nodiscard]] inline int exponent_of(T x) {
  using F = DivisionFormat<T>;
  return static_cast<int>(__builtin_bit_cast(BitsOf<T>, x) >> F::mantissa_bits) & F::exponent_mask;
}
template <typename T>
[[nodiscard]] inline bool is_denormal(T x) {
  return exponent_of(x) == 0 && x != 0;
}
template <typename T>
[[nodiscard]] inline T scale_by(T x, int exponent) {
  if constexpr (sizeof(T) == 8)
    return __builtin_ldexp(x, exponent);
  else
    return __builtin_ldexpf(x, exponent);
}

template <typename T>
struct ScaledPart {
  T value;
  bool flag;
};

/// `part` is the one to scale: equal to the denominator or to the numerator.
template <typename T>
[[nodiscard]] inline ScaledPart<T> divide_scale(T part, T denominator, T numerator) {
  using F = DivisionFormat<T>;
  const auto same = [](T x, T y) {
    return __builtin_bit_cast(BitsOf<T>, x) == __builtin_bit_cast(BitsOf<T>, y);
  };
  if (numerator == 0 || denominator == 0) return {std::numeric_limits<T>::quiet_NaN(), false};
  if (exponent_of(numerator) - exponent_of(denominator) >= F::far_apart)
    return {same(part, denominator) ? scale_by(part, F::scale) : part, true};
  if (is_denormal(denominator)) return {scale_by(part, F::scale), false};
  const bool reciprocal_denormal = is_denormal(T{1} / denominator);
  const bool quotient_denormal = exponent_of(numerator / denominator) == 0;  // or underflows
  // The guide's pseudo-code scales the denominator up here, which overflows and would make
  // 1.0f / FLT_MAX a NaN; only scaling it down gives the IEEE quotient the sequence is for.
  if (reciprocal_denormal && quotient_denormal)
    return {same(part, denominator) ? scale_by(part, -F::scale) : part, true};
  if (reciprocal_denormal) return {scale_by(part, -F::scale), false};
  if (quotient_denormal) return {same(part, numerator) ? scale_by(part, F::scale) : part, true};
  if (exponent_of(numerator) <= F::tiny_numerator) return {scale_by(part, F::scale), false};
  return {part, false};
}

template <typename T>
[[nodiscard]] inline T divide_fixup(T quotient, T denominator, T numerator) {
  using F = DivisionFormat<T>;
  using Limits = std::numeric_limits<T>;
  const auto quiet = [](T x) {
    return __builtin_bit_cast(
        T, __builtin_bit_cast(BitsOf<T>, x) | (BitsOf<T>{1} << (F::mantissa_bits - 1)));
  };
  const T magnitude = sizeof(T) == 8
                          ? static_cast<T>(__builtin_fabs(quotient))
                          : static_cast<T>(__builtin_fabsf(static_cast<float>(quotient)));
  const bool negative = __builtin_signbit(denominator) != __builtin_signbit(numerator);
  const auto with_sign = [negative](T x) { return negative ? -x : x; };
  const bool denominator_infinite = __builtin_isinf(denominator),
             numerator_infinite = __builtin_isinf(numerator);
  if (numerator != numerator) return quiet(numerator);
  if (denominator != denominator) return quiet(denominator);
  if ((denominator == 0 && numerator == 0) || (denominator_infinite && numerator_infinite))
    return -Limits::quiet_NaN();
  if (denominator == 0 || numerator_infinite) return with_sign(Limits::infinity());
  if (denominator_infinite || numerator == 0) return with_sign(T{0});
  // Of two finite numbers: the quotient overflowed, and the Newton step made inf - inf of it.
  if (quotient != quotient) return with_sign(Limits::infinity());
  return with_sign(magnitude);
}

template <typename T>
[[nodiscard]] inline T fused(T a, T b, T c) {
  if constexpr (sizeof(T) == 8)
    return __builtin_fma(a, b, c);
  else
    return __builtin_fmaf(a, b, c);
}
/// 2^+-scale * (a * b + c), rounded once: scaling the rounded sum down into a denormal would round
/// a second time, which is wrong when the sum was rounded to a midpoint between two denormals.
template <typename T>
[[nodiscard]] inline T divide_fmas(T a, T b, T c, bool flag) {
  using F = DivisionFormat<T>;
  T sum = fused(a, b, c);
  if (!flag) return sum;
  if (exponent_of(c) > F::bias) return scale_by(sum, F::scale);
  const T lost = sum - scale_by(scale_by(sum, -F::scale), F::scale);
  const T midpoint = scale_by(std::numeric_limits<T>::denorm_min(), F::scale - 1);
  if (lost == midpoint || lost == -midpoint) {
    const T rest = fused(a, b, c - sum);  // what the first rounding lost; c is near the sum
    if (rest != 0) {
      const bool outward = (rest > 0) == (sum > 0);
      sum = __builtin_bit_cast(T, __builtin_bit_cast(BitsOf<T>, sum) + (outward ? 1 : -1));
    }
  }
  return scale_by(sum, -F::scale);
}

template <typename Type, typename T>
struct DivScale : Op<with_mask<Type>(Type, Type, Type), Operation::other> {
  static ValueAndMask<Type> eval(auto part, auto denominator, auto numerator) {
    ValueAndMask<Type> out;
    for (int i = 0; i < kLanes; ++i) {
      const auto scaled = divide_scale<T>(part[i], denominator[i], numerator[i]);
      out.value[i] = scaled.value;
      out.mask[i] = scaled.flag ? -1 : 0;
    }
    return out;
  }
};
struct v_div_scale_f32 : DivScale<f32, float> {};
struct v_div_scale_f64 : DivScale<f64, double> {};
struct v_div_fixup_f32 : Op<f32(f32, f32, f32), Operation::other> {
  static auto eval(auto a, auto b, auto c) { return per_lane<float>(divide_fixup<float>, a, b, c); }
};
struct v_div_fixup_f64 : Op<f64(f64, f64, f64), Operation::other> {
  static auto eval(auto a, auto b, auto c) {
    return per_lane<double>(divide_fixup<double>, a, b, c);
  }
};
struct v_div_fmas_f32 : Op<f32(f32, f32, f32, mask), Operation::other, BitRule::whole> {
  static constexpr bool kReadsVcc = true;
  static auto eval(auto a, auto b, auto c, auto flag) {
    return per_lane<float>(divide_fmas<float>, a, b, c, flag);
  }
};
struct v_div_fmas_f64 : Op<f64(f64, f64, f64, mask), Operation::other, BitRule::whole> {
  static constexpr bool kReadsVcc = true;
  static auto eval(auto a, auto b, auto c, auto flag) {
    return per_lane<double>(divide_fmas<double>, a, b, c, flag);
  }
};

using TranscendentalRows =
    Rows<v_rcp_f32, v_rcp_iflag_f32, v_rcp_f64, v_sqrt_f32, v_sqrt_f64, v_rsq_f32, v_rsq_f64,
         v_exp_f32, v_log_f32, v_exp_legacy_f32, v_log_legacy_f32, v_sin_f32, v_cos_f32,
         v_trig_preop_f64, v_div_scale_f32, v_div_scale_f64, v_div_fixup_f32, v_div_fixup_f64,
         v_div_fmas_f32, v_div_fmas_f64>;

}  // namespace margay::MARGAY_HOST_LEVEL
