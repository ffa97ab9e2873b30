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
};
[[nodiscard]] constexpr bool is_64_bit(OperandType type) {
  return type == OperandType::f64 || type == OperandType::u64 || type == OperandType::i64 ||
         type == OperandType::mask;
}
[[nodiscard]] constexpr bool is_16_bit(OperandType type) {
  return type == OperandType::f16 || type == OperandType::u16 || type == OperandType::i16;
}

}  // namespace margay
