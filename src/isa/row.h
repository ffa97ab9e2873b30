// The form of a vector instruction: a struct named as its mnemonic, whose base gives the types of
// result and sources and its traits, and whose `eval` is a pure function on chunks of lanes.
//
//   struct v_add_f32 : Op<f32(f32, f32), Operation::add> {
//     static auto eval(auto a, auto b) { return a + b; }
//   };
//
// After the types, in any order: an Operation if any operand is a float, a BitRule if any is not;
// the compiler requires both. A Rounding, an Order, a Literal and a PackedTwin where they are not
// the default. An `eval` whose first parameter is the instruction's modifiers places its result by
// op_sel itself.
//
// Everything else (encodings, EXEC, modifiers, DPP, SDWA, constants, MODE, the checker's and the
// profiler's facts) is derived from these once per format, by src/exec and src/observe. To add an
// instruction, add its struct to the header of its group in isa/gfx942/ and its name to that
// header's list.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "isa/lanes.h"
#include "isa/operand.h"
#include "isa/traits.h"
#include "isa/type_name.h"

namespace margay::MARGAY_HOST_LEVEL {

// Operand types, with the chunk of lanes each is computed on.
struct OperandBase {
  static constexpr auto kFloat = FloatKind::none;
  static constexpr auto kNumber = NumberType::none;
  static constexpr std::uint32_t kLookedAt = ~0u;  ///< The bits that an instruction reads.
};
struct f32 : OperandBase {
  using Chunk = F32;
  static constexpr auto kType = OperandType::f32;
  static constexpr auto kFloat = FloatKind::f32;
  static constexpr auto kNumber = NumberType::f32;
};
struct u32 : OperandBase {
  using Chunk = U32;
  static constexpr auto kType = OperandType::u32;
  static constexpr auto kNumber = NumberType::i32;
};
struct i32 : OperandBase {
  using Chunk = I32;
  static constexpr auto kType = OperandType::i32;
  static constexpr auto kNumber = NumberType::i32;
};
struct f64 : OperandBase {
  using Chunk = F64;
  static constexpr auto kType = OperandType::f64;
  static constexpr auto kFloat = FloatKind::f64;
  static constexpr auto kNumber = NumberType::f64;
};
struct u64 : OperandBase {
  using Chunk = U64;
  static constexpr auto kType = OperandType::u64;
  static constexpr auto kNumber = NumberType::i64;
};
struct i64 : OperandBase {
  using Chunk = I64;
  static constexpr auto kType = OperandType::i64;
  static constexpr auto kNumber = NumberType::i64;
};
/// 16-bit types are in the low half of a register. f16 chunks hold the exact f32 value.
struct f16 : OperandBase {
  using Chunk = F32;
  static constexpr auto kType = OperandType::f16;
  static constexpr auto kFloat = FloatKind::f16;
  static constexpr auto kNumber = NumberType::f16;
};
/// The bits of an f16 that is moved: sign modifiers change them, nothing converts them.
struct f16_bits : f16 {
  using Chunk = U32;
};
struct u16 : OperandBase {
  using Chunk = U32;
  static constexpr auto kType = OperandType::u16;
};
struct i16 : OperandBase {
  using Chunk = I32;
  static constexpr auto kType = OperandType::i16;
};
/// Bits that the instruction does not treat as a number: moved, shifted, combined, several fields
/// in a register.
struct b32 : u32 {
  static constexpr auto kNumber = NumberType::none;
};
struct b64 : u64 {
  static constexpr auto kNumber = NumberType::none;
};
/// Some bits of a register.
template <std::uint32_t mask>
struct bits_of : b32 {
  static constexpr std::uint32_t kLookedAt = mask;
};
using u24 = bits_of<0xff'ffff>;
struct i24 : i32 {
  static constexpr std::uint32_t kLookedAt = u24::kLookedAt;
};
/// An 8-bit float in a byte, or two in a word: SDWA chooses which byte or word.
template <std::uint32_t mask>
struct byte_floats : bits_of<mask> {
  static constexpr bool kByteFloats = true;
};
/// Two floats in a register or a register pair.
struct f16_pair : b32 {
  static constexpr auto kFloat = FloatKind::f16_pair;
};
struct f32_pair : b64 {
  static constexpr auto kFloat = FloatKind::f32_pair;
};
/// One bit per lane in a pair of SGPRs; the chunk holds 0 or -1.
struct mask : OperandBase {
  using Chunk = I32;
  static constexpr auto kType = OperandType::mask;
};

/// A result in a VGPR together with one in a lane mask (carry out, v_div_scale's flag).
template <typename T>
struct with_mask {};
template <typename T>
struct ValueAndMask {
  typename T::Chunk value;
  I32 mask;
};

template <typename D>
struct ResultOf {
  using Value = D;
  static constexpr bool kMask = false;
};
template <typename D>
struct ResultOf<with_mask<D>> {
  using Value = D;
  static constexpr bool kMask = true;
};

/// The base of every row; a row overrides the flags that do not follow from the encoding.
template <typename Signature, auto... traits>
struct Op;
template <typename D, typename... S, auto... traits>
struct Op<D(S...), traits...> {
  using Result = D;
  using Value = typename ResultOf<D>::Value;
  static constexpr int kSources = sizeof...(S);
  template <int n>
  using Source = std::tuple_element_t<n, std::tuple<S...>>;

  static_assert(kTraitsAreKnown<traits...>, "a trait that no row has");
  static constexpr bool kAnyFloat =
      Value::kFloat != FloatKind::none || ((S::kFloat != FloatKind::none) || ...);
  static constexpr bool kOnlyFloats =
      Value::kFloat != FloatKind::none && ((S::kFloat != FloatKind::none) && ...);
  static_assert(!kAnyFloat || kStated<Operation, traits...> == 1,
                "an instruction on floats says which Operation it does");
  static_assert(
      kOnlyFloats || kStated<BitRule, traits...> == 1,
      "an instruction that is not on floats alone says which BitRule undefined bits follow");

  static constexpr auto kOperation = trait_or<Operation, traits...>(Operation::other);
  static constexpr auto kBitRule = trait_or<BitRule, traits...>(BitRule::whole);
  static constexpr auto kComparison = trait_or<Comparison, traits...>(Comparison::none);
  static constexpr auto kOrder = trait_or<Order, traits...>(Order::as_written);
  static constexpr auto kRounding = trait_or<Rounding, traits...>(Rounding::by_result);
  static constexpr auto kLiteral = trait_or<Literal, traits...>(Literal::none);
  static constexpr auto kPackedTwin = trait_or<PackedTwin, traits...>(PackedTwin::none);
  static_assert((kBitRule == BitRule::compare) == (kComparison != Comparison::none));

  /// The last source is the destination's old value (v_fmac, v_mac, v_dot*c).
  static constexpr bool kAccumulates = false;
  /// The last source is the destination's old value, part of which the result keeps: byte and word
  /// inserts.
  static constexpr bool kKeepsRest = false;
  /// e32 reads VCC as the last source.
  static constexpr bool kReadsVcc = false;
  /// v_cmpx: the resulting mask also goes to EXEC.
  static constexpr bool kWritesExec = false;
  /// Converts to an 8-bit float: the bits, as f32, of its largest number.
  static constexpr std::uint32_t kLargestByteFloat = 0;
};

/// A row's mnemonic: its own kMnemonic, or its type name.
template <typename Row>
[[nodiscard]] constexpr std::string_view mnemonic_of() {
  if constexpr (requires { Row::kMnemonic; })
    return std::string_view(Row::kMnemonic);
  else
    return type_name<Row>();
}

/// A list of instructions; one with a duplicate does not compile.
template <typename... R>
struct Rows {
  static_assert(all_different<sizeof...(R)>({mnemonic_of<R>()...}),
                "an instruction is in this list twice");
};

}  // namespace margay::MARGAY_HOST_LEVEL
