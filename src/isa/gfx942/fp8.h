// 8-bit floats: E4M3 ("fp8") and E5M2 ("bf8") as gfx942 has them.
//
// The formats are the FNUZ ones: exponent bias 8 and 16, no infinity, no negative zero, and 0x80 is
// the only NaN; the largest numbers are 240 and 57344. What does not fit, infinities included,
// becomes the NaN. Source: MI300 ISA guide, section 7.2; for overflow AMD's hip_fp8.h, whose
// software conversion gives 0x80 unless it clips first, which is what it does around the
// instruction when a caller requests saturation.
#pragma once

#include <array>

#include "isa/gfx942/integer.h"

namespace margay::MARGAY_HOST_LEVEL {

template <int mantissa, int exponent_bias>
struct Float8 {
  static constexpr int kMantissa = mantissa, kBias = exponent_bias;
  static constexpr std::uint32_t kNan = 0x80, kLargest = 0x7f;

  [[nodiscard]] static constexpr float decode(std::uint32_t code) {
    if (code == kNan) return __builtin_nanf("");
    const int field = static_cast<int>(code >> kMantissa & (0x7f >> kMantissa));
    const auto fraction = static_cast<int>(code & ((1u << kMantissa) - 1));
    int exponent = (field == 0 ? 1 : field) - kBias - kMantissa;
    float value = static_cast<float>(field == 0 ? fraction : fraction + (1 << kMantissa));
    for (; exponent > 0; --exponent) value *= 2;
    for (; exponent < 0; ++exponent) value /= 2;
    return code & 0x80 ? -value : value;
  }

  /// The largest number, as an f32's bits.
  static constexpr std::uint32_t kLargestBits = __builtin_bit_cast(std::uint32_t, decode(kLargest));

  /// A finite number's significand of 24 bits (23 of them behind the point) and exponent.
  struct Parts {
    std::uint32_t significand;
    int exponent;
    std::uint32_t sign;
    bool finite;
  };
  [[nodiscard]] static Parts parts_of(float x) {
    const auto bits = __builtin_bit_cast(std::uint32_t, x);
    const std::uint32_t field = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    if (field == 0) return {fraction, -126, bits >> 31, true};
    return {fraction | 0x800000, static_cast<int>(field) - 127, bits >> 31, field != 0xff};
  }
  /// How many bits of the significand are below this format's last one, and the code's exponent
  /// part. A significand shifted right by that number of bits is added to it, including its leading
  /// 1.
  struct Place {
    int shift;
    std::uint32_t base;
  };
  [[nodiscard]] static Place place_of(const Parts& p) {
    const int exponent = p.exponent < 1 - kBias ? 1 - kBias : p.exponent;
    return {exponent - p.exponent + 23 - kMantissa, static_cast<std::uint32_t>(exponent + kBias - 1)
                                                        << kMantissa};
  }
  [[nodiscard]] static std::uint32_t with_sign(std::uint32_t code, const Parts& p) {
    if (!p.finite || code > kLargest) return kNan;
    return code == 0 ? 0 : code | p.sign << 7;
  }

  /// To nearest even, regardless of MODE.
  [[nodiscard]] static std::uint32_t encode(float x) {
    const Parts p = parts_of(x);
    const Place place = place_of(p);
    if (place.shift > 25) return with_sign(0, p);
    const std::uint32_t odd = p.significand >> place.shift & 1;
    const std::uint32_t half = (1u << (place.shift - 1)) - 1;
    return with_sign(place.base + ((p.significand + half + odd) >> place.shift), p);
  }
  /// Stochastic: adds random bits below the last place and truncates. The guide uses as many upper
  /// bits of the random number as an f32 loses; it does not say how a denormal result is aligned,
  /// and its pseudo-code's last step (to nearest after adding) is not a stochastic rounding. Both
  /// follow the software conversion of hip_fp8.h: align, add, truncate.
  [[nodiscard]] static std::uint32_t encode(float x, std::uint32_t random) {
    constexpr int kDropped = 23 - kMantissa;
    const Parts p = parts_of(x);
    const Place place = place_of(p);
    const int beyond = place.shift - kDropped;
    const std::uint32_t aligned = beyond > 31 ? 0 : p.significand >> beyond;
    return with_sign(place.base + ((aligned + (random >> (32 - kDropped))) >> kDropped), p);
  }

  static constexpr auto kDecoded = [] {
    std::array<float, 256> table{};
    for (std::uint32_t code = 0; code < 256; ++code) table[code] = decode(code);
    return table;
  }();
  [[nodiscard]] static F32 decode_byte(U32 from, int byte) {
    return per_lane<float>([](std::uint32_t code) { return kDecoded[code]; },
                           (from >> (8 * byte)) & 0xffu);
  }
};
using Fp8 = Float8<3, 8>;
using Bf8 = Float8<2, 16>;

template <typename Format>
struct CvtFromByte : Op<f32(byte_floats<0xff>), Operation::convert,
                        BitRule::whole> {  // SDWA has moved another byte down before
  static auto eval(auto a) { return Format::decode_byte(a, 0); }
};
struct v_cvt_f32_fp8 : CvtFromByte<Fp8> {};
struct v_cvt_f32_bf8 : CvtFromByte<Bf8> {};

/// Two results in a pair of registers.
template <typename Format>
struct CvtPairFromBytes : Op<f32_pair(byte_floats<0xffff>), Operation::convert, BitRule::from_fp8> {
  static auto eval(auto a) {
    return join(as<U32>(Format::decode_byte(a, 0)), as<U32>(Format::decode_byte(a, 1)));
  }
  static auto eval_saturating(auto a) {
    const auto clamped = [](F32 x) {  // a NaN becomes 0
      x = select(x > 0.0f, x, F32{});
      return as<U32>(select(x < 1.0f, x, splat<F32>(1.0f)));
    };
    return join(clamped(Format::decode_byte(a, 0)), clamped(Format::decode_byte(a, 1)));
  }
};
struct v_cvt_pk_f32_fp8 : CvtPairFromBytes<Fp8> {};
struct v_cvt_pk_f32_bf8 : CvtPairFromBytes<Bf8> {};

/// Two bytes into the word that op_sel[3] names.
template <typename Format>
struct CvtPairToBytes : Op<b32(f32, f32, b32), Operation::convert, BitRule::bytes2> {
  static constexpr bool kKeepsRest = true;
  static constexpr std::uint32_t kLargestByteFloat = Format::kLargestBits;
  static U32 eval(auto modifiers, F32 a, F32 b, U32 old) {
    const auto code = [](F32 x) {
      return per_lane<std::uint32_t>([](float lane) { return Format::encode(lane); }, x);
    };
    const U32 word = code(a) | code(b) << 8;
    return modifiers.op_select & 8 ? (old & 0xffffu) | word << 16 : (old & 0xffff0000u) | word;
  }
};
struct v_cvt_pk_fp8_f32 : CvtPairToBytes<Fp8> {};
struct v_cvt_pk_bf8_f32 : CvtPairToBytes<Bf8> {};

/// One byte into the one that op_sel[3:2] names.
template <typename Format>
struct CvtStochasticToByte : Op<b32(f32, u32, b32), Operation::convert, BitRule::whole> {
  static constexpr bool kKeepsRest = true;
  static constexpr std::uint32_t kLargestByteFloat = Format::kLargestBits;
  static U32 eval(auto modifiers, F32 a, U32 random, U32 old) {
    const int shift = 8 * (modifiers.op_select >> 2 & 3);
    const U32 code = per_lane<std::uint32_t>(
        [](float x, std::uint32_t r) { return Format::encode(x, r); }, a, random);
    return (old & ~(0xffu << shift)) | code << shift;
  }
};
struct v_cvt_sr_fp8_f32 : CvtStochasticToByte<Fp8> {};
struct v_cvt_sr_bf8_f32 : CvtStochasticToByte<Bf8> {};

using Fp8Rows = Rows<v_cvt_f32_fp8, v_cvt_f32_bf8, v_cvt_pk_f32_fp8, v_cvt_pk_f32_bf8,
                     v_cvt_pk_fp8_f32, v_cvt_pk_bf8_f32, v_cvt_sr_fp8_f32, v_cvt_sr_bf8_f32>;

}  // namespace margay::MARGAY_HOST_LEVEL
