#include "exec/program/buffer_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace margay {
namespace {

using Number = BufferFormat::Number;

/// Bits of each component, from the element's lowest bit on. The names of the formats list the
/// highest component first.
struct Layout {
  std::uint8_t components = 0;
  std::uint8_t bits[4] = {};
};
constexpr Layout kLayouts[16] = {
    {},                     // 0 INVALID
    {1, {8}},               // 8
    {1, {16}},              // 16
    {2, {8, 8}},            // 8_8
    {1, {32}},              // 32
    {2, {16, 16}},          // 16_16
    {3, {11, 11, 10}},      // 10_11_11
    {3, {10, 11, 11}},      // 11_11_10
    {4, {2, 10, 10, 10}},   // 10_10_10_2
    {4, {10, 10, 10, 2}},   // 2_10_10_10
    {4, {8, 8, 8, 8}},      // 8_8_8_8
    {2, {32, 32}},          // 32_32
    {4, {16, 16, 16, 16}},  // 16_16_16_16
    {3, {32, 32, 32}},      // 32_32_32
    {4, {32, 32, 32, 32}},  // 32_32_32_32
    {},                     // 15 reserved
};

const Layout& layout(BufferFormat format) { return kLayouts[format.data & 15]; }

std::int32_t sign_extended(std::uint32_t value, unsigned bits) {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}
std::uint32_t all_ones(unsigned bits) { return bits == 32 ? ~0u : (1u << bits) - 1; }

// ---- Floats with five exponent bits: f16 and the 11- and 10-bit ones, which have no sign
// ---------

constexpr int kSmallBias = 15;

double small_float_value(std::uint32_t bits, unsigned mantissa_bits) {
  const std::uint32_t mantissa = bits & all_ones(mantissa_bits);
  const auto exponent = static_cast<int>(bits >> mantissa_bits & 31);
  if (exponent == 31) return mantissa == 0 ? INFINITY : NAN;
  const std::uint32_t significand = exponent == 0 ? mantissa : mantissa | 1u << mantissa_bits;
  return std::ldexp(significand,
                    std::max(exponent, 1) - kSmallBias - static_cast<int>(mantissa_bits));
}

/// The magnitude of `value` without its sign; NaN is quiet.
std::uint32_t small_float(double value, unsigned mantissa_bits, bool truncate) {
  const std::uint32_t infinity = 31u << mantissa_bits;
  if (std::isnan(value)) return infinity | 1u << (mantissa_bits - 1);
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return infinity;
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), 1 - kSmallBias);
  const double scaled = std::ldexp(magnitude, static_cast<int>(mantissa_bits) - exponent);
  // A significand with its leading bit adds one to the exponent field; a denormal has neither.
  const double bits = (truncate ? std::trunc(scaled) : std::nearbyint(scaled)) +
                      std::ldexp(exponent + kSmallBias - 1, static_cast<int>(mantissa_bits));
  if (bits >= infinity) return truncate ? infinity - 1 : infinity;
  return static_cast<std::uint32_t>(bits);
}

std::uint32_t half_bits(double value, bool truncate) {
  return small_float(value, 10, truncate) | (std::signbit(value) ? 0x8000u : 0);
}
double half_value(std::uint32_t bits) {
  const double magnitude = small_float_value(bits & 0x7fff, 10);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// ---- One component ------------------------------------------------------------------------------

/// The number that a component represents; not for integers and 32-bit floats.
double component_value(Number number, std::uint32_t raw, unsigned bits) {
  const std::int32_t with_sign = sign_extended(raw, bits);
  switch (number) {
    case Number::unorm:
      return raw / static_cast<double>(all_ones(bits));
    case Number::snorm:
      return std::max(-1.0, with_sign / static_cast<double>(all_ones(bits - 1)));
    case Number::uscaled:
      return raw;
    case Number::sscaled:
      return with_sign;
    default:
      return bits == 16 ? half_value(raw) : small_float_value(raw, bits - 5);
  }
}

constexpr FormatProblem kNoFit =
    "the hardware's result for an integer that does not fit is not documented";

FormatProblem decode_component(Number number, std::uint32_t raw, unsigned bits, bool d16,
                               std::uint32_t& out) {
  if (number == Number::uint || number == Number::sint) {
    const bool with_sign = number == Number::sint;
    out = with_sign ? static_cast<std::uint32_t>(sign_extended(raw, bits)) : raw;
    if (!d16) return {};
    const std::uint32_t kept =
        with_sign ? static_cast<std::uint32_t>(sign_extended(out & 0xffff, 16)) : out & 0xffff;
    if (kept != out) return kNoFit;
    out &= 0xffff;
    return {};
  }
  if (number == Number::floating && bits == 32) {
    out = d16 ? half_bits(double{std::bit_cast<float>(raw)}, true) : raw;
    return {};
  }
  if (number == Number::floating && bits == 16 && d16) {
    out = raw;
    return {};
  }
  const double value = component_value(number, raw, bits);
  out = d16 ? half_bits(value, false) : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return {};
}

FormatProblem encode_integer(Number number, std::uint32_t in, unsigned bits, std::uint32_t& out) {
  out = in & all_ones(bits);
  const std::uint32_t back =
      number == Number::sint ? static_cast<std::uint32_t>(sign_extended(out, bits)) : out;
  return back == in ? FormatProblem{} : kNoFit;
}

FormatProblem encode_scaled(Number number, double value, unsigned bits, std::uint32_t& out) {
  const bool with_sign = number == Number::sscaled;
  const double least = with_sign ? -std::ldexp(1, static_cast<int>(bits) - 1) : 0;
  const double most = all_ones(with_sign ? bits - 1 : bits);
  if (!(value >= least && value <= most) || value != std::trunc(value))
    return "the hardware's result for a value that is no integer of the format is not documented";
  out = static_cast<std::uint32_t>(static_cast<std::int64_t>(value)) & all_ones(bits);
  return {};
}

std::uint32_t normalised(double value, double least, unsigned fraction_bits, unsigned bits) {
  if (std::isnan(value)) return 0;
  const double scaled = std::clamp(value, least, 1.0) * all_ones(fraction_bits);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(scaled))) &
         all_ones(bits);
}

FormatProblem encode_component(Number number, std::uint32_t in, unsigned bits, bool d16,
                               std::uint32_t& out) {
  if (number == Number::uint || number == Number::sint) {
    if (d16 && number == Number::sint) in = static_cast<std::uint32_t>(sign_extended(in, 16));
    return encode_integer(number, in, bits, out);
  }
  const double value = d16 ? half_value(in) : double{std::bit_cast<float>(in)};
  switch (number) {
    case Number::unorm:
      out = normalised(value, 0, bits, bits);
      return {};
    case Number::snorm:
      out = normalised(value, -1, bits - 1, bits);
      return {};
    case Number::uscaled:
    case Number::sscaled:
      return encode_scaled(number, value, bits, out);
    default:
      break;
  }
  if (bits == 32)
    out = d16 ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : in;
  else if (bits == 16)
    out = d16 ? in : half_bits(value, true);
  else
    out = value < 0 ? 0 : small_float(value, bits - 5, true);
  return {};
}

}  // namespace

bool BufferFormat::exists() const {
  const Layout& l = layout(*this);
  if (l.components == 0 || number == Number::reserved) return false;
  switch (l.bits[0]) {
    case 32:
      return is_integer() || number == Number::floating;
    case 16:
    case 11:
      return true;
    case 10:  // 11_11_10 has floats, 2_10_10_10 does not
      return l.components == 3 || number != Number::floating;
    default:
      return number != Number::floating;
  }
}

unsigned BufferFormat::bytes() const {
  const Layout& l = layout(*this);
  return (l.bits[0] + l.bits[1] + l.bits[2] + l.bits[3]) / 8u;
}
unsigned BufferFormat::components() const { return layout(*this).components; }

FormatProblem decode_element(BufferFormat format, const std::uint8_t* element, bool d16,
                             FormatRegisters& out) {
  const Layout& l = layout(format);
  out = {};
  unsigned at = 0;
  for (unsigned n = 0; n < l.components; ++n) {
    // No component crosses 64 bits, and those that cross a dword's end are in the first.
    std::uint64_t word = 0;
    std::memcpy(&word, element + at / 32 * 4,
                std::min<std::size_t>(8, format.bytes() - at / 32 * 4));
    const auto raw = static_cast<std::uint32_t>(word >> at % 32) & all_ones(l.bits[n]);
    if (const FormatProblem problem =
            decode_component(format.number, raw, l.bits[n], d16, out.component[n]);
        !problem.empty())
      return problem;
    at += l.bits[n];
  }
  return {};
}

FormatProblem encode_element(BufferFormat format, const FormatRegisters& in, bool d16,
                             std::uint8_t* element) {
  const Layout& l = layout(format);
  std::uint32_t words[4] = {};
  unsigned at = 0;
  for (unsigned n = 0; n < l.components; ++n) {
    std::uint32_t raw = 0;
    if (const FormatProblem problem =
            encode_component(format.number, in.component[n], l.bits[n], d16, raw);
        !problem.empty())
      return problem;
    words[at / 32] |= raw << at % 32;
    at += l.bits[n];
  }
  std::memcpy(element, words, format.bytes());
  return {};
}

std::uint32_t format_one(BufferFormat format, bool d16) {
  if (format.is_integer()) return 1;
  return d16 ? 0x3c00 : 0x3f800000;
}

}  // namespace margay
