// Conversions between number formats.
// Source: MI300 ISA guide, section 12.8: float to integer truncates and saturates, NaN gives 0.
#pragma once

#include "isa/gfx942/float.h"

namespace margay::MARGAY_HOST_LEVEL {

template <typename Integer, typename Float>
[[nodiscard]] inline Integer saturating_cast(Float x) {
  using Limits = std::numeric_limits<Integer>;
  if (x != x) return 0;
  // The bounds as floats: max + 1 is a power of two, hence exact.
  constexpr Float upper = static_cast<Float>(Limits::max() / 2 + 1) * 2;
  constexpr Float lower = static_cast<Float>(Limits::min());
  if (x >= upper) return Limits::max();
  if (x <= lower) return Limits::min();
  return static_cast<Integer>(x);
}

struct v_cvt_f32_i32 : Op<f32(i32), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return __builtin_convertvector(a, F32); }
};
struct v_cvt_f32_u32 : Op<f32(u32), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return __builtin_convertvector(a, F32); }
};
struct v_cvt_f64_i32 : Op<f64(i32), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return __builtin_convertvector(a, F64); }
};
struct v_cvt_f64_u32 : Op<f64(u32), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return __builtin_convertvector(a, F64); }
};
struct v_cvt_f64_f32 : Op<f64(f32), Operation::convert> {
  static auto eval(auto a) { return __builtin_convertvector(a, F64); }
};
struct v_cvt_f32_f64 : Op<f32(f64), Operation::convert> {
  static auto eval(auto a) { return __builtin_convertvector(a, F32); }
};
struct v_cvt_f16_f32 : Op<f16(f32), Operation::convert> {
  static auto eval(auto a) { return a; }
};
struct v_cvt_f32_f16 : Op<f32(f16), Operation::convert> {
  static auto eval(auto a) { return a; }
};

struct v_cvt_i32_f32 : Op<i32(f32), Operation::convert, BitRule::whole> {
  static auto eval(auto a) {
    return per_lane<std::int32_t>(saturating_cast<std::int32_t, float>, a);
  }
};
struct v_cvt_u32_f32 : Op<u32(f32), Operation::convert, BitRule::whole> {
  static auto eval(auto a) {
    return per_lane<std::uint32_t>(saturating_cast<std::uint32_t, float>, a);
  }
};
struct v_cvt_i32_f64 : Op<i32(f64), Operation::convert, BitRule::whole> {
  static auto eval(auto a) {
    return per_lane<std::int32_t>(saturating_cast<std::int32_t, double>, a);
  }
};
struct v_cvt_u32_f64 : Op<u32(f64), Operation::convert, BitRule::whole> {
  static auto eval(auto a) {
    return per_lane<std::uint32_t>(saturating_cast<std::uint32_t, double>, a);
  }
};
struct v_cvt_rpi_i32_f32 : Op<i32(f32), Operation::convert, BitRule::whole> {  // round half up
  static auto eval(auto a) { return v_cvt_i32_f32::eval(round_to_integral<1>(a + 0.5f)); }
};
struct v_cvt_flr_i32_f32 : Op<i32(f32), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return v_cvt_i32_f32::eval(round_to_integral<1>(a)); }
};

template <int byte>
struct CvtUbyte : Op<f32(bits_of<0xffu << (8 * byte)>), Operation::convert, BitRule::whole> {
  static auto eval(auto a) { return __builtin_convertvector((a >> (8 * byte)) & 0xffu, F32); }
};
struct v_cvt_f32_ubyte0 : CvtUbyte<0> {};
struct v_cvt_f32_ubyte1 : CvtUbyte<1> {};
struct v_cvt_f32_ubyte2 : CvtUbyte<2> {};
struct v_cvt_f32_ubyte3 : CvtUbyte<3> {};

struct v_cvt_pk_u16_u32 : Op<b32(u32, u32), Operation::convert, BitRule::pack> {
  static auto eval(auto a, auto b) {
    const U32 limit = splat<U32>(0xffffu);
    return smaller(a, limit) | (smaller(b, limit) << 16);
  }
};
struct v_cvt_pk_i16_i32 : Op<b32(i32, i32), Operation::convert, BitRule::pack> {
  static auto eval(auto a, auto b) {
    const auto clamp = [](I32 x) {
      return as<U32>(larger(smaller(x, splat<I32>(32767)), splat<I32>(-32768))) & 0xffffu;
    };
    return clamp(a) | (clamp(b) << 16);
  }
};

/// f32 to f16 bits, toward zero: nearest, then one step back where that went away from zero.
[[nodiscard]] inline U32 float_to_half_toward_zero(F32 a) {
  const U32 nearest = float_to_half(a);
  const F32 back = half_to_float(nearest);
  const auto magnitude = [](F32 x) { return as<F32>(as<U32>(x) & 0x7fffffffu); };
  const I32 grew = magnitude(back) > magnitude(a);
  return select(grew, nearest - 1u, nearest);
}
struct v_cvt_pkrtz_f16_f32
    : Op<f16_pair(f32, f32), Operation::convert, BitRule::pack, Rounding::own> {
  static auto eval(auto a, auto b) {
    return float_to_half_toward_zero(a) | (float_to_half_toward_zero(b) << 16);
  }
};

using ConvertRows =
    Rows<v_cvt_f32_i32, v_cvt_f32_u32, v_cvt_f64_i32, v_cvt_f64_u32, v_cvt_f64_f32, v_cvt_f32_f64,
         v_cvt_f16_f32, v_cvt_f32_f16, v_cvt_i32_f32, v_cvt_u32_f32, v_cvt_i32_f64, v_cvt_u32_f64,
         v_cvt_rpi_i32_f32, v_cvt_flr_i32_f32, v_cvt_f32_ubyte0, v_cvt_f32_ubyte1, v_cvt_f32_ubyte2,
         v_cvt_f32_ubyte3, v_cvt_pk_u16_u32, v_cvt_pk_i16_i32, v_cvt_pkrtz_f16_f32>;

}  // namespace margay::MARGAY_HOST_LEVEL
