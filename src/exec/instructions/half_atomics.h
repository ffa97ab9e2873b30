// f16 and bf16 numbers of packed atomics, one at a time.
#pragma once

#include <bit>
#include <cstdint>

#include "isa/lanes.h"

namespace margay::MARGAY_HOST_LEVEL {

[[nodiscard]] inline float half_bits_to_float(std::uint16_t bits) {
  return half_to_float(splat<U32>(bits))[0];
}
[[nodiscard]] inline std::uint16_t float_to_half_bits(float value) {
  return static_cast<std::uint16_t>(float_to_half(splat<F32>(value))[0]);
}
[[nodiscard]] inline float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}
[[nodiscard]] inline std::uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace margay::MARGAY_HOST_LEVEL
