// The effect of MODE on an instruction, derived from its row.
#pragma once

#include <cstdint>

#include "isa/traits.h"

namespace margay {

/// Which field of MODE rounds the result.
enum class FloatRounding : std::uint8_t { nearest, single, other };

struct FloatUse {
  FloatKind sources[3] = {};
  FloatKind result = FloatKind::none;
  FloatRounding rounding = FloatRounding::nearest;
  bool high_result = false;        ///< An f16 in the upper half of the register.
  bool packed = false;             ///< Clamp is bit 12 of Instruction::extra.
  bool is_min_max = false;         ///< IEEE decides about signalling NaNs.
  bool ignores_denormals = false;  ///< Has a rule of its own for them.
  bool rounds_twice = false;       ///< A product is rounded to f16 before the sum.
  std::uint32_t fp8_largest = 0;  ///< Converts to an 8-bit float: the bits, as f32, of its largest.
  [[nodiscard]] constexpr bool any() const {
    return result != FloatKind::none || sources[0] != FloatKind::none ||
           sources[1] != FloatKind::none || sources[2] != FloatKind::none;
  }
};

[[nodiscard]] constexpr FloatRounding rounding_of(FloatKind kind) {
  switch (kind) {
    case FloatKind::none:
      return FloatRounding::nearest;
    case FloatKind::f32:
    case FloatKind::f32_pair:
      return FloatRounding::single;
    default:
      return FloatRounding::other;
  }
}

/// For a vector instruction on operands of these kinds.
[[nodiscard]] constexpr FloatUse float_use(const FloatKind (&sources)[3], FloatKind result,
                                           Operation operation, Rounding rounding) {
  FloatUse use;
  // Classifies the bits as they are: this is how a program tests for denormals.
  if (operation == Operation::of_bits) return use;
  for (unsigned n = 0; n < 3; ++n) use.sources[n] = sources[n];
  use.result = result;
  use.is_min_max = operation == Operation::min_max;
  use.rounds_twice = operation == Operation::multiply_then_add;
  // Source: MI300 ISA guide, section 6.4.
  use.ignores_denormals = operation == Operation::dot && result == FloatKind::f32;
  // The guide does not document the rounding of approximations (they are within about an ulp).
  const bool own = rounding == Rounding::own || operation == Operation::transcendental ||
                   operation == Operation::dot;
  if (!own) use.rounding = rounding_of(rounding == Rounding::by_source ? sources[0] : result);
  return use;
}

}  // namespace margay
