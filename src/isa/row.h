// How one vector instruction is written down: a struct named as its mnemonic, whose base gives the
// types of result and sources and whose `eval` is a pure function on chunks of lanes.
//
//   struct v_add_f32 : Op<f32(f32, f32)> { static auto eval(auto a, auto b) { return a + b; } };
//
// An `eval` that takes the instruction's modifiers first places its result by op_sel itself.
//
// Everything else (encodings, EXEC, modifiers, DPP, SDWA, constants) is done once per format by
// src/exec, from the types. To add an instruction, add its struct to the header of its group in
// isa/gfx942/ and its name to that header's list.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>

#include "isa/lanes/lanes.h"
#include "isa/operand.h"
#include "isa/type_name.h"

namespace margay::MARGAY_TARGET {

// Operand types, with the chunk of lanes each is computed on.
struct f32 {
  using Chunk = F32;
  static constexpr auto kType = OperandType::f32;
};
struct u32 {
  using Chunk = U32;
  static constexpr auto kType = OperandType::u32;
};
struct i32 {
  using Chunk = I32;
  static constexpr auto kType = OperandType::i32;
};
struct f64 {
  using Chunk = F64;
  static constexpr auto kType = OperandType::f64;
};
struct u64 {
  using Chunk = U64;
  static constexpr auto kType = OperandType::u64;
};
struct i64 {
  using Chunk = I64;
  static constexpr auto kType = OperandType::i64;
};
/// 16-bit types live in the low half of a register. f16 chunks hold the exact f32 value.
struct f16 {
  using Chunk = F32;
  static constexpr auto kType = OperandType::f16;
};
/// The bits of an f16 that is moved: sign modifiers change them, nothing converts them.
struct f16_bits {
  using Chunk = U32;
  static constexpr auto kType = OperandType::f16;
};
struct u16 {
  using Chunk = U32;
  static constexpr auto kType = OperandType::u16;
};
struct i16 {
  using Chunk = I32;
  static constexpr auto kType = OperandType::i16;
};
/// One bit per lane in a pair of SGPRs; the chunk holds 0 or -1.
struct mask {
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

/// The base of every row; a row overrides the flags that the encoding does not tell.
template <typename Signature>
struct Op;
template <typename D, typename... S>
struct Op<D(S...)> {
  using Result = D;
  static constexpr int kSources = sizeof...(S);
  /// The last source is the destination's old value (v_fmac, v_mac, v_dot*c).
  static constexpr bool kAccumulates = false;
  /// The last source is the destination's old value, of which the result keeps a part: byte and
  /// word inserts.
  static constexpr bool kKeepsRest = false;
  /// e32 reads VCC as the last source.
  static constexpr bool kReadsVcc = false;
  /// v_cmpx: the resulting mask also goes to EXEC.
  static constexpr bool kWritesExec = false;
  template <int n>
  using Source = std::tuple_element_t<n, std::tuple<S...>>;
};

/// A row's mnemonic: its own kMnemonic, or its type name.
template <typename Row>
[[nodiscard]] constexpr std::string_view mnemonic_of() {
  if constexpr (requires { Row::kMnemonic; })
    return std::string_view(Row::kMnemonic);
  else
    return type_name<Row>();
}

template <typename... R>
struct Rows {};

}  // namespace margay::MARGAY_TARGET
