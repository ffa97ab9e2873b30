// 32- and 64-bit integer, bit and move instructions of the vector ALU.
// Source: MI300 ISA guide, sections 12.7 to 12.10 (VOP1, VOP2, VOP3).
#pragma once

#include "isa/row.h"

namespace margay::MARGAY_HOST_LEVEL {

// ---- Moves and selection --------------------------------------------------------------------

struct v_mov_b32 : Op<b32(b32), BitRule::copy> {
  static auto eval(auto a) { return a; }
};
struct v_mov_b64 : Op<b64(b64), BitRule::copy> {
  static auto eval(auto a) { return a; }
};
struct v_not_b32 : Op<b32(b32), BitRule::copy> {
  static auto eval(auto a) { return ~a; }
};
/// Its sources accept the sign modifiers of f32: compilers fold a negation of the selected value
/// into it.
struct v_cndmask_b32 : Op<f32(f32, f32, mask), Operation::of_bits, BitRule::select> {
  static constexpr bool kReadsVcc = true;
  static auto eval(auto when_clear, auto when_set, auto condition) {
    return select(condition, when_set, when_clear);
  }
};

// ---- Addition -------------------------------------------------------------------------------

// With the clamp bit, sums and differences saturate.
struct v_add_u32 : Op<u32(u32, u32), BitRule::sum> {
  static auto eval(auto a, auto b) { return a + b; }
  static auto eval_saturating(auto a, auto b) {
    const U32 sum = a + b;
    return select(sum < a, ~U32{}, sum);
  }
};
struct v_sub_u32 : Op<u32(u32, u32), BitRule::difference> {
  static auto eval(auto a, auto b) { return a - b; }
  static auto eval_saturating(auto a, auto b) { return select(a < b, U32{}, a - b); }
};
struct v_subrev_u32 : Op<u32(u32, u32), BitRule::difference> {
  static auto eval(auto a, auto b) { return b - a; }
  static auto eval_saturating(auto a, auto b) { return v_sub_u32::eval_saturating(b, a); }
};
struct v_add3_u32 : Op<u32(u32, u32, u32), BitRule::sum> {
  static auto eval(auto a, auto b, auto c) { return a + b + c; }
};
struct v_lshl_add_u32 : Op<u32(u32, u32, u32), BitRule::shift_left_add> {
  static auto eval(auto a, auto b, auto c) { return (a << (b & 31u)) + c; }
};
struct v_add_lshl_u32 : Op<u32(u32, u32, u32), BitRule::add_shift_left> {
  static auto eval(auto a, auto b, auto c) { return (a + b) << (c & 31u); }
};
struct v_lshl_add_u64 : Op<u64(u64, u32, u64), BitRule::shift_left_add> {
  static auto eval(auto a, auto b, auto c) {
    return (a << __builtin_convertvector(b & 7u, U64)) + c;
  }
};
struct v_xad_u32 : Op<u32(u32, u32, u32), BitRule::xor_add> {
  static auto eval(auto a, auto b, auto c) { return (a ^ b) + c; }
};

struct v_add_co_u32 : Op<with_mask<u32>(u32, u32), BitRule::sum> {
  static ValueAndMask<u32> eval(auto a, auto b) {
    const U32 sum = a + b;
    return {sum, sum < a};
  }
};
struct v_sub_co_u32 : Op<with_mask<u32>(u32, u32), BitRule::difference> {
  static ValueAndMask<u32> eval(auto a, auto b) { return {a - b, a < b}; }
};
struct v_subrev_co_u32 : Op<with_mask<u32>(u32, u32), BitRule::difference> {
  static ValueAndMask<u32> eval(auto a, auto b) { return {b - a, b < a}; }
};
struct v_addc_co_u32 : Op<with_mask<u32>(u32, u32, mask), BitRule::sum> {
  static constexpr bool kReadsVcc = true;
  static ValueAndMask<u32> eval(auto a, auto b, auto carry) {
    const U32 partial = a + b;
    const U32 sum = partial - as<U32>(carry);  // carry is 0 or -1
    return {sum, (partial < a) | (sum < partial)};
  }
};
struct v_subb_co_u32 : Op<with_mask<u32>(u32, u32, mask), BitRule::difference> {
  static constexpr bool kReadsVcc = true;
  static ValueAndMask<u32> eval(auto a, auto b, auto borrow) {
    const U32 partial = a - b;
    return {partial + as<U32>(borrow), (a < b) | ((partial == 0u) & borrow)};
  }
};
struct v_subbrev_co_u32 : Op<with_mask<u32>(u32, u32, mask), BitRule::difference> {
  static constexpr bool kReadsVcc = true;
  static ValueAndMask<u32> eval(auto a, auto b, auto borrow) {
    return v_subb_co_u32::eval(b, a, borrow);
  }
};

/// The limit of the range with the sign of `like`.
[[nodiscard]] inline I32 signed_limit(I32 like) { return (like >> 31) ^ 0x7fffffff; }
struct v_add_i32 : Op<i32(i32, i32), BitRule::sum> {
  static auto eval(auto a, auto b) { return as<I32>(as<U32>(a) + as<U32>(b)); }
  static auto eval_saturating(auto a, auto b) {
    const I32 sum = eval(a, b);
    return select(((a ^ sum) & (b ^ sum)) < 0, signed_limit(a), sum);
  }
};
struct v_sub_i32 : Op<i32(i32, i32), BitRule::difference> {
  static auto eval(auto a, auto b) { return as<I32>(as<U32>(a) - as<U32>(b)); }
  static auto eval_saturating(auto a, auto b) {
    const I32 difference = eval(a, b);
    return select(((a ^ b) & (a ^ difference)) < 0, signed_limit(a), difference);
  }
};

// ---- Multiplication -------------------------------------------------------------------------

[[nodiscard]] inline U64 widen(U32 a) { return __builtin_convertvector(a, U64); }
[[nodiscard]] inline I64 widen(I32 a) { return __builtin_convertvector(a, I64); }
/// The low 24 bits, as unsigned and as signed numbers.
[[nodiscard]] inline U32 low24(U32 a) { return a & 0xffffffu; }
[[nodiscard]] inline I32 low24(I32 a) { return as<I32>(as<U32>(a) << 8) >> 8; }

struct v_mul_lo_u32 : Op<u32(u32, u32), BitRule::product> {
  static auto eval(auto a, auto b) { return a * b; }
};
struct v_mul_hi_u32 : Op<u32(u32, u32), BitRule::whole> {
  static auto eval(auto a, auto b) { return high_half(widen(a) * widen(b)); }
};
struct v_mul_hi_i32 : Op<i32(i32, i32), BitRule::whole> {
  static auto eval(auto a, auto b) { return as<I32>(high_half(as<U64>(widen(a) * widen(b)))); }
};
struct v_mul_i32_i24 : Op<i32(i24, i24), BitRule::product> {
  static auto eval(auto a, auto b) { return as<I32>(as<U32>(low24(a)) * as<U32>(low24(b))); }
};
struct v_mul_hi_i32_i24 : Op<i32(i24, i24), BitRule::whole> {
  static auto eval(auto a, auto b) {
    return as<I32>(high_half(as<U64>(widen(low24(a)) * widen(low24(b)))));
  }
};
struct v_mul_u32_u24 : Op<u32(u24, u24), BitRule::product> {
  static auto eval(auto a, auto b) { return low24(a) * low24(b); }
};
struct v_mul_hi_u32_u24 : Op<u32(u24, u24), BitRule::whole> {
  static auto eval(auto a, auto b) { return high_half(widen(low24(a)) * widen(low24(b))); }
};
struct v_mad_u32_u24 : Op<u32(u24, u24, u32), BitRule::product> {
  static auto eval(auto a, auto b, auto c) { return low24(a) * low24(b) + c; }
};
struct v_mad_i32_i24 : Op<i32(i24, i24, i32), BitRule::product> {
  static auto eval(auto a, auto b, auto c) {
    return as<I32>(as<U32>(low24(a)) * as<U32>(low24(b)) + as<U32>(c));
  }
};
struct v_mad_u64_u32 : Op<with_mask<u64>(u32, u32, u64), BitRule::product> {
  static ValueAndMask<u64> eval(auto a, auto b, auto c) {
    const U64 product = widen(a) * widen(b);
    const U64 sum = product + c;
    return {sum, narrow(sum < product)};
  }
};
struct v_mad_i64_i32 : Op<with_mask<i64>(i32, i32, i64), BitRule::product> {
  static ValueAndMask<i64> eval(auto a, auto b, auto c) {
    const I64 product = widen(a) * widen(b);
    const I64 sum = as<I64>(as<U64>(product) + as<U64>(c));
    const I64 overflow = ((product ^ sum) & (c ^ sum)) < 0;
    return {sum, narrow(overflow)};
  }
};

// ---- Shifts and bits ------------------------------------------------------------------------

struct v_lshlrev_b32 : Op<b32(u32, b32), BitRule::shift_left, Order::reversed> {
  static auto eval(auto shift, auto a) { return a << (shift & 31u); }
};
struct v_lshrrev_b32 : Op<b32(u32, b32), BitRule::shift_right, Order::reversed> {
  static auto eval(auto shift, auto a) { return a >> (shift & 31u); }
};
struct v_ashrrev_i32 : Op<i32(u32, i32), BitRule::shift_right_signed, Order::reversed> {
  static auto eval(auto shift, auto a) { return a >> as<I32>(shift & 31u); }
};
struct v_lshlrev_b64 : Op<b64(u32, b64), BitRule::shift_left, Order::reversed> {
  static auto eval(auto shift, auto a) { return a << widen(shift & 63u); }
};
struct v_lshrrev_b64 : Op<b64(u32, b64), BitRule::shift_right, Order::reversed> {
  static auto eval(auto shift, auto a) { return a >> widen(shift & 63u); }
};
struct v_ashrrev_i64 : Op<i64(u32, i64), BitRule::shift_right_signed, Order::reversed> {
  static auto eval(auto shift, auto a) { return a >> as<I64>(widen(shift & 63u)); }
};
struct v_and_b32 : Op<b32(b32, b32), BitRule::bit_and> {
  static auto eval(auto a, auto b) { return a & b; }
};
struct v_or_b32 : Op<b32(b32, b32), BitRule::bit_or> {
  static auto eval(auto a, auto b) { return a | b; }
};
struct v_xor_b32 : Op<b32(b32, b32), BitRule::bit_xor> {
  static auto eval(auto a, auto b) { return a ^ b; }
};
struct v_xnor_b32 : Op<b32(b32, b32), BitRule::bit_xor> {
  static auto eval(auto a, auto b) { return ~(a ^ b); }
};
struct v_or3_b32 : Op<b32(b32, b32, b32), BitRule::or3> {
  static auto eval(auto a, auto b, auto c) { return a | b | c; }
};
struct v_and_or_b32 : Op<b32(b32, b32, b32), BitRule::and_or> {
  static auto eval(auto a, auto b, auto c) { return (a & b) | c; }
};
struct v_lshl_or_b32 : Op<b32(b32, u32, b32), BitRule::shift_left_or> {
  static auto eval(auto a, auto b, auto c) { return (a << (b & 31u)) | c; }
};
struct v_bfi_b32 : Op<b32(b32, b32, b32), BitRule::bfi> {
  static auto eval(auto select_bits, auto a, auto b) {
    return (select_bits & a) | (~select_bits & b);
  }
};
struct v_bfm_b32 : Op<b32(u32, u32), BitRule::mask_of> {
  static auto eval(auto width, auto offset) {
    return ((1u << (width & 31u)) - 1u) << (offset & 31u);
  }
};
struct v_bfe_u32 : Op<u32(u32, u32, u32), BitRule::extract> {
  static auto eval(auto a, auto offset, auto width) {
    return (a >> (offset & 31u)) & ((1u << (width & 31u)) - 1u);
  }
};
struct v_bfe_i32 : Op<i32(i32, u32, u32), BitRule::extract_signed> {
  static auto eval(auto a, auto offset, auto width) {
    // The shift is arithmetic: a field that reaches beyond bit 31 is filled with the sign.
    const U32 kept = as<U32>(a >> as<I32>(offset & 31u)) & ((1u << (width & 31u)) - 1u);
    const U32 unused = (32u - (width & 31u)) & 31u;
    const I32 extended = as<I32>(kept << unused) >> as<I32>(unused);
    return select((width & 31u) == 0u, I32{}, extended);
  }
};
struct v_alignbit_b32 : Op<b32(b32, b32, u32), BitRule::align_bit> {
  static auto eval(auto high, auto low, auto shift) {
    return low_half(join(low, high) >> widen(shift & 31u));
  }
};
struct v_alignbyte_b32 : Op<b32(b32, b32, u32), BitRule::align_byte> {
  static auto eval(auto high, auto low, auto bytes) {
    return low_half(join(low, high) >> widen((bytes & 3u) * 8u));
  }
};
struct v_perm_b32 : Op<b32(b32, b32, b32), BitRule::permute> {
  /// Selector values: 0-7 a byte of {a, b} (b is the low half), 8-11 a sign byte, 12 zero, >12
  /// 0xff.
  static std::uint32_t one(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
    const std::uint64_t data = (std::uint64_t{a} << 32) | b;
    std::uint32_t out = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const std::uint32_t select_byte = (selector >> (8 * byte)) & 0xffu;
      std::uint32_t value;
      if (select_byte > 12)
        value = 0xff;
      else if (select_byte == 12)
        value = 0;
      else if (select_byte >= 8)
        value = (data >> (16 * (select_byte - 8) + 15)) & 1 ? 0xff : 0;
      else
        value = (data >> (8 * select_byte)) & 0xff;
      out |= value << (8 * byte);
    }
    return out;
  }
  static U32 eval(U32 a, U32 b, U32 selector) {
    // The selector is nearly always one constant for all lanes, naming bytes 0-7: four shifts.
    const std::uint32_t first = selector[0];
    const bool plain = (first & 0xf8f8f8f8u) == 0;
    if (plain && to_bits(selector == first) == (1u << kLanes) - 1u) {
      U32 out{};
      for (int byte = 0; byte < 4; ++byte) {
        const std::uint32_t select_byte = (first >> (8 * byte)) & 7u;
        const U32 from = select_byte >= 4 ? a : b;
        out |= ((from >> (8 * (select_byte & 3u))) & 0xffu) << (8 * byte);
      }
      return out;
    }
    return per_lane<std::uint32_t>(one, a, b, selector);
  }
};
struct v_bfrev_b32 : Op<b32(b32), BitRule::reverse> {
  static auto eval(auto a) {
    a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
    a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
    a = ((a >> 4) & 0x0f0f0f0fu) | ((a & 0x0f0f0f0fu) << 4);
    a = ((a >> 8) & 0x00ff00ffu) | ((a & 0x00ff00ffu) << 8);
    return (a >> 16) | (a << 16);
  }
};
struct v_ffbh_u32 : Op<u32(u32), BitRule::whole> {
  static U32 eval(U32 a) {
    return per_lane<std::uint32_t>(
        [](std::uint32_t x) { return x == 0 ? ~0u : static_cast<std::uint32_t>(__builtin_clz(x)); },
        a);
  }
};
struct v_ffbl_b32 : Op<b32(b32), BitRule::whole> {
  static U32 eval(U32 a) {
    return per_lane<std::uint32_t>(
        [](std::uint32_t x) { return x == 0 ? ~0u : static_cast<std::uint32_t>(__builtin_ctz(x)); },
        a);
  }
};
struct v_ffbh_i32 : Op<u32(i32), BitRule::whole> {
  static U32 eval(I32 a) { return v_ffbh_u32::eval(as<U32>(a ^ (a >> 31))); }
};
struct v_bcnt_u32_b32 : Op<u32(u32, u32), BitRule::whole> {
  static U32 eval(U32 a, U32 b) {
    return b +
           per_lane<std::uint32_t>(
               [](std::uint32_t x) { return static_cast<std::uint32_t>(__builtin_popcount(x)); },
               a);
  }
};

// ---- Minimum and maximum --------------------------------------------------------------------

template <typename V>
[[nodiscard]] inline V smaller(V a, V b) {
  return select(a < b, a, b);
}
template <typename V>
[[nodiscard]] inline V larger(V a, V b) {
  return select(a > b, a, b);
}

struct v_min_i32 : Op<i32(i32, i32), BitRule::whole> {
  static auto eval(auto a, auto b) { return smaller(a, b); }
};
struct v_max_i32 : Op<i32(i32, i32), BitRule::whole> {
  static auto eval(auto a, auto b) { return larger(a, b); }
};
struct v_min_u32 : Op<u32(u32, u32), BitRule::whole> {
  static auto eval(auto a, auto b) { return smaller(a, b); }
};
struct v_max_u32 : Op<u32(u32, u32), BitRule::whole> {
  static auto eval(auto a, auto b) { return larger(a, b); }
};
struct v_min3_i32 : Op<i32(i32, i32, i32), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return smaller(smaller(a, b), c); }
};
struct v_max3_i32 : Op<i32(i32, i32, i32), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return larger(larger(a, b), c); }
};
struct v_min3_u32 : Op<u32(u32, u32, u32), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return smaller(smaller(a, b), c); }
};
struct v_max3_u32 : Op<u32(u32, u32, u32), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return larger(larger(a, b), c); }
};
template <typename V>
[[nodiscard]] inline V median(V a, V b, V c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}
struct v_med3_i32 : Op<i32(i32, i32, i32), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return median(a, b, c); }
};
struct v_med3_u32 : Op<u32(u32, u32, u32), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return median(a, b, c); }
};
struct v_sad_u32 : Op<u32(u32, u32, u32), BitRule::whole> {
  static auto eval(auto a, auto b, auto c) { return larger(a, b) - smaller(a, b) + c; }
};

using IntegerRows =
    Rows<v_mov_b32, v_mov_b64, v_not_b32, v_cndmask_b32, v_add_u32, v_sub_u32, v_subrev_u32,
         v_add3_u32, v_lshl_add_u32, v_add_lshl_u32, v_lshl_add_u64, v_xad_u32, v_add_co_u32,
         v_sub_co_u32, v_subrev_co_u32, v_addc_co_u32, v_subb_co_u32, v_subbrev_co_u32, v_add_i32,
         v_sub_i32, v_mul_lo_u32, v_mul_hi_u32, v_mul_hi_i32, v_mul_i32_i24, v_mul_hi_i32_i24,
         v_mul_u32_u24, v_mul_hi_u32_u24, v_mad_u32_u24, v_mad_i32_i24, v_mad_u64_u32,
         v_mad_i64_i32, v_lshlrev_b32, v_lshrrev_b32, v_ashrrev_i32, v_lshlrev_b64, v_lshrrev_b64,
         v_ashrrev_i64, v_and_b32, v_or_b32, v_xor_b32, v_xnor_b32, v_or3_b32, v_and_or_b32,
         v_lshl_or_b32, v_bfi_b32, v_bfm_b32, v_bfe_u32, v_bfe_i32, v_alignbit_b32, v_alignbyte_b32,
         v_perm_b32, v_bfrev_b32, v_ffbh_u32, v_ffbl_b32, v_ffbh_i32, v_bcnt_u32_b32, v_min_i32,
         v_max_i32, v_min_u32, v_max_u32, v_min3_i32, v_max3_i32, v_min3_u32, v_max3_u32,
         v_med3_i32, v_med3_u32, v_sad_u32>;

}  // namespace margay::MARGAY_HOST_LEVEL
