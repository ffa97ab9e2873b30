// Propagates undefined bits through an instruction of the vector or scalar ALU: which bits of the
// result depend on them. A pure function of the operands' values and undefined bits, one lane at a
// time; operands as the instruction sees them, after SDWA, DPP and op_sel have chosen them.
//
// Moves, bitwise operations, shifts, permutations and packing are exact. Sums and products are
// undefined from the lowest undefined bit upward. Comparisons of integers are undefined when
// undefined bits can change them. All other results depend entirely on every operand. The rules may
// overestimate undefined bits, but never underestimate them; tests/unit/observe/undefined_test
// checks this by changing undefined bits of real instructions.
#pragma once

#include <cstdint>

#include "exec/state/instruction.h"
#include "isa/traits.h"

namespace margay::check {

struct ResultRule {
  BitRule rule = BitRule::whole;
  std::uint8_t width = 32;          ///< Of the result, in bits.
  std::uint8_t operand_width = 32;  ///< Of shifts' and comparisons' first operand.
  bool reversed = false;            ///< The first two operands are swapped ("rev").
  bool is_signed = false;           ///< Comparisons.
  bool computes = true;             ///< Not a plain move: the result is computed.
  Comparison comparison = Comparison::none;
  std::uint64_t relevant[3] = {~0ull, ~0ull, ~0ull};  ///< Bits of each operand that are used.
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
