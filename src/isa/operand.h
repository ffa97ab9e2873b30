// Types of instruction operands, shared by the rows (isa/gfx942), the executor and the tools.
#pragma once

#include <cstdint>

namespace margay {

inline constexpr int kWaveLanes = 64;

enum class OperandType : std::uint8_t {
  none,
  f16,
  u16,
  i16,  ///< Low half of a register.
  f32,
  u32,
  i32,
  f64,
  u64,
  i64,   ///< A register pair.
  mask,  ///< One bit per lane, in an SGPR pair.
  u128,  ///< Four registers.
};
[[nodiscard]] constexpr bool is_64_bit(OperandType type) {
  return type == OperandType::f64 || type == OperandType::u64 || type == OperandType::i64 ||
         type == OperandType::mask;
}
[[nodiscard]] constexpr bool is_16_bit(OperandType type) {
  return type == OperandType::f16 || type == OperandType::u16 || type == OperandType::i16;
}

/// How many registers an operand takes.
[[nodiscard]] constexpr unsigned register_count(OperandType type) {
  return type == OperandType::u128 ? 4 : is_64_bit(type) ? 2 : 1;
}

}  // namespace margay
