// The scalar ALU: SOP1, SOP2, SOPK and SOPC as pure functions on 32- and 64-bit values and SCC.
// Source: MI300 ISA guide, sections 12.1 to 12.5.
//
//   struct s_add_u32 : ScalarOp<u32(u32, u32), BitRule::sum> {
//     static u32 eval(u32 a, u32 b, bool& scc) {...}
//   };
//
// The BitRule after the types says what undefined bits of the operands do to the result. What a row
// does to SCC follows from the parameters of its eval after the sources: nothing, `bool scc`
// (read), `bool& scc` (written), or both in this order. Rows that read or write other state (EXEC,
// the program counter, hardware registers) are in src/exec/instructions/salu.cpp and
// src/exec/instructions/flow.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "isa/traits.h"
#include "isa/type_name.h"

namespace margay::scalar {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <typename Signature, auto... traits>
struct ScalarOp;
template <typename D, typename... S, auto... traits>
struct ScalarOp<D(S...), traits...> {
  static_assert(kTraitsAreKnown<traits...>, "a trait that no row has");
  static_assert(kStated<BitRule, traits...> == 1,
                "an instruction says which BitRule undefined bits follow");
  static constexpr auto kBitRule = trait_or<BitRule, traits...>(BitRule::whole);
  static constexpr auto kComparison = trait_or<Comparison, traits...>(Comparison::none);
  static constexpr auto kOrder = trait_or<Order, traits...>(Order::as_written);
  static_assert((kBitRule == BitRule::compare) == (kComparison != Comparison::none));
  using Result = D;
  static constexpr int kSources = sizeof...(S);
  template <int n>
  static constexpr bool is_wide_source() {
    constexpr bool wide[] = {(sizeof(S) == 8)..., false};
    return wide[n];
  }
  /// s_cmpk-like: the last source is the 16-bit immediate.
  static constexpr bool kSignedImmediate = true;
};
/// No register result: SCC only.
struct nothing {};

// ---- Addition and multiplication ------------------------------------------------------------

struct s_add_u32 : ScalarOp<u32(u32, u32), BitRule::sum> {
  static u32 eval(u32 a, u32 b, bool& scc) {
    scc = a + b < a;
    return a + b;
  }
};
struct s_sub_u32 : ScalarOp<u32(u32, u32), BitRule::difference> {
  static u32 eval(u32 a, u32 b, bool& scc) {
    scc = a < b;
    return a - b;
  }
};
struct s_add_i32 : ScalarOp<i32(i32, i32), BitRule::sum> {
  static i32 eval(i32 a, i32 b, bool& scc) {
    i32 r;
    scc = __builtin_add_overflow(a, b, &r);
    return r;
  }
};
struct s_sub_i32 : ScalarOp<i32(i32, i32), BitRule::difference> {
  static i32 eval(i32 a, i32 b, bool& scc) {
    i32 r;
    scc = __builtin_sub_overflow(a, b, &r);
    return r;
  }
};
struct s_addc_u32 : ScalarOp<u32(u32, u32), BitRule::sum> {
  static u32 eval(u32 a, u32 b, bool carry, bool& scc) {
    const u64 sum = u64{a} + b + carry;
    scc = sum >> 32 != 0;
    return static_cast<u32>(sum);
  }
};
struct s_subb_u32 : ScalarOp<u32(u32, u32), BitRule::difference> {
  static u32 eval(u32 a, u32 b, bool borrow, bool& scc) {
    const u64 subtrahend = u64{b} + borrow;
    scc = subtrahend > a;
    return static_cast<u32>(a - subtrahend);
  }
};
struct s_mul_i32 : ScalarOp<u32(u32, u32), BitRule::product> {
  static u32 eval(u32 a, u32 b) { return a * b; }
};
struct s_mul_hi_u32 : ScalarOp<u32(u32, u32), BitRule::whole> {
  static u32 eval(u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }
};
struct s_mul_hi_i32 : ScalarOp<i32(i32, i32), BitRule::whole> {
  static i32 eval(i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }
};
struct s_absdiff_i32 : ScalarOp<u32(i32, i32), BitRule::whole> {
  static u32 eval(i32 a, i32 b, bool& scc) {
    const u32 d = static_cast<u32>(a) - static_cast<u32>(b);
    const u32 r = static_cast<i32>(d) < 0 ? 0u - d : d;
    scc = r != 0;
    return r;
  }
};
template <int shift>
struct ShiftAdd : ScalarOp<u32(u32, u32), BitRule::sum> {
  static u32 eval(u32 a, u32 b, bool& scc) {
    const u64 sum = (u64{a} << shift) + b;
    scc = sum >> 32 != 0;
    return static_cast<u32>(sum);
  }
};
struct s_lshl1_add_u32 : ShiftAdd<1> {};
struct s_lshl2_add_u32 : ShiftAdd<2> {};
struct s_lshl3_add_u32 : ShiftAdd<3> {};
struct s_lshl4_add_u32 : ShiftAdd<4> {};
struct s_min_i32 : ScalarOp<i32(i32, i32), BitRule::whole> {
  static i32 eval(i32 a, i32 b, bool& scc) {
    scc = a < b;
    return scc ? a : b;
  }
};
struct s_min_u32 : ScalarOp<u32(u32, u32), BitRule::whole> {
  static u32 eval(u32 a, u32 b, bool& scc) {
    scc = a < b;
    return scc ? a : b;
  }
};
struct s_max_i32 : ScalarOp<i32(i32, i32), BitRule::whole> {
  static i32 eval(i32 a, i32 b, bool& scc) {
    scc = a > b;
    return scc ? a : b;
  }
};
struct s_max_u32 : ScalarOp<u32(u32, u32), BitRule::whole> {
  static u32 eval(u32 a, u32 b, bool& scc) {
    scc = a > b;
    return scc ? a : b;
  }
};
struct s_abs_i32 : ScalarOp<u32(u32), BitRule::whole> {
  static u32 eval(u32 a, bool& scc) {
    const u32 r = static_cast<i32>(a) < 0 ? 0u - a : a;
    scc = r != 0;
    return r;
  }
};

// ---- Logic and shifts: SCC says whether the result is not zero ----------------------------------

template <typename T>
[[nodiscard]] inline T nonzero(T value, bool& scc) {
  scc = value != 0;
  return value;
}

struct s_and_b32 : ScalarOp<u32(u32, u32), BitRule::bit_and> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(a & b, scc); }
};
struct s_and_b64 : ScalarOp<u64(u64, u64), BitRule::bit_and> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(a & b, scc); }
};
struct s_or_b32 : ScalarOp<u32(u32, u32), BitRule::bit_or> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(a | b, scc); }
};
struct s_or_b64 : ScalarOp<u64(u64, u64), BitRule::bit_or> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(a | b, scc); }
};
struct s_xor_b32 : ScalarOp<u32(u32, u32), BitRule::bit_xor> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(a ^ b, scc); }
};
struct s_xor_b64 : ScalarOp<u64(u64, u64), BitRule::bit_xor> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(a ^ b, scc); }
};
struct s_andn2_b32 : ScalarOp<u32(u32, u32), BitRule::and_not> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(a & ~b, scc); }
};
struct s_andn2_b64 : ScalarOp<u64(u64, u64), BitRule::and_not> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(a & ~b, scc); }
};
struct s_orn2_b32 : ScalarOp<u32(u32, u32), BitRule::or_not> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(a | ~b, scc); }
};
struct s_orn2_b64 : ScalarOp<u64(u64, u64), BitRule::or_not> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(a | ~b, scc); }
};
struct s_nand_b32 : ScalarOp<u32(u32, u32), BitRule::bit_and> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(~(a & b), scc); }
};
struct s_nand_b64 : ScalarOp<u64(u64, u64), BitRule::bit_and> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(~(a & b), scc); }
};
struct s_nor_b32 : ScalarOp<u32(u32, u32), BitRule::bit_or> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(~(a | b), scc); }
};
struct s_nor_b64 : ScalarOp<u64(u64, u64), BitRule::bit_or> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(~(a | b), scc); }
};
struct s_xnor_b32 : ScalarOp<u32(u32, u32), BitRule::bit_xor> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(~(a ^ b), scc); }
};
struct s_xnor_b64 : ScalarOp<u64(u64, u64), BitRule::bit_xor> {
  static u64 eval(u64 a, u64 b, bool& scc) { return nonzero(~(a ^ b), scc); }
};
struct s_not_b32 : ScalarOp<u32(u32), BitRule::copy> {
  static u32 eval(u32 a, bool& scc) { return nonzero(~a, scc); }
};
struct s_not_b64 : ScalarOp<u64(u64), BitRule::copy> {
  static u64 eval(u64 a, bool& scc) { return nonzero(~a, scc); }
};

struct s_lshl_b32 : ScalarOp<u32(u32, u32), BitRule::shift_left> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(a << (b & 31), scc); }
};
struct s_lshl_b64 : ScalarOp<u64(u64, u32), BitRule::shift_left> {
  static u64 eval(u64 a, u32 b, bool& scc) { return nonzero(a << (b & 63), scc); }
};
struct s_lshr_b32 : ScalarOp<u32(u32, u32), BitRule::shift_right> {
  static u32 eval(u32 a, u32 b, bool& scc) { return nonzero(a >> (b & 31), scc); }
};
struct s_lshr_b64 : ScalarOp<u64(u64, u32), BitRule::shift_right> {
  static u64 eval(u64 a, u32 b, bool& scc) { return nonzero(a >> (b & 63), scc); }
};
struct s_ashr_i32 : ScalarOp<i32(i32, u32), BitRule::shift_right_signed> {
  static i32 eval(i32 a, u32 b, bool& scc) { return nonzero(a >> (b & 31), scc); }
};
struct s_ashr_i64 : ScalarOp<i64(i64, u32), BitRule::shift_right_signed> {
  static i64 eval(i64 a, u32 b, bool& scc) { return nonzero(a >> (b & 63), scc); }
};
struct s_bfm_b32 : ScalarOp<u32(u32, u32), BitRule::mask_of> {
  static u32 eval(u32 width, u32 offset) { return ((u32{1} << (width & 31)) - 1) << (offset & 31); }
};
struct s_bfm_b64 : ScalarOp<u64(u32, u32), BitRule::mask_of> {
  static u64 eval(u32 width, u32 offset) { return ((u64{1} << (width & 63)) - 1) << (offset & 63); }
};
/// Bit-field extract: offset in the low bits of b, width in b[22:16].
template <typename T>
[[nodiscard]] inline T bit_field(T a, u32 b, bool& scc) {
  constexpr u32 size = sizeof(T) * 8;
  const u32 offset = b & (size - 1);
  u32 width = (b >> 16) & 0x7f;
  if (width == 0) return nonzero(T{0}, scc);
  if (width > size - offset) width = size - offset;
  using U = std::conditional_t<sizeof(T) == 8, u64, u32>;
  const U top = static_cast<U>(a) << (size - offset - width);
  return nonzero(static_cast<T>(static_cast<T>(top) >> (size - width)), scc);
}
struct s_bfe_u32 : ScalarOp<u32(u32, u32), BitRule::scalar_extract> {
  static u32 eval(u32 a, u32 b, bool& scc) { return bit_field(a, b, scc); }
};
struct s_bfe_i32 : ScalarOp<i32(i32, u32), BitRule::scalar_extract_signed> {
  static i32 eval(i32 a, u32 b, bool& scc) { return bit_field(a, b, scc); }
};
struct s_bfe_u64 : ScalarOp<u64(u64, u32), BitRule::scalar_extract> {
  static u64 eval(u64 a, u32 b, bool& scc) { return bit_field(a, b, scc); }
};
struct s_bfe_i64 : ScalarOp<i64(i64, u32), BitRule::scalar_extract_signed> {
  static i64 eval(i64 a, u32 b, bool& scc) { return bit_field(a, b, scc); }
};
struct s_pack_ll_b32_b16 : ScalarOp<u32(u32, u32), BitRule::pack> {
  static u32 eval(u32 a, u32 b) { return (a & 0xffff) | (b << 16); }
};
struct s_pack_lh_b32_b16 : ScalarOp<u32(u32, u32), BitRule::pack_low_high> {
  static u32 eval(u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }
};
struct s_pack_hh_b32_b16 : ScalarOp<u32(u32, u32), BitRule::pack_high_high> {
  static u32 eval(u32 a, u32 b) { return (a >> 16) | (b & 0xffff0000); }
};

// ---- Moves, selection, counting -----------------------------------------------------------------

struct s_mov_b32 : ScalarOp<u32(u32), BitRule::copy> {
  static u32 eval(u32 a) { return a; }
};
struct s_mov_b64 : ScalarOp<u64(u64), BitRule::copy> {
  static u64 eval(u64 a) { return a; }
};
struct s_movk_i32 : ScalarOp<u32(u32), BitRule::copy> {
  static u32 eval(u32 a) { return a; }
};
struct s_cselect_b32 : ScalarOp<u32(u32, u32), BitRule::select, Order::reversed> {
  static u32 eval(u32 a, u32 b, bool scc) { return scc ? a : b; }
};
struct s_cselect_b64 : ScalarOp<u64(u64, u64), BitRule::select, Order::reversed> {
  static u64 eval(u64 a, u64 b, bool scc) { return scc ? a : b; }
};
struct s_brev_b32 : ScalarOp<u32(u32), BitRule::reverse> {
  static u32 eval(u32 a) {
    u32 r = 0;
    for (int i = 0; i < 32; ++i) r |= ((a >> i) & 1u) << (31 - i);
    return r;
  }
};
struct s_brev_b64 : ScalarOp<u64(u64), BitRule::reverse> {
  static u64 eval(u64 a) {
    u64 r = 0;
    for (int i = 0; i < 64; ++i) r |= ((a >> i) & 1u) << (63 - i);
    return r;
  }
};
struct s_bcnt0_i32_b32 : ScalarOp<u32(u32), BitRule::whole> {
  static u32 eval(u32 a, bool& scc) { return nonzero(static_cast<u32>(std::popcount(~a)), scc); }
};
struct s_bcnt0_i32_b64 : ScalarOp<u32(u64), BitRule::whole> {
  static u32 eval(u64 a, bool& scc) { return nonzero(static_cast<u32>(std::popcount(~a)), scc); }
};
struct s_bcnt1_i32_b32 : ScalarOp<u32(u32), BitRule::whole> {
  static u32 eval(u32 a, bool& scc) { return nonzero(static_cast<u32>(std::popcount(a)), scc); }
};
struct s_bcnt1_i32_b64 : ScalarOp<u32(u64), BitRule::whole> {
  static u32 eval(u64 a, bool& scc) { return nonzero(static_cast<u32>(std::popcount(a)), scc); }
};
struct s_ff0_i32_b32 : ScalarOp<u32(u32), BitRule::whole> {
  static u32 eval(u32 a) { return ~a ? static_cast<u32>(std::countr_one(a)) : ~0u; }
};
struct s_ff0_i32_b64 : ScalarOp<u32(u64), BitRule::whole> {
  static u32 eval(u64 a) { return ~a ? static_cast<u32>(std::countr_one(a)) : ~0u; }
};
struct s_ff1_i32_b32 : ScalarOp<u32(u32), BitRule::whole> {
  static u32 eval(u32 a) { return a ? static_cast<u32>(std::countr_zero(a)) : ~0u; }
};
struct s_ff1_i32_b64 : ScalarOp<u32(u64), BitRule::whole> {
  static u32 eval(u64 a) { return a ? static_cast<u32>(std::countr_zero(a)) : ~0u; }
};
struct s_flbit_i32_b32 : ScalarOp<u32(u32), BitRule::whole> {
  static u32 eval(u32 a) { return a ? static_cast<u32>(std::countl_zero(a)) : ~0u; }
};
struct s_flbit_i32_b64 : ScalarOp<u32(u64), BitRule::whole> {
  static u32 eval(u64 a) { return a ? static_cast<u32>(std::countl_zero(a)) : ~0u; }
};
/// Leading bits equal to the sign bit; all ones when every bit is.
struct s_flbit_i32 : ScalarOp<u32(i32), BitRule::whole> {
  static u32 eval(i32 a) { return s_flbit_i32_b32::eval(static_cast<u32>(a ^ (a >> 31))); }
};
struct s_flbit_i32_i64 : ScalarOp<u32(i64), BitRule::whole> {
  static u32 eval(i64 a) { return s_flbit_i32_b64::eval(static_cast<u64>(a ^ (a >> 63))); }
};
struct s_sext_i32_i8 : ScalarOp<u32(u32), BitRule::extend8> {
  static u32 eval(u32 a) { return static_cast<u32>(static_cast<std::int8_t>(a)); }
};
struct s_sext_i32_i16 : ScalarOp<u32(u32), BitRule::extend16> {
  static u32 eval(u32 a) { return static_cast<u32>(static_cast<std::int16_t>(a)); }
};
/// Each bit of the source twice.
struct s_bitreplicate_b64_b32 : ScalarOp<u64(u32), BitRule::whole> {
  static u64 eval(u32 a) {
    u64 r = 0;
    for (int i = 0; i < 32; ++i) r |= (u64{(a >> i) & 1u} * 3) << (2 * i);
    return r;
  }
};
/// Whole-quad mode: four bits set when any of them is.
template <typename T>
[[nodiscard]] inline T whole_quads(T a, bool& scc) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; i += 4) r |= ((a >> i) & 15) ? T{15} << i : 0;
  return nonzero(r, scc);
}
struct s_wqm_b32 : ScalarOp<u32(u32), BitRule::whole> {
  static u32 eval(u32 a, bool& scc) { return whole_quads(a, scc); }
};
struct s_wqm_b64 : ScalarOp<u64(u64), BitRule::whole> {
  static u64 eval(u64 a, bool& scc) { return whole_quads(a, scc); }
};

// ---- Comparison -----------------------------------------------------------------------------

template <typename Relation>
inline constexpr Comparison comparison_of = Comparison::equal;  // or its negation
template <>
inline constexpr Comparison comparison_of<std::less<>> = Comparison::below;
template <>
inline constexpr Comparison comparison_of<std::less_equal<>> = Comparison::below_equal;
template <>
inline constexpr Comparison comparison_of<std::greater<>> = Comparison::above;
template <>
inline constexpr Comparison comparison_of<std::greater_equal<>> = Comparison::above_equal;
template <typename T, typename Relation>
struct Compare : ScalarOp<nothing(T, T), BitRule::compare, comparison_of<Relation>> {
  static nothing eval(T a, T b, bool& scc) {
    scc = Relation{}(a, b);
    return {};
  }
};
struct s_cmp_eq_i32 : Compare<i32, std::equal_to<>> {};
struct s_cmp_lg_i32 : Compare<i32, std::not_equal_to<>> {};
struct s_cmp_gt_i32 : Compare<i32, std::greater<>> {};
struct s_cmp_ge_i32 : Compare<i32, std::greater_equal<>> {};
struct s_cmp_lt_i32 : Compare<i32, std::less<>> {};
struct s_cmp_le_i32 : Compare<i32, std::less_equal<>> {};
struct s_cmp_eq_u32 : Compare<u32, std::equal_to<>> {};
struct s_cmp_lg_u32 : Compare<u32, std::not_equal_to<>> {};
struct s_cmp_gt_u32 : Compare<u32, std::greater<>> {};
struct s_cmp_ge_u32 : Compare<u32, std::greater_equal<>> {};
struct s_cmp_lt_u32 : Compare<u32, std::less<>> {};
struct s_cmp_le_u32 : Compare<u32, std::less_equal<>> {};
struct s_cmp_eq_u64 : Compare<u64, std::equal_to<>> {};
struct s_cmp_lg_u64 : Compare<u64, std::not_equal_to<>> {};

/// SCC: whether bit b of a equals the value.
template <typename T, bool value>
struct TestBit : ScalarOp<nothing(T, u32), BitRule::test_bit> {
  static nothing eval(T a, u32 b, bool& scc) {
    scc = (a >> (b & (sizeof(T) * 8 - 1)) & 1) == value;
    return {};
  }
};
struct s_bitcmp0_b32 : TestBit<u32, false> {};
struct s_bitcmp1_b32 : TestBit<u32, true> {};
struct s_bitcmp0_b64 : TestBit<u64, false> {};
struct s_bitcmp1_b64 : TestBit<u64, true> {};

template <typename Row>
struct UnsignedImmediate : Row {
  static constexpr bool kSignedImmediate = false;
};
// SOPK comparisons: the register is the destination field, the immediate sign- or zero-extended.
struct s_cmpk_eq_i32 : s_cmp_eq_i32 {};
struct s_cmpk_lg_i32 : s_cmp_lg_i32 {};
struct s_cmpk_gt_i32 : s_cmp_gt_i32 {};
struct s_cmpk_ge_i32 : s_cmp_ge_i32 {};
struct s_cmpk_lt_i32 : s_cmp_lt_i32 {};
struct s_cmpk_le_i32 : s_cmp_le_i32 {};
struct s_cmpk_eq_u32 : UnsignedImmediate<s_cmp_eq_u32> {};
struct s_cmpk_lg_u32 : UnsignedImmediate<s_cmp_lg_u32> {};
struct s_cmpk_gt_u32 : UnsignedImmediate<s_cmp_gt_u32> {};
struct s_cmpk_ge_u32 : UnsignedImmediate<s_cmp_ge_u32> {};
struct s_cmpk_lt_u32 : UnsignedImmediate<s_cmp_lt_u32> {};
struct s_cmpk_le_u32 : UnsignedImmediate<s_cmp_le_u32> {};
// SOPK arithmetic: destination op immediate.
struct s_addk_i32 : s_add_i32 {};
struct s_mulk_i32 : s_mul_i32 {};

/// A bit for each group of four that is not all zeros.
template <typename T>
struct QuadMask : ScalarOp<T(T), BitRule::whole> {
  static T eval(T a, bool& scc) {
    T out = 0;
    for (unsigned n = 0; n < sizeof(T) * 2; ++n) out |= T{(a >> (4 * n) & 15) != 0} << n;
    scc = out != 0;
    return out;
  }
};
struct s_quadmask_b32 : QuadMask<u32> {};
struct s_quadmask_b64 : QuadMask<u64> {};

/// Every row of this file. The same one twice does not compile.
template <typename... R>
struct List {
  static_assert(all_different<sizeof...(R)>({type_name<R>()...}),
                "an instruction is in this list twice");
};
using Rows =
    List<s_add_u32, s_sub_u32, s_add_i32, s_sub_i32, s_addc_u32, s_subb_u32, s_mul_i32,
         s_mul_hi_u32, s_mul_hi_i32, s_absdiff_i32, s_lshl1_add_u32, s_lshl2_add_u32,
         s_lshl3_add_u32, s_lshl4_add_u32, s_min_i32, s_min_u32, s_max_i32, s_max_u32, s_abs_i32,
         s_and_b32, s_and_b64, s_or_b32, s_or_b64, s_xor_b32, s_xor_b64, s_andn2_b32, s_andn2_b64,
         s_orn2_b32, s_orn2_b64, s_nand_b32, s_nand_b64, s_nor_b32, s_nor_b64, s_xnor_b32,
         s_xnor_b64, s_not_b32, s_not_b64, s_lshl_b32, s_lshl_b64, s_lshr_b32, s_lshr_b64,
         s_ashr_i32, s_ashr_i64, s_bfm_b32, s_bfm_b64, s_bfe_u32, s_bfe_i32, s_bfe_u64, s_bfe_i64,
         s_pack_ll_b32_b16, s_pack_lh_b32_b16, s_pack_hh_b32_b16, s_mov_b32, s_mov_b64, s_movk_i32,
         s_cselect_b32, s_cselect_b64, s_brev_b32, s_brev_b64, s_bcnt0_i32_b32, s_bcnt0_i32_b64,
         s_bcnt1_i32_b32, s_bcnt1_i32_b64, s_ff0_i32_b32, s_ff0_i32_b64, s_ff1_i32_b32,
         s_ff1_i32_b64, s_flbit_i32_b32, s_flbit_i32_b64, s_flbit_i32, s_flbit_i32_i64,
         s_sext_i32_i8, s_sext_i32_i16, s_bitreplicate_b64_b32, s_wqm_b32, s_wqm_b64,
         s_quadmask_b32, s_quadmask_b64, s_cmp_eq_i32, s_cmp_lg_i32, s_cmp_gt_i32, s_cmp_ge_i32,
         s_cmp_lt_i32, s_cmp_le_i32, s_cmp_eq_u32, s_cmp_lg_u32, s_cmp_gt_u32, s_cmp_ge_u32,
         s_cmp_lt_u32, s_cmp_le_u32, s_cmp_eq_u64, s_cmp_lg_u64, s_bitcmp0_b32, s_bitcmp1_b32,
         s_bitcmp0_b64, s_bitcmp1_b64, s_cmpk_eq_i32, s_cmpk_lg_i32, s_cmpk_gt_i32, s_cmpk_ge_i32,
         s_cmpk_lt_i32, s_cmpk_le_i32, s_cmpk_eq_u32, s_cmpk_lg_u32, s_cmpk_gt_u32, s_cmpk_ge_u32,
         s_cmpk_lt_u32, s_cmpk_le_u32, s_addk_i32, s_mulk_i32>;

}  // namespace margay::scalar
