// What becomes of undefined bits in an instruction of the vector or scalar ALU: which bits of the
// result depend on them. A pure function of the operands' values and undefined bits, one lane at a
// time; operands as the instruction sees them, after SDWA, DPP and op_sel have chosen them.
//
// Moves, bitwise operations, shifts, permutations and packing are exact. Sums and products are
// undefined from the lowest undefined bit upward. Comparisons of integers are undefined when
// undefined bits can change them. All other results depend wholly on every operand. A result may be
// called undefined without need, never defined without reason; tests/unit/observe/undefined_test
// changes undefined bits of real instructions and looks.
#pragma once

#include <cstdint>

#include "exec/instruction.h"

namespace margay::check {

enum class BitRule : std::uint8_t {
  defined,  ///< Does not depend on its operands (v_cmp_t).
  whole,
  copy,
  bit_and,
  bit_or,
  bit_xor,
  and_not,  ///< a & ~b
  or_not,   ///< a | ~b
  not_and,  ///< ~a & b
  not_or,   ///< ~a | b
  and_or,   ///< (a & b) | c
  or3,
  bfi,  ///< (a & b) | (~a & c)
  sum,
  product,  ///< a * b + c
  shift_left,
  shift_right,
  shift_right_signed,
  shift_left_or,   ///< (a << b) | c
  shift_left_add,  ///< (a << b) + c
  add_shift_left,  ///< (a + b) << c
  xor_add,         ///< (a ^ b) + c
  extract,         ///< Of a, c bits from bit b on.
  extract_signed,
  scalar_extract,  ///< The same with both numbers in b.
  scalar_extract_signed,
  extend8,
  extend16,
  align_bit,   ///< ({a, b} >> c), low half
  align_byte,  ///< ({a, b} >> 8 * c), low half
  permute,     ///< v_perm_b32
  reverse,
  mask_of,  ///< v_bfm: a ones from bit b on.
  select,   ///< c ? b : a
  compare,
  pack,         ///< Half a below half b.
  halves,       ///< Packed 16-bit numbers: each half of the result from that half of each operand.
  bytes2,       ///< Two bytes of 8-bit floats from two operands.
  from_fp8,     ///< Two f32 from two bytes.
  insert_byte,  ///< v_cvt_pk_u8_f32
  test_bit,     ///< Bit b of a.
  set_bit,      ///< s_bitset: the bit a of the destination, b.
  pack_low_high,   ///< s_pack_lh
  pack_high_high,  ///< s_pack_hh
};

enum class Comparison : std::uint8_t { none, equal, below, below_equal, above, above_equal };

struct ResultRule {
  BitRule rule = BitRule::whole;
  std::uint8_t width = 32;          ///< Of the result, in bits.
  std::uint8_t operand_width = 32;  ///< Of shifts' and comparisons' first operand.
  bool reversed = false;            ///< The first two operands change places ("rev").
  bool is_signed = false;           ///< Comparisons.
  bool computes = true;             ///< No mere move: what comes out was never in memory as such.
  Comparison comparison = Comparison::none;
  std::uint64_t relevant[3] = {~0ull, ~0ull, ~0ull};  ///< Bits of each operand that are looked at.
};

/// The rule of an instruction of the ALUs.
[[nodiscard]] ResultRule result_rule(const Instruction& instruction);

struct OperandBits {
  std::uint64_t value = 0, undefined = 0;
};
/// The undefined bits of the result; comparisons: not 0 when the outcome is undefined.
[[nodiscard]] std::uint64_t undefined_result(const ResultRule& rule,
                                             const OperandBits (&operands)[3]);

/// All bits from the lowest set one upward.
[[nodiscard]] constexpr std::uint64_t upward(std::uint64_t bits) { return bits | (0 - bits); }
[[nodiscard]] constexpr std::uint64_t low_ones(unsigned count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace margay::check
