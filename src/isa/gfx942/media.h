// Instructions for pictures and textures: sums of absolute differences, cube maps, normalised
// integers, bytes; and the dot products that accumulate.
// Source: MI300 ISA guide, sections 12.7 to 12.10. The guide names the conversions to normalised
// integers and to bytes but not their rounding: it is MODE's, to nearest even, from the exact
// product, as the CLRX documentation of these opcodes has it.
#pragma once

#include "isa/gfx942/half.h"

namespace margay::MARGAY_HOST_LEVEL {

// ---- Sums of absolute differences -----------------------------------------------------------

/// Sum over a's and b's fields of `width` bits; a masked sum skips those where b's is 0.
template <int width, bool masked, typename V>
[[nodiscard]] inline V absolute_differences(V a, V b) {
  using E = Element<V>;
  V sum{};
  for (int shift = 0; shift < 32; shift += width) {
    const V x = (a >> E(shift)) & E((1u << width) - 1), y = (b >> E(shift)) & E((1u << width) - 1);
    V difference = larger(x, y) - smaller(x, y);
    if constexpr (masked) difference = select(y == E(0), V{}, difference);
    sum += difference;
  }
  return sum;
}
[[nodiscard]] inline U32 saturating_sum(U32 a, U32 b) { return v_add_u32::eval_saturating(a, b); }
template <int width, bool masked, int shift>
struct SumOfDifferences : Op<b32(b32, b32, b32), BitRule::whole> {
  static U32 eval(U32 a, U32 b, U32 c) {
    return (absolute_differences<width, masked>(a, b) << shift) + c;
  }
  static U32 eval_saturating(U32 a, U32 b, U32 c) {
    return saturating_sum(absolute_differences<width, masked>(a, b) << shift, c);
  }
};
struct v_sad_u8 : SumOfDifferences<8, false, 0> {};
struct v_sad_hi_u8 : SumOfDifferences<8, false, 16> {};
struct v_sad_u16 : SumOfDifferences<16, false, 0> {};
struct v_msad_u8 : SumOfDifferences<8, true, 0> {};

/// Four sums, of four bytes each from a's bytes 0, 1, 2 and 3 on, onto c's words.
template <bool masked>
struct FourSums : Op<b64(b64, b32, b64), BitRule::whole> {
  template <bool saturates>
  static U64 sums(U64 a, U32 b, U64 c) {
    U64 out{};
    for (int n = 0; n < 4; ++n) {
      const U32 part = low_half(a >> std::uint64_t(8 * n));
      U64 sum = widen(absolute_differences<8, masked>(part, b)) +
                ((c >> std::uint64_t(16 * n)) & std::uint64_t{0xffff});
      if constexpr (saturates) sum = smaller(sum, splat<U64>(0xffff));
      out |= (sum & std::uint64_t{0xffff}) << std::uint64_t(16 * n);
    }
    return out;
  }
  static U64 eval(U64 a, U32 b, U64 c) { return sums<false>(a, b, c); }
  /// The guide's pseudo-code has no clamp; like other integers, each word saturates.
  static U64 eval_saturating(U64 a, U32 b, U64 c) { return sums<true>(a, b, c); }
};
struct v_qsad_pk_u16_u8 : FourSums<false> {};
struct v_mqsad_pk_u16_u8 : FourSums<true> {};

/// Bytewise mean; bit 0 of each byte of c rounds it up.
struct v_lerp_u8 : Op<b32(b32, b32, b32), BitRule::whole> {
  static U32 eval(U32 a, U32 b, U32 c) {
    U32 out{};
    for (int shift = 0; shift < 32; shift += 8)
      out |= ((((a >> shift) & 0xffu) + ((b >> shift) & 0xffu) + ((c >> shift) & 1u)) >> 1)
             << shift;
    return out;
  }
};

// ---- Cube maps ------------------------------------------------------------------------------

[[nodiscard]] inline F32 magnitude(F32 x) { return as<F32>(as<U32>(x) & 0x7fffffffu); }
[[nodiscard]] inline F32 negated(F32 x) { return as<F32>(as<U32>(x) ^ 0x80000000u); }
/// By the largest coordinate; on ties z before y before x.
[[nodiscard]] inline F32 by_face(F32 x, F32 y, F32 z, F32 for_x, F32 for_y, F32 for_z) {
  const I32 is_z = (magnitude(z) >= magnitude(x)) & (magnitude(z) >= magnitude(y));
  return select(is_z, for_z, select(magnitude(y) >= magnitude(x), for_y, for_x));
}
struct v_cubeid_f32 : Op<f32(f32, f32, f32), Operation::other> {
  static F32 eval(F32 x, F32 y, F32 z) {
    const auto face = [](F32 along, float first) {
      return select(along < 0.0f, splat<F32>(first + 1), splat<F32>(first));
    };
    return by_face(x, y, z, face(x, 0), face(y, 2), face(z, 4));
  }
};
struct v_cubesc_f32 : Op<f32(f32, f32, f32), Operation::other> {
  static F32 eval(F32 x, F32 y, F32 z) {
    return by_face(x, y, z, select(x < 0.0f, z, negated(z)), x, select(z < 0.0f, negated(x), x));
  }
};
struct v_cubetc_f32 : Op<f32(f32, f32, f32), Operation::other> {
  static F32 eval(F32 x, F32 y, F32 z) {
    return by_face(x, y, z, negated(y), select(y < 0.0f, negated(z), z), negated(y));
  }
};
struct v_cubema_f32 : Op<f32(f32, f32, f32), Operation::other> {
  static F32 eval(F32 x, F32 y, F32 z) { return by_face(x, y, z, x * 2.0f, y * 2.0f, z * 2.0f); }
};

// ---- Normalised integers and bytes ----------------------------------------------------------

/// round(x * scale), kept within [lowest, scale]; NaN gives 0. The product is exact in f64.
[[nodiscard]] inline std::int32_t normalised(float x, double scale, double lowest) {
  if (x != x) return 0;
  const double product = static_cast<double>(x) * scale;
  return static_cast<std::int32_t>(
      __builtin_nearbyint(product < lowest ? lowest : (product > scale ? scale : product)));
}
[[nodiscard]] inline U32 signed_normalised(F32 a) {
  return per_lane<std::uint32_t>(
             [](float x) { return static_cast<std::uint32_t>(normalised(x, 32767, -32767)); }, a) &
         0xffffu;
}
[[nodiscard]] inline U32 unsigned_normalised(F32 a) {
  return per_lane<std::uint32_t>(
      [](float x) { return static_cast<std::uint32_t>(normalised(x, 65535, 0)); }, a);
}
struct v_cvt_norm_i16_f16 : Op<i16(f16), Operation::convert, BitRule::whole, Rounding::by_source> {
  static auto eval(auto a) { return as<I32>(signed_normalised(a)); }
};
struct v_cvt_norm_u16_f16 : Op<u16(f16), Operation::convert, BitRule::whole, Rounding::by_source> {
  static auto eval(auto a) { return unsigned_normalised(a); }
};
template <typename From>
struct CvtPairSigned : Op<b32(From, From), Operation::convert, BitRule::pack, Rounding::by_source> {
  static U32 eval(F32 a, F32 b) { return signed_normalised(a) | signed_normalised(b) << 16; }
};
template <typename From>
struct CvtPairUnsigned
    : Op<b32(From, From), Operation::convert, BitRule::pack, Rounding::by_source> {
  static U32 eval(F32 a, F32 b) { return unsigned_normalised(a) | unsigned_normalised(b) << 16; }
};
struct v_cvt_pknorm_i16_f32 : CvtPairSigned<f32> {};
struct v_cvt_pknorm_i16_f16 : CvtPairSigned<f16> {};
struct v_cvt_pknorm_u16_f32 : CvtPairUnsigned<f32> {};
struct v_cvt_pknorm_u16_f16 : CvtPairUnsigned<f16> {};

/// Puts a byte where bits 1:0 of `place` say.
[[nodiscard]] inline U32 insert_byte(F32 a, U32 place, U32 into) {
  const U32 shift = (place & 3u) * 8u;
  const U32 byte = per_lane<std::uint32_t>(
      [](float x) {
        const float kept = x > 255 ? 255 : x;
        return x > 0 ? static_cast<std::uint32_t>(__builtin_nearbyintf(kept)) : 0u;
      },
      a);
  return (into & ~(0xffu << shift)) | byte << shift;
}
struct v_cvt_pk_u8_f32
    : Op<b32(f32, u32, b32), Operation::convert, BitRule::insert_byte, Rounding::by_source> {
  static U32 eval(F32 a, U32 place, U32 into) { return insert_byte(a, place, into); }
};
struct v_cvt_pkaccum_u8_f32
    : Op<b32(f32, u32, b32), Operation::convert, BitRule::insert_byte, Rounding::by_source> {
  static constexpr bool kKeepsRest = true;
  static U32 eval(F32 a, U32 place, U32 old) { return insert_byte(a, place, old); }
};
/// A signed 4-bit number in sixteenths.
struct v_cvt_off_f32_i4 : Op<f32(bits_of<0xf>), Operation::convert, BitRule::whole> {
  static F32 eval(U32 a) { return __builtin_convertvector(as<I32>(a << 28) >> 28, F32) * 0.0625f; }
};
struct v_sat_pk_u8_i16 : Op<b32(b32), BitRule::whole> {
  static U32 eval(U32 a) {
    const auto byte = [](I32 x) { return as<U32>(larger(smaller(x, splat<I32>(255)), I32{})); };
    return byte(as<I32>(a << 16) >> 16) | byte(as<I32>(a) >> 16) << 8;
  }
};
/// Which of four shader engines a tile of the screen belongs to. Source of the table: the guide's,
/// as the CLRX documentation prints it.
struct v_screen_partition_4se_b32 : Op<b32(b32), BitRule::whole> {
  static constexpr std::string_view kTable =
      "137f5fff7fffffff"
      "f26efafffbffffff"
      "df4cff5fffdfffff"
      "9bf8fffafffeffff"
      "ffff4cdf6fffefff"
      "fffff89bf99ffdff"
      "ffff7f13ff9fffbf"
      "ffff6ef26ff6fff7"
      "bfffffff23bfafff"
      "f7fffffff19df5ff"
      "ffefffffef8cffaf"
      "fffdffff67f4fff5"
      "9fffdfffffff8cef"
      "f66ffefffffff467"
      "ff6fff7fffffbf23"
      "9ff9fffbffff9df1";
  static_assert(kTable.size() == 256);
  static U32 eval(U32 a) {
    return per_lane<std::uint32_t>(
        [](std::uint32_t tile) {
          const char digit = kTable[tile & 0xff];
          return static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
        },
        a);
  }
};

// ---- Dot products onto the destination --------------------------------------------------------

/// Exact sum of products of signed fields and c.
template <int width>
[[nodiscard]] inline I64 dot_product(U32 a, U32 b, I32 c) {
  I64 sum = widen(c);
  for (int shift = 32 - width; shift >= 0; shift -= width) {
    const auto field = [shift](U32 from) {
      return widen(as<I32>(from << (32 - width - shift)) >> (32 - width));
    };
    sum += field(a) * field(b);
  }
  return sum;
}
template <int width>
struct DotAccumulate : Op<i32(u32, u32, i32), Operation::dot, BitRule::whole> {
  static constexpr bool kAccumulates = true;
  static I32 eval(U32 a, U32 b, I32 c) {
    return as<I32>(low_half(as<U64>(dot_product<width>(a, b, c))));
  }
  static I32 eval_saturating(U32 a, U32 b, I32 c) {
    using Limits = std::numeric_limits<std::int32_t>;
    const I64 sum = dot_product<width>(a, b, c);
    return __builtin_convertvector(
        larger(smaller(sum, splat<I64>(Limits::max())), splat<I64>(Limits::min())), I32);
  }
};
struct v_dot2c_i32_i16 : DotAccumulate<16> {};
struct v_dot4c_i32_i8 : DotAccumulate<8> {};
struct v_dot8c_i32_i4 : DotAccumulate<4> {};

[[nodiscard]] inline F32 flush_below(F32 x, float smallest) {
  return select(magnitude(x) < smallest, as<F32>(as<U32>(x) & 0x80000000u), x);
}
/// c + a.low * b.low + a.high * b.high, from the left; the products are exact in f32. Denormals are
/// flushed, inputs and output, regardless of MODE. Source: MI300 ISA guide, section 6.4.
[[nodiscard]] inline F32 dot_product_halves(F32 a_low, F32 b_low, F32 a_high, F32 b_high, F32 c) {
  constexpr float kHalf = 0x1p-14f, kSingle = 0x1p-126f;
  const F32 low =
      fma(flush_below(a_low, kHalf), flush_below(b_low, kHalf), flush_below(c, kSingle));
  return flush_below(fma(flush_below(a_high, kHalf), flush_below(b_high, kHalf), low), kSingle);
}
struct v_dot2c_f32_f16 : Op<f32(u32, u32, f32), Operation::dot, BitRule::whole> {
  static constexpr bool kAccumulates = true;
  static F32 eval(U32 a, U32 b, F32 c) {
    return dot_product_halves(half_to_float(a & 0xffffu), half_to_float(b & 0xffffu),
                              half_to_float(a >> 16), half_to_float(b >> 16), c);
  }
};

using MediaRows =
    Rows<v_sad_u8, v_sad_hi_u8, v_sad_u16, v_msad_u8, v_qsad_pk_u16_u8, v_mqsad_pk_u16_u8,
         v_lerp_u8, v_cubeid_f32, v_cubesc_f32, v_cubetc_f32, v_cubema_f32, v_cvt_norm_i16_f16,
         v_cvt_norm_u16_f16, v_cvt_pknorm_i16_f32, v_cvt_pknorm_i16_f16, v_cvt_pknorm_u16_f32,
         v_cvt_pknorm_u16_f16, v_cvt_pk_u8_f32, v_cvt_pkaccum_u8_f32, v_cvt_off_f32_i4,
         v_sat_pk_u8_i16, v_screen_partition_4se_b32, v_dot2c_i32_i16, v_dot4c_i32_i8,
         v_dot8c_i32_i4, v_dot2c_f32_f16>;

}  // namespace margay::MARGAY_HOST_LEVEL
