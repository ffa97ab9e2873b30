// Register rows for one matrix instruction, filled with bit patterns of several kinds.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "mfma/mfma.h"

namespace margay {

inline void PrintTo(const MfmaShape& shape, std::ostream* out) { *out << shape.mnemonic; }

namespace test {

inline constexpr int kLanes = 64;
using Random = std::mt19937_64;

/// Rows as a wave holds them; a register number names a place, so operands can overlap at will.
struct Registers {
  static constexpr int kCount = 256;
  alignas(64) std::array<std::uint32_t, kCount * kLanes> words{};
  [[nodiscard]] std::uint32_t* row(int number) { return words.data() + number * kLanes; }
  [[nodiscard]] const std::uint32_t* row(int number) const {
    return words.data() + number * kLanes;
  }
};

/// Non-overlapping places for the operands.
inline constexpr int kA = 0, kB = 8, kC = 16, kD = 64;

/// What the random elements look like.
enum class Fill {
  bits,       ///< Any pattern: all exponents, infinities, NaN, denormals.
  normal,     ///< Standard normal values.
  positive,   ///< Uniform in (0, 1): C grows far beyond the products.
  wide,       ///< Exponents spread over 40 powers of two.
  sparse,     ///< Mostly zeros, of both signs.
  cancel,     ///< Few distinct values of both signs: sums cancel.
  tiny,       ///< Around the smallest normal, denormals included.
  huge,       ///< Around the largest: products overflow.
  brink,      ///< Around 2^64: some products overflow.
  abyss,      ///< Around 2^-64: some products are denormal.
  apart,      ///< A few elements 2^80 above the others, with no product near the ends of f32.
  decay,      ///< From 8 down to the smallest normal, as what exp gives.
  blemished,  ///< Standard normal but for a few infinities, NaNs and denormals.
  units,      ///< 0, 1 and -1: short sums are exact in any order. (Not in kFills.)
};
inline constexpr Fill kFills[] = {
    Fill::bits, Fill::normal, Fill::positive, Fill::wide,  Fill::sparse, Fill::cancel,   Fill::tiny,
    Fill::huge, Fill::brink,  Fill::abyss,    Fill::apart, Fill::decay,  Fill::blemished};

inline int bits_of(MfmaType type) {
  switch (type) {
    case MfmaType::f64:
      return 64;
    case MfmaType::f32:
    case MfmaType::xf32:
      return 32;
    case MfmaType::f16:
    case MfmaType::bf16:
      return 16;
    default:
      return 8;
  }
}

struct FormatBits {
  int exponent, mantissa;
};
inline FormatBits format_bits(MfmaType type) {
  switch (type) {
    case MfmaType::f64:
      return {11, 52};
    case MfmaType::f16:
      return {5, 10};
    case MfmaType::bf16:
      return {8, 7};
    case MfmaType::fp8:
      return {4, 3};
    case MfmaType::bf8:
      return {5, 2};
    case MfmaType::i8:
      return {0, 7};
    default:
      return {8, 23};
  }
}

/// The nearest pattern of a type below |value| (its range is assumed to hold value).
inline std::uint64_t encode(MfmaType type, double value) {
  if (type == MfmaType::i8) return static_cast<std::uint8_t>(static_cast<int>(value));
  if (value == 0) return 0;
  const FormatBits format = format_bits(type);
  int exponent;
  const double fraction = std::frexp(std::fabs(value), &exponent) * 2 - 1;
  const int bias =
      (1 << (format.exponent - 1)) - (type == MfmaType::fp8 || type == MfmaType::bf8 ? 0 : 1);
  const int field = exponent - 1 + bias;
  if (field <= 0) return 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, format.mantissa));
  return (value < 0 ? std::uint64_t{1} << (format.exponent + format.mantissa) : 0) |
         static_cast<std::uint64_t>(field) << format.mantissa | mantissa;
}

inline std::uint64_t random_element(MfmaType type, Fill fill, Random& random) {
  const FormatBits format = format_bits(type);
  const int width = bits_of(type);
  const std::uint64_t any = width == 64 ? random() : random() & ((std::uint64_t{1} << width) - 1);
  if (type == MfmaType::i8) return any;
  const std::uint64_t exponents = (std::uint64_t{1} << format.exponent) - 1;
  const auto with_exponent = [&](std::uint64_t field) {
    return (any & ~(exponents << format.mantissa)) | field << format.mantissa;
  };
  switch (fill) {
    case Fill::bits:
      return any;
    case Fill::normal:
      return encode(type, std::normal_distribution<>()(random));
    case Fill::blemished:
      if (random() % 40 == 0) {
        if (type == MfmaType::fp8 || type == MfmaType::bf8) return 0x80;  // NaN
        return with_exponent(random() % 2 ? 0 : exponents);
      }
      return encode(type, std::normal_distribution<>()(random));
    case Fill::positive:
      return encode(type, std::uniform_real_distribution<>(0.001, 1)(random));
    case Fill::wide: {
      const std::uint64_t spread = exponents > 60 ? 40 : exponents - 1;
      return with_exponent((exponents - spread) / 2 + random() % spread + 1);
    }
    case Fill::sparse:
      if (random() % 4)
        return type == MfmaType::fp8 || type == MfmaType::bf8 || random() % 2
                   ? 0
                   : std::uint64_t{1} << (width - 1);
      return encode(type, std::normal_distribution<>()(random));
    case Fill::cancel: {
      constexpr double values[] = {1, -1, 1.5, -1.5, 0.001953125, -0.001953125, 8, -8};
      return encode(type, values[random() % std::size(values)]);
    }
    case Fill::brink:
    case Fill::abyss:
    case Fill::apart:
    case Fill::decay:
      if (exponents < 255) return with_exponent(1 + random() % (exponents - 1));
      if (fill == Fill::decay) return with_exponent(exponents / 2 + 3 - random() % 130);
      if (fill == Fill::apart)
        return with_exponent(exponents / 2 + (random() % 16 ? -40 : 40) + random() % 4);
      return with_exponent(exponents / 2 + (fill == Fill::brink ? 62 : -65) + random() % 4);
    case Fill::units: {
      constexpr double values[] = {0, 0, 0, 0, 0, 0, 1, -1};
      return encode(type, values[random() % std::size(values)]);
    }
    case Fill::tiny:
      return with_exponent(random() % 3);
    case Fill::huge:
      return with_exponent(exponents - 1 - random() % 3);
  }
  return any;
}

/// Fills `rows` register rows with elements of a type.
inline void fill_rows(std::uint32_t* rows, int count, MfmaType type, Fill fill, Random& random) {
  const int width = bits_of(type);
  if (width == 64) {
    for (int r = 0; r < count; r += 2)
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t value = random_element(type, fill, random);
        rows[r * kLanes + lane] = static_cast<std::uint32_t>(value);
        rows[(r + 1) * kLanes + lane] = static_cast<std::uint32_t>(value >> 32);
      }
    return;
  }
  for (int n = 0; n < count * kLanes; ++n) {
    std::uint64_t word = 0;
    for (int bit = 0; bit < 32; bit += width) word |= random_element(type, fill, random) << bit;
    rows[n] = static_cast<std::uint32_t>(word);
  }
}

inline MfmaType result_type(const MfmaShape& shape) {
  if (shape.a == MfmaType::i8) return MfmaType::i8;
  return shape.a == MfmaType::f64 ? MfmaType::f64 : MfmaType::f32;
}

/// A, B and C of one instruction; C's magnitudes scaled by 2^c_shift where it is a finite f32.
inline void fill_operands(Registers& registers, const MfmaShape& shape, Fill ab, Fill c,
                          int c_shift, Random& random) {
  fill_rows(registers.row(kA), shape.a_registers, shape.a, ab, random);
  fill_rows(registers.row(kB), shape.b_registers, shape.b, ab, random);
  fill_rows(registers.row(kC), shape.d_registers, result_type(shape), c, random);
  if (result_type(shape) == MfmaType::f32)
    for (int n = 0; n < shape.d_registers * kLanes; ++n) {
      std::uint32_t& word = registers.row(kC)[n];
      word = std::bit_cast<std::uint32_t>(std::ldexp(std::bit_cast<float>(word), c_shift));
    }
}

inline MfmaOperands operands_at(Registers& registers, int d = kD, int a = kA, int b = kB,
                                int c = kC) {
  return {
      .d = registers.row(d), .a = registers.row(a), .b = registers.row(b), .c = registers.row(c)};
}

/// The first difference between D rows, as text; empty if there is none.
inline std::string difference(const MfmaShape& shape, const std::uint32_t* expected,
                              const std::uint32_t* actual) {
  for (int n = 0; n < shape.d_registers * kLanes; ++n)
    if (expected[n] != actual[n]) {
      char text[128];
      std::snprintf(text, sizeof text, "register %d lane %d: expected 0x%08x (%g), got 0x%08x (%g)",
                    n / kLanes, n % kLanes, expected[n], double{std::bit_cast<float>(expected[n])},
                    actual[n], double{std::bit_cast<float>(actual[n])});
      return text;
    }
  return {};
}

inline std::vector<MfmaShape> all_shapes() {
  return {std::begin(kMfmaShapes), std::end(kMfmaShapes)};
}

/// A test name from a mnemonic.
inline std::string shape_name(const MfmaShape& shape) {
  return std::string(shape.mnemonic.substr(7));
}

}  // namespace test
}  // namespace margay
