#include "mfma/kernels/bit_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace margay {
namespace {

constexpr int kFractionBits = 24;       // kept of each product, and of C
constexpr int kSumFractionBits = 32;    // kept of the sum of products when C is larger
constexpr int kFinalFractionBits = 31;  // kept of the total, before rounding to f32
constexpr int kNoExponent = -999;       // of a product that is zero: below every other

struct Format {
  int exponent_bits, mantissa_bits, bias;
  bool fnuz;  // no infinity, no -0: the pattern of -0 is the only NaN
};

constexpr Format format_of(MfmaType type) {
  switch (type) {
    case MfmaType::f16:
      return {5, 10, 15, false};
    case MfmaType::bf16:
      return {8, 7, 127, false};
    case MfmaType::fp8:
      return {4, 3, 8, true};
    case MfmaType::bf8:
      return {5, 2, 16, true};
    default:
      return {8, 23, 127, false};
  }
}

/// Arithmetic shift right by any amount: floor(value / 2^amount).
std::int64_t floor_shift(std::int64_t value, int amount) { return value >> std::min(amount, 63); }

/// The sum of products, in units of 2^(exponent - kFractionBits).
struct ProductSum {
  std::int64_t value = 0;
  int exponent = kNoExponent;
};

/// Sums every `stride`-th product, each truncated toward zero at kFractionBits below the largest
/// exponent among them.
ProductSum truncated_sum(const MfmaFactor* a, const MfmaFactor* b, int first, int count,
                         int stride) {
  ProductSum sum;
  for (int i = first; i < count; i += stride)
    if (a[i].significand != 0 && b[i].significand != 0)
      sum.exponent = std::max(sum.exponent, a[i].exponent + b[i].exponent);
  for (int i = first; i < count; i += stride) {
    if (a[i].significand == 0 || b[i].significand == 0) continue;
    const std::uint64_t product = std::uint64_t{a[i].significand} * b[i].significand;
    const int shift = kFractionBits - (a[i].fraction_bits + b[i].fraction_bits) -
                      (sum.exponent - a[i].exponent - b[i].exponent);
    const std::uint64_t kept = shift >= 0 ? product << shift : product >> std::min(-shift, 63);
    sum.value += a[i].negative != b[i].negative ? -static_cast<std::int64_t>(kept)
                                                : static_cast<std::int64_t>(kept);
  }
  return sum;
}

/// The effect of infinite or NaN terms on the total: +1, -1 (infinities), or NaN.
struct Special {
  bool nan = false, positive = false, negative = false;
  void add_infinity(bool is_negative) { (is_negative ? negative : positive) = true; }
  [[nodiscard]] bool any() const { return nan || positive || negative; }
  [[nodiscard]] std::uint32_t bits() const {
    if (nan || (positive && negative)) return kMfmaNan;
    return positive ? 0x7f800000u : 0xff800000u;
  }
};

Special special_terms(const MfmaFactor* a, const MfmaFactor* b, int count, const MfmaFactor& c) {
  using Kind = MfmaFactor::Kind;
  Special special;
  for (int i = 0; i < count; ++i) {
    const bool negative = a[i].negative != b[i].negative;
    const auto zero = [](const MfmaFactor& f) {
      return f.kind == Kind::finite && f.significand == 0;
    };
    if (a[i].kind == Kind::nan || b[i].kind == Kind::nan)
      special.nan = true;
    else if (a[i].kind == Kind::infinity || b[i].kind == Kind::infinity) {
      if (zero(a[i]) || zero(b[i]))
        special.nan = true;
      else
        special.add_infinity(negative);
    } else if (!zero(a[i]) && !zero(b[i])) {
      // A product of 2^128 or more is an infinity, even if the sum would be finite again.
      const std::uint64_t product = std::uint64_t{a[i].significand} * b[i].significand;
      const int exponent = std::bit_width(product) - 1 - a[i].fraction_bits - b[i].fraction_bits +
                           a[i].exponent + b[i].exponent;
      if (exponent >= 128) special.add_infinity(negative);
    }
  }
  if (c.kind == Kind::nan) special.nan = true;
  if (c.kind == Kind::infinity) special.add_infinity(c.negative);
  return special;
}

}  // namespace

MfmaFactor mfma_factor(MfmaType type, std::uint32_t bits) {
  const Format format = format_of(type);
  const int width = format.exponent_bits + format.mantissa_bits;
  const std::uint32_t exponent_field =
      bits >> format.mantissa_bits & ((1u << format.exponent_bits) - 1);
  std::uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  MfmaFactor factor;
  factor.negative = bits >> width & 1;
  factor.fraction_bits = format.mantissa_bits;
  factor.exponent = std::max<int>(static_cast<int>(exponent_field), 1) - format.bias;
  if (format.fnuz) {
    if (factor.negative && exponent_field == 0 && mantissa == 0)
      factor.kind = MfmaFactor::Kind::nan;
  } else if (exponent_field == (1u << format.exponent_bits) - 1) {
    factor.kind = mantissa != 0 ? MfmaFactor::Kind::nan : MfmaFactor::Kind::infinity;
    return factor;
  }
  // xf32 keeps the upper 10 mantissa bits. [MMA-Sim: truncated; the ISA guide says rounded]
  if (type == MfmaType::xf32) mantissa &= ~0x1fffu;
  factor.significand = (exponent_field != 0 ? 1u << format.mantissa_bits : 0) | mantissa;
  return factor;
}

int mfma_group_size(MfmaType type, int k) {
  switch (type) {
    case MfmaType::xf32:
      return std::min(4, k);
    case MfmaType::fp8:
    case MfmaType::bf8:
      return std::min(16, k);
    default:
      return std::min(8, k);
  }
}

std::uint32_t mfma_group_sum(const MfmaFactor* a, const MfmaFactor* b, int count,
                             std::uint32_t c_bits, bool split) {
  const MfmaFactor c = mfma_factor(MfmaType::f32, c_bits);
  if (const Special special = special_terms(a, b, count, c); special.any()) return special.bits();

  ProductSum sum;
  if (split) {
    const ProductSum even = truncated_sum(a, b, 0, count, 2);
    const ProductSum odd = truncated_sum(a, b, 1, count, 2);
    sum.exponent = std::max(even.exponent, odd.exponent);
    sum.value = floor_shift(even.value, sum.exponent - even.exponent) +
                floor_shift(odd.value, sum.exponent - odd.exponent);
  } else {
    sum = truncated_sum(a, b, 0, count, 1);
  }

  // Both to units of 2^(exponent - kSumFractionBits), C first cut at kFractionBits; toward
  // -infinity.
  const int exponent = std::max(sum.exponent, c.exponent);
  constexpr int kExtra = kSumFractionBits - kFractionBits;
  const std::int64_t products = floor_shift(sum.value << kExtra, exponent - sum.exponent);
  const std::int64_t c_value = std::int64_t{c.significand} * (c.negative ? -2 : 2);
  std::int64_t addend = floor_shift(c_value, exponent - c.exponent) << kExtra;
  if (split && c.exponent < exponent - kFractionBits - 1) addend = 0;
  std::int64_t total = products + addend;

  // Once more toward -infinity, at kFinalFractionBits below the total's own leading bit.
  const int leading =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::abs(total)))) - 1;
  const int total_exponent = std::max(leading + exponent - kSumFractionBits, -126);
  if (const int drop = total_exponent - kFinalFractionBits - (exponent - kSumFractionBits);
      drop > 0)
    total = floor_shift(total, drop) << drop;
  // At most 39 bits and at least 2^-158, so exact in double; the cast rounds to nearest even.
  const double value = std::ldexp(static_cast<double>(total), exponent - kSumFractionBits);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::uint32_t mfma_float_group_sum(const float* a, const float* b, int count, std::uint32_t c) {
  MfmaFactor fa[kMfmaMaxGroup], fb[kMfmaMaxGroup];
  for (int n = 0; n < count; ++n) {
    fa[n] = mfma_factor(MfmaType::f32, std::bit_cast<std::uint32_t>(a[n]));
    fb[n] = mfma_factor(MfmaType::f32, std::bit_cast<std::uint32_t>(b[n]));
  }
  return mfma_group_sum(fa, fb, count, c, false);
}

}  // namespace margay
