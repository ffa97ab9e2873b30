// Traits of an instruction other than its operands, as rows declare them: its arithmetic, the
// effect of MODE, the effect of undefined bits of its operands on its result. The executor, the
// checker and the profiler decide by these alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace margay {

/// What kind of work an instruction is; the profiler's instruction mix has the same classes.
enum class InstructionClass : std::uint8_t { valu, mfma, salu, smem, lds, vmem, branch, other };
[[nodiscard]] constexpr std::string_view class_name(InstructionClass c) {
  constexpr std::string_view names[] = {"VALU", "MFMA", "SALU",   "SMEM",
                                        "LDS",  "VMEM", "branch", "other"};
  return names[static_cast<unsigned>(c)];
}
inline constexpr unsigned kInstructionClasses = 8;

/// What a vector instruction does with numbers. The hardware counts by these classes
/// (SQ_INSTS_VALU_ADD_F32 etc.); wait states and rounding differ by them.
enum class Operation : std::uint8_t {
  other,
  of_bits,  ///< Moves or classifies the bits of floats; independent of MODE.
  add,      ///< Or subtracts.
  multiply,
  multiply_add,       ///< Rounded once (fma) or, of integers, not at all.
  multiply_then_add,  ///< The product is rounded before the sum (v_mad_f16, v_mac_f16).
  dot,                ///< Dot products.
  min_max,            ///< Minimum, maximum, median of floats: MODE.IEEE decides about NaNs.
  transcendental,     ///< rcp, rsq, sqrt, exp, log, sin, cos: a quarter of the lanes per cycle.
  convert,            ///< Between number formats.
};

/// The number type an instruction is counted by: its result's, or for comparisons its operands'.
enum class NumberType : std::uint8_t { none, f16, f32, f64, i32, i64 };

/// How an operand's bits represent floats. For a mixed one the instruction says whether it is f16
/// or f32.
enum class FloatKind : std::uint8_t { none, f16, f16_pair, f32, f32_pair, f64, mixed };

/// What rounds a float instruction's result.
enum class Rounding : std::uint8_t {
  by_result,  ///< MODE's field for the result's format.
  by_source,  ///< MODE's field for the source's format: floats made into integers.
  own,        ///< The one it is named for (v_floor_f32).
};

/// How undefined bits propagate: which bits of the result depend on them. The operands are a, b and
/// c. A rule may overestimate the undefined bits, but never underestimate them.
enum class BitRule : std::uint8_t {
  defined,  ///< Does not depend on its operands (v_cmp_t).
  whole,    ///< Every bit of the result depends on every bit of the operands.
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
  extract,         ///< c bits of a, from bit b on.
  extract_signed,
  scalar_extract,  ///< The same with both numbers in b.
  scalar_extract_signed,
  extend8,
  extend16,
  align_bit,   ///< ({a, b} >> c), low half
  align_byte,  ///< ({a, b} >> 8 * c), low half
  permute,     ///< v_perm_b32
  reverse,
  mask_of,  ///< v_bfm: a ones, starting at bit b.
  select,   ///< c ? b : a
  compare,
  pack,            ///< Half a below half b.
  halves,          ///< Packed 16-bit numbers: each half from that half of each operand.
  bytes2,          ///< Two bytes of 8-bit floats from two operands.
  from_fp8,        ///< Two f32 from two bytes.
  insert_byte,     ///< v_cvt_pk_u8_f32
  test_bit,        ///< Bit b of a.
  set_bit,         ///< s_bitset: the bit a of the destination, b.
  pack_low_high,   ///< s_pack_lh
  pack_high_high,  ///< s_pack_hh
  difference,      ///< A sum, but 0 if the operands are equal.
  conditional,     ///< s_cmov: c ? a : the old destination.
};

/// The operands of BitRule are the instruction's, or the first two swapped (v_lshlrev_b32).
enum class Order : std::uint8_t { as_written, reversed };

/// For BitRule::compare; "equal" includes its negation.
enum class Comparison : std::uint8_t { none, equal, below, below_equal, above, above_equal };

/// Which source is the 32-bit literal that follows the instruction (v_fmamk_f32, v_fmaak_f32).
enum class Literal : std::uint8_t { none, source1 = 1, source2 = 2 };

/// Vector instructions that address lanes by number or move data between register files.
enum class LaneOperation : std::uint8_t {
  none,
  read,        ///< v_readlane: from the lane that source 1 names to an SGPR.
  read_first,  ///< v_readfirstlane: from the first active lane.
  write,       ///< v_writelane
  count_bits,  ///< v_mbcnt: of the lanes below.
  swap,        ///< v_swap: also writes its source.
  acc_read,    ///< From an AccVGPR.
  acc_write,   ///< To an AccVGPR.
  acc_move,    ///< From AccVGPR to AccVGPR.
};

/// How a packed instruction (VOP3P) selects its elements by op_sel and op_sel_hi.
enum class PackedForm : std::uint8_t {
  none,
  halves,    ///< Two numbers of 16 bits in each register.
  words,     ///< Two of 32 bits in each register pair.
  moves,     ///< v_pk_mov_b32: a register of each source's pair.
  mix,       ///< v_fma_mix: each source is f32 or a half; the result is f32,
  mix_low,   ///< or f16 in the lower half, the upper stays,
  mix_high,  ///< or the other way round.
};
[[nodiscard]] constexpr bool is_mix(PackedForm form) {
  return form == PackedForm::mix || form == PackedForm::mix_low || form == PackedForm::mix_high;
}

/// Whether v_pk_* does the same on two numbers in the same time.
enum class PackedTwin : std::uint8_t { none, exists };

/// How an instruction accesses memory; none: it does not.
enum class MemoryPath : std::uint8_t {
  none,
  ds,
  ds_two,  ///< DS with two accesses at independent offsets.
  global,
  flat,
  scratch,
  buffer,
  scalar,
};

inline constexpr unsigned kMemoryPaths = 8;
[[nodiscard]] constexpr std::string_view path_name(MemoryPath path) {
  constexpr std::string_view kNames[kMemoryPaths] = {"none", "ds",      "ds_two", "global",
                                                     "flat", "scratch", "buffer", "scalar"};
  return kNames[static_cast<unsigned>(path)];
}

// ---- Traits as template arguments -----------------------------------------------------------

/// The one of type T among a row's traits, or `otherwise`.
template <typename T, auto... traits>
[[nodiscard]] consteval T trait_or(T otherwise) {
  const auto take = [&](auto trait) {
    if constexpr (std::is_same_v<decltype(trait), T>) otherwise = trait;
  };
  (take(traits), ...);
  return otherwise;
}
/// How many of them are of type T.
template <typename T, auto... traits>
inline constexpr unsigned kStated =
    (0u + ... + (std::is_same_v<std::remove_const_t<decltype(traits)>, T>));
/// Whether each of them is a valid trait type of rows.
template <auto... traits>
inline constexpr bool kTraitsAreKnown =
    sizeof...(traits) == kStated<Operation, traits...> + kStated<BitRule, traits...> +
                             kStated<Comparison, traits...> + kStated<Order, traits...> +
                             kStated<Rounding, traits...> + kStated<Literal, traits...> +
                             kStated<PackedTwin, traits...>;

}  // namespace margay
