// 16-bit float and integer instructions of the vector ALU.
//
// f16 chunks hold exact f32 values; one f32 operation rounded to f16 is correctly rounded (f32 has
// more than twice f16's precision), except for fma, which goes through f64.
// Source: MI300 ISA guide, sections 12.7 to 12.10.
#pragma once

#include "isa/gfx942/convert.h"
#include "isa/gfx942/transcendental.h"

namespace margay::MARGAY_HOST_LEVEL {

/// Rounds an exact f64 to an f32 that rounds to the same f16 as the f64 would: to odd.
[[nodiscard]] inline float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || nearest != nearest) return nearest;
  const auto bits = __builtin_bit_cast(std::uint32_t, nearest);
  if (bits & 1u) return nearest;
  // The two f32 neighbours of x are `nearest` and the next one towards x; the odd one keeps x's
  // side.
  const bool too_large = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(x);
  return __builtin_bit_cast(float, too_large ? bits - 1u : bits + 1u);
}
/// A product of two f16 is exact in f32, so only the sum has to be rounded to odd.
[[nodiscard]] inline F32 fma_half(F32 a, F32 b, F32 c) {
#if defined(__AVX512F__)
  // The neighbours of an inexact sum differ; the one nearer to zero, with its last bit set, is the
  // odd one of them. An exact sum is taken as the host rounds: the sign of a zero depends on it.
  const auto x = as<__m512>(a), y = as<__m512>(b), z = as<__m512>(c);
  const __m512 below = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const __m512 above = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  const __mmask16 inexact = _mm512_cmp_ps_mask(below, above, _CMP_NEQ_OQ);
  const __m512i inner = _mm512_min_epu32(as<__m512i>(below), as<__m512i>(above));
  const __m512i sum = as<__m512i>(_mm512_fmadd_ps(x, y, z));
  return as<F32>(_mm512_mask_or_epi32(sum, inexact, inner, as<__m512i>(splat<I32>(1))));
#else
  const auto wide = [](F32 v) { return __builtin_convertvector(v, F64); };
  const U64 sum = as<U64>(wide(a) * wide(b) + wide(c));
  // An f32 has 29 bits less: they are dropped, and if they are not zero, the last one that is kept
  // is set.
  constexpr std::uint64_t dropped = (std::uint64_t{1} << 29) - 1;
  const U64 odd = (sum | ((sum & dropped) + dropped)) & ~dropped;
  return __builtin_convertvector(as<F64>(odd), F32);
#endif
}

struct v_add_f16 : Op<f16(f16, f16), Operation::add> {
  static auto eval(auto a, auto b) { return a + b; }
};
struct v_sub_f16 : Op<f16(f16, f16), Operation::add> {
  static auto eval(auto a, auto b) { return a - b; }
};
struct v_subrev_f16 : Op<f16(f16, f16), Operation::add> {
  static auto eval(auto a, auto b) { return b - a; }
};
struct v_mul_f16 : Op<f16(f16, f16), Operation::multiply> {
  static auto eval(auto a, auto b) { return a * b; }
};
struct v_fma_f16 : Op<f16(f16, f16, f16), Operation::multiply_add> {
  static auto eval(auto a, auto b, auto c) { return fma_half(a, b, c); }
};
/// Unlike an fma the product is rounded to f16 before the sum. (LLVM uses these only where f16
/// denormals are flushed, so they may always be flushed; the guide does not say.)
[[nodiscard]] inline F32 multiply_add_half(F32 a, F32 b, F32 c) {
  return half_to_float(float_to_half(a * b)) + c;
}
struct v_mad_f16 : Op<f16(f16, f16, f16), Operation::multiply_then_add> {
  static auto eval(auto a, auto b, auto c) { return multiply_add_half(a, b, c); }
};
struct v_mac_f16 : Op<f16(f16, f16, f16), Operation::multiply_then_add> {
  static constexpr bool kAccumulates = true;
  static auto eval(auto a, auto b, auto c) { return multiply_add_half(a, b, c); }
};
struct v_madmk_f16
    : Op<f16(f16, f16, f16), Operation::multiply_then_add, Literal::source1> {  // a * K + b
  static auto eval(auto a, auto k, auto b) { return multiply_add_half(a, k, b); }
};
struct v_madak_f16
    : Op<f16(f16, f16, f16), Operation::multiply_then_add, Literal::source2> {  // a * b + K
  static auto eval(auto a, auto b, auto k) { return multiply_add_half(a, b, k); }
};
struct v_min_f16 : Op<f16(f16, f16), Operation::min_max> {
  static auto eval(auto a, auto b) { return number_min_max<false>(a, b); }
};
struct v_max_f16 : Op<f16(f16, f16), Operation::min_max> {
  static auto eval(auto a, auto b) { return number_min_max<true>(a, b); }
};
struct v_min3_f16 : Op<f16(f16, f16, f16), Operation::min_max> {
  static auto eval(auto a, auto b, auto c) { return v_min3_f32::eval(a, b, c); }
};
struct v_max3_f16 : Op<f16(f16, f16, f16), Operation::min_max> {
  static auto eval(auto a, auto b, auto c) { return v_max3_f32::eval(a, b, c); }
};
struct v_med3_f16 : Op<f16(f16, f16, f16), Operation::min_max> {
  static auto eval(auto a, auto b, auto c) { return v_med3_f32::eval(a, b, c); }
};
struct v_rndne_f16 : Op<f16(f16), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<0>(a); }
};
struct v_floor_f16 : Op<f16(f16), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<1>(a); }
};
struct v_ceil_f16 : Op<f16(f16), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<2>(a); }
};
struct v_trunc_f16 : Op<f16(f16), Operation::other, Rounding::own> {
  static auto eval(auto a) { return round_to_integral<3>(a); }
};
struct v_fract_f16 : Op<f16(f16), Operation::other> {
  static auto eval(auto a) {
    const F32 below_one = splat<F32>(0x1.ffcp-1f);  // the largest f16 under 1
    const F32 part = a - round_to_integral<1>(a);
    return select(part > below_one, below_one, part);
  }
};
struct v_rcp_f16 : Op<f16(f16), Operation::transcendental> {
  static auto eval(auto a) { return 1.0f / a; }
};
struct v_sqrt_f16 : Op<f16(f16), Operation::transcendental> {
  static auto eval(auto a) { return sqrt(a); }
};
struct v_rsq_f16 : Op<f16(f16), Operation::transcendental> {
  static auto eval(auto a) { return reciprocal_square_root(a); }
};
struct v_exp_f16 : Op<f16(f16), Operation::transcendental> {
  static auto eval(auto a) {
    return per_lane<float>(
        [](float x) { return round_to_odd(__builtin_exp2(static_cast<double>(x))); }, a);
  }
};
struct v_log_f16 : Op<f16(f16), Operation::transcendental> {
  static auto eval(auto a) {
    return per_lane<float>(
        [](float x) { return round_to_odd(__builtin_log2(static_cast<double>(x))); }, a);
  }
};
struct v_sin_f16 : Op<f16(f16), Operation::transcendental> {
  static auto eval(auto a) {
    return per_lane<float>([](float x) { return round_to_odd(sine_of_revolutions(x, 0)); }, a);
  }
};
struct v_cos_f16 : Op<f16(f16), Operation::transcendental> {
  static auto eval(auto a) {
    return per_lane<float>([](float x) { return round_to_odd(sine_of_revolutions(x, 1)); }, a);
  }
};
struct v_ldexp_f16 : Op<f16(f16, i16), Operation::other, BitRule::whole> {
  static auto eval(auto a, auto e) {
    return per_lane<float>(
        [](float x, int n) { return round_to_odd(__builtin_ldexp(static_cast<double>(x), n)); }, a,
        e);
  }
};
struct v_frexp_mant_f16 : Op<f16(f16), Operation::other> {
  static auto eval(auto a) { return v_frexp_mant_f32::eval(a); }
};
struct v_frexp_exp_i16_f16 : Op<i16(f16), Operation::other, BitRule::whole> {
  static auto eval(auto a) { return v_frexp_exp_i32_f32::eval(a); }
};
struct v_div_fixup_f16 : Op<f16(f16, f16, f16), Operation::other> {
  static auto eval(auto a, auto b, auto c) { return v_div_fixup_f32::eval(a, b, c); }
};
[[nodiscard]] inline U32 saturate16(U32 value) { return smaller(value, splat<U32>(0xffffu)); }
[[nodiscard]] inline I32 saturate16(I32 value) {
  return larger(smaller(value, splat<I32>(32767)), splat<I32>(-32768));
}
struct v_cvt_f16_u16 : Op<f16(u16), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return __builtin_convertvector(a, F32); }
};
struct v_cvt_f16_i16 : Op<f16(i16), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return __builtin_convertvector(a, F32); }
};
struct v_cvt_u16_f16 : Op<u16(f16), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return saturate16(v_cvt_u32_f32::eval(a)); }
};
struct v_cvt_i16_f16 : Op<i16(f16), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return saturate16(v_cvt_i32_f32::eval(a)); }
};

// 16-bit integers are computed in 32 bits, without overflow, and truncated when stored; with the
// clamp bit they saturate first.
struct v_add_u16 : Op<u16(u16, u16), BitRule::sum> {
  static auto eval(auto a, auto b) { return a + b; }
  static auto eval_saturating(auto a, auto b) { return saturate16(a + b); }
};
struct v_sub_u16 : Op<u16(u16, u16), BitRule::difference> {
  static auto eval(auto a, auto b) { return a - b; }
  static auto eval_saturating(auto a, auto b) { return select(a < b, U32{}, a - b); }
};
struct v_subrev_u16 : Op<u16(u16, u16), BitRule::difference> {
  static auto eval(auto a, auto b) { return b - a; }
  static auto eval_saturating(auto a, auto b) { return v_sub_u16::eval_saturating(b, a); }
};
struct v_add_i16 : Op<i16(i16, i16), BitRule::sum> {
  static auto eval(auto a, auto b) { return a + b; }
  static auto eval_saturating(auto a, auto b) { return saturate16(a + b); }
};
struct v_sub_i16 : Op<i16(i16, i16), BitRule::difference> {
  static auto eval(auto a, auto b) { return a - b; }
  static auto eval_saturating(auto a, auto b) { return saturate16(a - b); }
};
struct v_mul_lo_u16 : Op<u16(u16, u16), BitRule::product> {
  static auto eval(auto a, auto b) { return a * b; }
};
struct v_mad_u16 : Op<u16(u16, u16, u16), BitRule::product> {
  static auto eval(auto a, auto b, auto c) { return a * b + c; }
  static auto eval_saturating(auto a, auto b, auto c) { return saturate16(a * b + c); }
};
struct v_mad_i16 : Op<i16(i16, i16, i16), BitRule::product> {
  static auto eval(auto a, auto b, auto c) { return a * b + c; }
  static auto eval_saturating(auto a, auto b, auto c) { return saturate16(a * b + c); }
};
struct v_mad_u32_u16 : Op<u32(u16, u16, u32), BitRule::product> {
  static auto eval(auto a, auto b, auto c) { return a * b + c; }
};
struct v_mad_i32_i16 : Op<i32(i16, i16, i32), BitRule::product> {
  static auto eval(auto a, auto b, auto c) { return as<I32>(as<U32>(a) * as<U32>(b) + as<U32>(c)); }
};
struct v_lshlrev_b16 : Op<u16(u16, u16), BitRule::shift_left, Order::reversed> {
  static auto eval(auto s, auto a) { return a << (s & 15u); }
};
struct v_lshrrev_b16 : Op<u16(u16, u16), BitRule::shift_right, Order::reversed> {
  static auto eval(auto s, auto a) { return a >> (s & 15u); }
};
struct v_ashrrev_i16 : Op<i16(u16, i16), BitRule::shift_right_signed, Order::reversed> {
  static auto eval(auto s, auto a) { return a >> as<I32>(s & 15u); }
};
struct v_min_u16 : Op<u16(u16, u16), BitRule::whole> {
  static auto eval(auto a, auto b) { return smaller(a, b); }
};
struct v_max_u16 : Op<u16(u16, u16), BitRule::whole> {
  static auto eval(auto a, auto b) { return larger(a, b); }
};
struct v_min_i16 : Op<i16(i16, i16), BitRule::whole> {
  static auto eval(auto a, auto b) { return smaller(a, b); }
};
struct v_max_i16 : Op<i16(i16, i16), BitRule::whole> {
  static auto eval(auto a, auto b) { return larger(a, b); }
};
struct v_min3_i16 : Op<i16(i16, i16, i16), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return smaller(smaller(a, b), c); }
};
struct v_max3_i16 : Op<i16(i16, i16, i16), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return larger(larger(a, b), c); }
};
struct v_min3_u16 : Op<u16(u16, u16, u16), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return smaller(smaller(a, b), c); }
};
struct v_max3_u16 : Op<u16(u16, u16, u16), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return larger(larger(a, b), c); }
};
struct v_med3_i16 : Op<i16(i16, i16, i16), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return median(a, b, c); }
};
struct v_med3_u16 : Op<u16(u16, u16, u16), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return median(a, b, c); }
};
struct v_pack_b32_f16 : Op<b32(f16_bits, f16_bits), Operation::other, BitRule::pack> {
  static auto eval(auto a, auto b) { return a | (b << 16); }
};

// The gfx8 opcodes, which gfx9 kept: they always clear the upper half of the result.
struct v_mad_legacy_u16 : v_mad_u16 {};
struct v_mad_legacy_i16 : v_mad_i16 {};
struct v_mad_legacy_f16 : v_mad_f16 {};
struct v_fma_legacy_f16 : v_fma_f16 {};
struct v_div_fixup_legacy_f16 : v_div_fixup_f16 {};

using HalfRows =
    Rows<v_add_f16, v_sub_f16, v_subrev_f16, v_mul_f16, v_fma_f16, v_mad_f16, v_mac_f16,
         v_madmk_f16, v_madak_f16, v_mad_legacy_f16, v_min_f16, v_max_f16, v_min3_f16, v_max3_f16,
         v_med3_f16, v_rndne_f16, v_floor_f16, v_ceil_f16, v_trunc_f16, v_fract_f16, v_rcp_f16,
         v_sqrt_f16, v_rsq_f16, v_exp_f16, v_log_f16, v_sin_f16, v_cos_f16, v_ldexp_f16,
         v_frexp_mant_f16, v_frexp_exp_i16_f16, v_div_fixup_f16, v_cvt_f16_u16, v_cvt_f16_i16,
         v_cvt_u16_f16, v_cvt_i16_f16, v_add_u16, v_sub_u16, v_subrev_u16, v_add_i16, v_sub_i16,
         v_mul_lo_u16, v_mad_u16, v_mad_i16, v_mad_u32_u16, v_mad_i32_i16, v_lshlrev_b16,
         v_lshrrev_b16, v_ashrrev_i16, v_min_u16, v_max_u16, v_min_i16, v_max_i16, v_min3_i16,
         v_max3_i16, v_min3_u16, v_max3_u16, v_med3_i16, v_med3_u16, v_mad_legacy_u16,
         v_mad_legacy_i16, v_fma_legacy_f16, v_div_fixup_legacy_f16, v_pack_b32_f16>;

}  // namespace margay::MARGAY_HOST_LEVEL
