#include "observe/check/instructions/undefined_results.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "exec/rows/row_table.h"

namespace margay::check {
namespace {

/// Bitwise and moving rules: their results do not count as computed.
constexpr bool moves(BitRule rule) {
  switch (rule) {
    case BitRule::defined:
    case BitRule::copy:
    case BitRule::bit_and:
    case BitRule::bit_or:
    case BitRule::bit_xor:
    case BitRule::and_not:
    case BitRule::or_not:
    case BitRule::not_and:
    case BitRule::not_or:
    case BitRule::and_or:
    case BitRule::or3:
    case BitRule::bfi:
    case BitRule::shift_left:
    case BitRule::shift_right:
    case BitRule::shift_right_signed:
    case BitRule::shift_left_or:
    case BitRule::extract:
    case BitRule::extract_signed:
    case BitRule::scalar_extract:
    case BitRule::scalar_extract_signed:
    case BitRule::extend8:
    case BitRule::extend16:
    case BitRule::align_bit:
    case BitRule::align_byte:
    case BitRule::permute:
    case BitRule::reverse:
    case BitRule::pack_low_high:
    case BitRule::pack_high_high:
      return true;
    default:
      return false;
  }
}

unsigned width_of(OperandType type) {
  return is_16_bit(type) ? 16 : type == OperandType::u128 || is_64_bit(type) ? 64 : 32;
}

// ---- One lane -------------------------------------------------------------------------------

std::uint64_t bits_of_and(OperandBits a, OperandBits b) {
  return (a.undefined & b.undefined) | (a.undefined & b.value) | (b.undefined & a.value);
}
std::uint64_t bits_of_or(OperandBits a, OperandBits b) {
  return (a.undefined & b.undefined) | (a.undefined & ~b.value) | (b.undefined & ~a.value);
}
OperandBits operator~(OperandBits a) { return {~a.value, a.undefined}; }
OperandBits operator&(OperandBits a, OperandBits b) {
  return {a.value & b.value, bits_of_and(a, b)};
}
OperandBits operator|(OperandBits a, OperandBits b) {
  return {a.value | b.value, bits_of_or(a, b)};
}

std::int64_t extended(std::uint64_t value, unsigned width) {
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}
std::uint64_t any(std::uint64_t bits) { return bits != 0 ? ~std::uint64_t{0} : 0; }

/// Bits of a product that undefined bits affect: from the lowest one times the other operand's
/// lowest possible bit.
std::uint64_t product(OperandBits a, OperandBits b) {
  const auto reach = [](std::uint64_t undefined, OperandBits other) -> std::uint64_t {
    const std::uint64_t may_be_set = other.value | other.undefined;
    if (undefined == 0 || may_be_set == 0) return 0;
    const int lowest = std::countr_zero(undefined) + std::countr_zero(may_be_set);
    return lowest >= 64 ? 0 : ~std::uint64_t{0} << lowest;
  };
  return reach(a.undefined, b) | reach(b.undefined, a);
}

bool undefined_comparison(const ResultRule& r, OperandBits a, OperandBits b) {
  const std::uint64_t mask = low_ones(r.operand_width);
  a = {a.value & mask, a.undefined & mask};
  b = {b.value & mask, b.undefined & mask};
  const std::uint64_t undefined = a.undefined | b.undefined;
  if (undefined == 0) return false;
  if (r.comparison == Comparison::equal) return ((a.value ^ b.value) & ~undefined) == 0;
  // As unsigned numbers: flipping the sign bit of signed ones preserves the order.
  const std::uint64_t sign = r.is_signed ? std::uint64_t{1} << (r.operand_width - 1) : 0;
  const auto lowest = [&](OperandBits x) { return (x.value ^ sign) & ~x.undefined; };
  const auto highest = [&](OperandBits x) { return (x.value ^ sign) | x.undefined; };
  if (r.comparison == Comparison::above || r.comparison == Comparison::below_equal) std::swap(a, b);
  // a < b: always true if true in the worst case, never true if false in the best case.
  return !(highest(a) < lowest(b)) && lowest(a) < highest(b);
}

std::uint64_t permuted(const OperandBits (&o)[3]) {
  const std::uint64_t data = o[0].undefined << 32 | (o[1].undefined & 0xffffffffu);
  std::uint64_t out = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned selector = o[2].value >> (8 * n) & 0xff;
    std::uint64_t byte = 0;
    if ((o[2].undefined >> (8 * n) & 0xff) != 0)
      byte = 0xff;
    else if (selector < 8)
      byte = data >> (8 * selector) & 0xff;
    else if (selector < 12)  // a sign, eight times: bits 15, 31, 47 and 63
      byte = data >> (16 * (selector - 8) + 15) & 1 ? 0xff : 0;
    out |= byte << (8 * n);
  }
  return out;
}

std::uint64_t reversed_bits(std::uint64_t bits, unsigned width) {
  std::uint64_t out = 0;
  for (unsigned n = 0; n < width; ++n) out |= (bits >> n & 1) << (width - 1 - n);
  return out;
}

std::uint64_t extracted(const ResultRule& r, OperandBits a, unsigned offset, unsigned count,
                        bool is_signed) {
  const std::uint64_t mask = low_ones(r.operand_width);
  if (count == 0) return 0;
  // Beyond the operand's end there are copies of its sign, or zeros.
  const std::uint64_t wide =
      is_signed
          ? static_cast<std::uint64_t>(extended(a.undefined & mask, r.operand_width) >> offset)
          : (a.undefined & mask) >> offset;
  const std::uint64_t part = wide & low_ones(count);
  return is_signed ? static_cast<std::uint64_t>(extended(part, count)) : part;
}

}  // namespace

ResultRule result_rule(const Instruction& i) {
  const Row& row = *i.row;
  const Definedness& traits = row.definedness;
  ResultRule rule;
  rule.rule = traits.rule;
  rule.comparison = traits.comparison;
  rule.is_signed = traits.is_signed;
  rule.reversed = traits.order == Order::reversed;
  rule.computes = !moves(rule.rule);
  rule.width = static_cast<std::uint8_t>(width_of(row.result));
  const bool shifts = rule.reversed && rule.rule != BitRule::select;
  rule.operand_width = static_cast<std::uint8_t>(width_of(row.sources[shifts ? 1 : 0]));
  // Saturation may change every bit.
  const bool sums = rule.rule == BitRule::sum || rule.rule == BitRule::difference ||
                    rule.rule == BitRule::product;
  if (i.modifiers.clamp && sums) rule.rule = BitRule::whole;
  const bool changed = i.modifiers.negate || i.modifiers.absolute || i.modifiers.output;
  if (changed && rule.rule == BitRule::select) rule.rule = BitRule::whole;
  for (unsigned n = 0; n < 2; ++n)
    if (traits.looked_at[n] != ~0u) rule.relevant[n] = traits.looked_at[n];
  return rule;
}

std::uint64_t undefined_result(const ResultRule& r, const OperandBits (&given)[3]) {
  OperandBits o[3] = {given[0], given[1], given[2]};
  if (r.reversed) std::swap(o[0], o[1]);
  const unsigned n0 = r.reversed ? 1 : 0;
  o[0].undefined &= r.relevant[n0];
  o[1].undefined &= r.relevant[1 - n0];
  o[2].undefined &= r.relevant[2];
  const std::uint64_t mask = low_ones(r.width);
  const std::uint64_t all = o[0].undefined | o[1].undefined | o[2].undefined;
  const auto shift = static_cast<unsigned>(o[1].value & (r.operand_width - 1));
  const std::uint64_t amount_bits = r.operand_width - 1;
  switch (r.rule) {
    case BitRule::defined:
      return 0;
    case BitRule::whole:
      return any(all) & mask;
    case BitRule::copy:
      return o[0].undefined & mask;
    case BitRule::bit_and:
      return bits_of_and(o[0], o[1]) & mask;
    case BitRule::bit_or:
      return bits_of_or(o[0], o[1]) & mask;
    case BitRule::bit_xor:
      return (o[0].undefined | o[1].undefined) & mask;
    case BitRule::and_not:
      return bits_of_and(o[0], ~o[1]) & mask;
    case BitRule::or_not:
      return bits_of_or(o[0], ~o[1]) & mask;
    case BitRule::not_and:
      return bits_of_and(~o[0], o[1]) & mask;
    case BitRule::not_or:
      return bits_of_or(~o[0], o[1]) & mask;
    case BitRule::and_or:
      return ((o[0] & o[1]) | o[2]).undefined & mask;
    case BitRule::or3:
      return (o[0] | o[1] | o[2]).undefined & mask;
    case BitRule::bfi: {
      // If the selector is undefined the result is too, unless both sides are equal.
      const std::uint64_t chosen = (o[0].value & o[1].undefined) | (~o[0].value & o[2].undefined);
      const std::uint64_t unlike = (o[1].value ^ o[2].value) | o[1].undefined | o[2].undefined;
      return ((o[0].undefined & unlike) | (~o[0].undefined & chosen)) & mask;
    }
    case BitRule::sum:
    case BitRule::difference:
      return upward(all) & mask;
    case BitRule::product:
      return (upward(product(o[0], o[1])) | upward(o[2].undefined)) & mask;
    case BitRule::shift_left:
      if ((o[1].undefined & amount_bits) != 0) return mask;
      return o[0].undefined << shift & mask;
    case BitRule::shift_right:
      if ((o[1].undefined & amount_bits) != 0) return mask;
      return (o[0].undefined & low_ones(r.operand_width)) >> shift & mask;
    case BitRule::shift_right_signed:
      if ((o[1].undefined & amount_bits) != 0) return mask;
      return static_cast<std::uint64_t>(extended(o[0].undefined, r.operand_width) >> shift) & mask;
    case BitRule::shift_left_or:
    case BitRule::shift_left_add: {
      // For 64 bits only up to seven: v_lshl_add_u64 uses three bits of the amount.
      const std::uint64_t used = r.operand_width == 64 ? 7 : 31;
      const auto by = static_cast<unsigned>(o[1].value & used);
      const std::uint64_t moved = (o[1].undefined & used) != 0 ? mask : o[0].undefined << by;
      const OperandBits left{o[0].value << by, moved & mask};
      return r.rule == BitRule::shift_left_or ? (left | o[2]).undefined & mask
                                              : upward(left.undefined | o[2].undefined) & mask;
    }
    case BitRule::add_shift_left:
      if ((o[2].undefined & 31) != 0) return mask;
      return upward(o[0].undefined | o[1].undefined) << (o[2].value & 31) & mask;
    case BitRule::xor_add:
      return upward(all) & mask;
    case BitRule::extract:
    case BitRule::extract_signed:
      if (((o[1].undefined | o[2].undefined) & 31) != 0) return mask;
      return extracted(r, o[0], o[1].value & 31, o[2].value & 31,
                       r.rule == BitRule::extract_signed) &
             mask;
    case BitRule::scalar_extract:
    case BitRule::scalar_extract_signed: {
      if ((o[1].undefined & 0x7f003f) != 0) return mask;
      const auto offset = static_cast<unsigned>(o[1].value & amount_bits);
      const auto count =
          static_cast<unsigned>(std::min<std::uint64_t>(o[1].value >> 16 & 0x7f, r.operand_width));
      return extracted(r, o[0], offset, count, r.rule == BitRule::scalar_extract_signed) & mask;
    }
    case BitRule::extend8:
      return static_cast<std::uint64_t>(extended(o[0].undefined, 8)) & mask;
    case BitRule::extend16:
      return static_cast<std::uint64_t>(extended(o[0].undefined, 16)) & mask;
    case BitRule::align_bit:
    case BitRule::align_byte: {
      const bool bytes = r.rule == BitRule::align_byte;
      if ((o[2].undefined & (bytes ? 3 : 31)) != 0) return mask;
      const unsigned by = bytes ? 8 * (o[2].value & 3) : o[2].value & 31;
      return (o[0].undefined << 32 | (o[1].undefined & 0xffffffffu)) >> by & mask;
    }
    case BitRule::permute:
      return permuted(o);
    case BitRule::reverse:
      return reversed_bits(o[0].undefined, r.width) & mask;
    case BitRule::mask_of:
      return any((o[0].undefined | o[1].undefined) & (r.width - 1u)) & mask;
    case BitRule::conditional:  // operand 1 is the destination's old value
      std::swap(o[0], o[1]);
      [[fallthrough]];
    case BitRule::select: {
      const std::uint64_t chosen = o[2].value & 1 ? o[1].undefined : o[0].undefined;
      if ((o[2].undefined & 1) == 0) return chosen & mask;
      return ((o[0].value ^ o[1].value) | o[0].undefined | o[1].undefined) & mask;
    }
    case BitRule::compare:
      return undefined_comparison(r, o[0], o[1]) ? 1 : 0;
    case BitRule::pack:
      return (any(o[0].undefined) & 0xffff) | (any(o[1].undefined) & 0xffff0000u);
    case BitRule::halves:
      return (any(all & 0xffff) & 0xffff) | (any(all & 0xffff0000u) & 0xffff0000u);
    case BitRule::bytes2:
      return (any(o[0].undefined) & 0xff) | (any(o[1].undefined) & 0xff00);
    case BitRule::from_fp8:
      return (any(o[0].undefined & 0xff) & 0xffffffffu) |
             (any(o[0].undefined & 0xff00) & 0xffffffff00000000ull);
    case BitRule::insert_byte: {
      if ((o[1].undefined & 3) != 0) return mask;
      const std::uint64_t byte = 0xffull << (8 * (o[1].value & 3));
      return (o[2].undefined & ~byte) | (any(o[0].undefined) & byte);
    }
    case BitRule::test_bit:
      if ((o[1].undefined & amount_bits) != 0) return 1;
      return o[0].undefined >> shift & 1;
    case BitRule::set_bit: {
      // Operand 0 is the number of the bit, operand 1 the destination's old value.
      const std::uint64_t bit = 1ull << (o[0].value & (r.width - 1u));
      return ((o[0].undefined & (r.width - 1u)) != 0 ? ~0ull : o[1].undefined & ~bit) & mask;
    }
    case BitRule::pack_low_high:
      return (o[0].undefined & 0xffff) | (o[1].undefined & 0xffff0000u);
    case BitRule::pack_high_high:
      return (o[0].undefined >> 16 & 0xffff) | (o[1].undefined & 0xffff0000u);
  }
  return mask;
}

}  // namespace margay::check
