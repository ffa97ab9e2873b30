// f32 and f64 arithmetic of the vector ALU.
// Source: MI300 ISA guide, sections 12.7 to 12.10; as MODE is for HIP kernels: denormals are kept,
// IEEE is on. Rounding is the host's: to nearest even, unless src/exec/program/float_mode.cpp,
// which implements every other MODE, has set another.
#pragma once

#include <limits>

#include "isa/gfx942/integer.h"

namespace margay::MARGAY_HOST_LEVEL {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <typename V>
using BitVec = Vec<BitsOf<Element<V>>>;
template <typename V>
inline constexpr BitsOf<Element<V>> kQuietBit =
    sizeof(Element<V>) == 8 ? BitsOf<Element<V>>{1} << 51 : BitsOf<Element<V>>{1} << 22;

/// minNum / maxNum as the hardware has them with IEEE mode on: a number wins over a NaN, a
/// signalling NaN wins over everything and becomes quiet, and -0 is below +0.
template <bool want_larger, typename V>
[[nodiscard]] inline V number_min_max(V a, V b) {
  using B = BitVec<V>;
  const auto ordered = want_larger ? select(a > b, a, b) : select(a < b, a, b);
  // Equal operands differ at most in the sign of a zero.
  const V equal = want_larger ? as<V>(as<B>(a) & as<B>(b)) : as<V>(as<B>(a) | as<B>(b));
  V out = select(a == b, equal, ordered);
  const auto a_nan = is_nan(a), b_nan = is_nan(b);
  out = select(b_nan, a, out);
  out = select(a_nan, b, out);
  const V quiet_a = as<V>(as<B>(a) | kQuietBit<V>), quiet_b = as<V>(as<B>(b) | kQuietBit<V>);
  const auto signalling = [](auto nan, V x) { return nan & ((as<B>(x) & kQuietBit<V>) == 0); };
  out = select(a_nan & b_nan, quiet_a, out);
  out = select(signalling(b_nan, b), quiet_b, out);
  return select(signalling(a_nan, a), quiet_a, out);
}

struct v_add_f32 : Op<f32(f32, f32), Operation::add, PackedTwin::exists> {
  static auto eval(auto a, auto b) { return a + b; }
};
struct v_sub_f32 : Op<f32(f32, f32), Operation::add, PackedTwin::exists> {
  static auto eval(auto a, auto b) { return a - b; }
};
struct v_subrev_f32 : Op<f32(f32, f32), Operation::add, PackedTwin::exists> {
  static auto eval(auto a, auto b) { return b - a; }
};
struct v_mul_f32 : Op<f32(f32, f32), Operation::multiply, PackedTwin::exists> {
  static auto eval(auto a, auto b) { return a * b; }
};
/// 0 times anything is +0, infinities and NaNs included.
struct v_mul_legacy_f32 : Op<f32(f32, f32), Operation::multiply> {
  static auto eval(auto a, auto b) { return select((a == 0.0f) | (b == 0.0f), F32{}, a * b); }
};
struct v_fma_f32 : Op<f32(f32, f32, f32), Operation::multiply_add, PackedTwin::exists> {
  static auto eval(auto a, auto b, auto c) { return fma(a, b, c); }
};
struct v_fmac_f32 : Op<f32(f32, f32, f32), Operation::multiply_add, PackedTwin::exists> {
  static constexpr bool kAccumulates = true;
  static auto eval(auto a, auto b, auto c) { return fma(a, b, c); }
};
struct v_fmamk_f32 : Op<f32(f32, f32, f32), Operation::multiply_add, Literal::source1,
                        PackedTwin::exists> {  // a * K + b
  static auto eval(auto a, auto k, auto b) { return fma(a, k, b); }
};
struct v_fmaak_f32 : Op<f32(f32, f32, f32), Operation::multiply_add, Literal::source2,
                        PackedTwin::exists> {  // a * b + K
  static auto eval(auto a, auto b, auto k) { return fma(a, b, k); }
};
struct v_min_f32 : Op<f32(f32, f32), Operation::min_max> {
  static auto eval(auto a, auto b) { return number_min_max<false>(a, b); }
};
struct v_max_f32 : Op<f32(f32, f32), Operation::min_max> {
  static auto eval(auto a, auto b) { return number_min_max<true>(a, b); }
};
struct v_min3_f32 : Op<f32(f32, f32, f32), Operation::min_max> {
  static auto eval(auto a, auto b, auto c) {
    return number_min_max<false>(number_min_max<false>(a, b), c);
  }
};
struct v_max3_f32 : Op<f32(f32, f32, f32), Operation::min_max> {
  static auto eval(auto a, auto b, auto c) {
    return number_min_max<true>(number_min_max<true>(a, b), c);
  }
};
struct v_med3_f32 : Op<f32(f32, f32, f32), Operation::min_max> {
  static auto eval(auto a, auto b, auto c) {
    const auto any_nan = is_nan(a) | is_nan(b) | is_nan(c);
    const auto middle = number_min_max<true>(number_min_max<false>(a, b),
                                             number_min_max<false>(number_min_max<true>(a, b), c));
    return select(any_nan, v_min3_f32::eval(a, b, c), middle);
  }
};

struct v_add_f64 : Op<f64(f64, f64), Operation::add> {
  static auto eval(auto a, auto b) { return a + b; }
};
struct v_mul_f64 : Op<f64(f64, f64), Operation::multiply> {
  static auto eval(auto a, auto b) { return a * b; }
};
struct v_fma_f64 : Op<f64(f64, f64, f64), Operation::multiply_add> {
  static auto eval(auto a, auto b, auto c) { return fma(a, b, c); }
};
struct v_fmac_f64 : Op<f64(f64, f64, f64), Operation::multiply_add> {
  static constexpr bool kAccumulates = true;
  static auto eval(auto a, auto b, auto c) { return fma(a, b, c); }
};
struct v_min_f64 : Op<f64(f64, f64), Operation::min_max> {
  static auto eval(auto a, auto b) { return number_min_max<false>(a, b); }
};
struct v_max_f64 : Op<f64(f64, f64), Operation::min_max> {
  static auto eval(auto a, auto b) { return number_min_max<true>(a, b); }
};

// ---- Rounding and parts ---------------------------------------------------------------------

struct v_rndne_f32 : Op<f32(f32), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<0>(a); }
};
struct v_floor_f32 : Op<f32(f32), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<1>(a); }
};
struct v_ceil_f32 : Op<f32(f32), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<2>(a); }
};
struct v_trunc_f32 : Op<f32(f32), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<3>(a); }
};
struct v_rndne_f64 : Op<f64(f64), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<0>(a); }
};
struct v_floor_f64 : Op<f64(f64), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<1>(a); }
};
struct v_ceil_f64 : Op<f64(f64), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<2>(a); }
};
struct v_trunc_f64 : Op<f64(f64), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<3>(a); }
};

/// a - floor(a), below 1: the largest number under 1 is the result where rounding would give 1.
struct v_fract_f32 : Op<f32(f32), Operation::other> {
  static auto eval(auto a) {
    const F32 below_one = splat<F32>(0x1.fffffep-1f);
    const F32 part = a - round_to_integral<1>(a);
    return select(part > below_one, below_one, part);
  }
};
struct v_fract_f64 : Op<f64(f64), Operation::other> {
  static auto eval(auto a) {
    const F64 below_one = splat<F64>(0x1.fffffffffffffp-1);
    const F64 part = a - round_to_integral<1>(a);
    return select(part > below_one, below_one, part);
  }
};

[[nodiscard]] inline bool finite_nonzero(double x) { return x == x && x - x == 0 && x != 0; }

struct v_frexp_exp_i32_f32 : Op<i32(f32), Operation::other, BitRule::whole> {
  static auto eval(auto a) {
    return per_lane<std::int32_t>(
        [](float x) {
          int exponent = 0;
          if (finite_nonzero(x)) (void)__builtin_frexpf(x, &exponent);
          return exponent;
        },
        a);
  }
};
struct v_frexp_mant_f32 : Op<f32(f32), Operation::other> {
  static auto eval(auto a) {
    return per_lane<float>(
        [](float x) {
          int exponent = 0;
          return finite_nonzero(x) ? __builtin_frexpf(x, &exponent) : x;
        },
        a);
  }
};
struct v_frexp_exp_i32_f64 : Op<i32(f64), Operation::other, BitRule::whole> {
  static auto eval(auto a) {
    return per_lane<std::int32_t>(
        [](double x) {
          int exponent = 0;
          if (finite_nonzero(x)) (void)__builtin_frexp(x, &exponent);
          return exponent;
        },
        a);
  }
};
struct v_frexp_mant_f64 : Op<f64(f64), Operation::other> {
  static auto eval(auto a) {
    return per_lane<double>(
        [](double x) {
          int exponent = 0;
          return finite_nonzero(x) ? __builtin_frexp(x, &exponent) : x;
        },
        a);
  }
};
struct v_ldexp_f32 : Op<f32(f32, i32), Operation::other, BitRule::whole> {
  static auto eval(auto a, auto exponent) {
    return per_lane<float>([](float x, int e) { return __builtin_ldexpf(x, e); }, a, exponent);
  }
};
struct v_ldexp_f64 : Op<f64(f64, i32), Operation::other, BitRule::whole> {
  static auto eval(auto a, auto exponent) {
    return per_lane<double>([](double x, int e) { return __builtin_ldexp(x, e); }, a, exponent);
  }
};

using FloatRows =
    Rows<v_add_f32, v_sub_f32, v_subrev_f32, v_mul_f32, v_mul_legacy_f32, v_fma_f32, v_fmac_f32,
         v_fmamk_f32, v_fmaak_f32, v_min_f32, v_max_f32, v_min3_f32, v_max3_f32, v_med3_f32,
         v_add_f64, v_mul_f64, v_fma_f64, v_fmac_f64, v_min_f64, v_max_f64, v_rndne_f32,
         v_floor_f32, v_ceil_f32, v_trunc_f32, v_rndne_f64, v_floor_f64, v_ceil_f64, v_trunc_f64,
         v_fract_f32, v_fract_f64, v_frexp_exp_i32_f32, v_frexp_mant_f32, v_frexp_exp_i32_f64,
         v_frexp_mant_f64, v_ldexp_f32, v_ldexp_f64>;

}  // namespace margay::MARGAY_HOST_LEVEL
