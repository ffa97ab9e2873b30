// The published bit model of the matrix unit (bit_model.h), sixteen columns at a time.
//
// For one row i, one chunk of columns and one group of k:
//   1. e = largest exponent of a product, per column: bytes (biased so that sums are bytes too),
//      four k per dword, added and maximised.
//   2. sum += int(a * b * 2^(24 - e)): the product is exact in f32, the scaling is exact, and the
//      conversion to int truncates toward zero as the unit does.
//   3. C joins, as an int in the same units where it fits, and the conversion from int rounds to
//      nearest even. The unit's cuts at 32 and 31 fraction bits are then below the last bit; where
//      C is larger they are made (exact_sums.h).
//
// This needs exponents that fit a byte after biasing, and products far from the ends of f32's
// range. The scalar model computes the rows and columns of infinities, NaNs and bf16 denormals, and
// all where the others are outside, too.
#pragma once

#include "mfma/kernels/exact_sums.h"
#include "mfma/kernels/reference.h"

namespace margay::MARGAY_HOST_LEVEL {

template <int m, int k, int blocks>
struct Exponents {
  U32 dwords[k / 4][m * blocks / 16];
  int highest = 127, lowest = 127;  ///< Of the non-zero elements, as f32 exponent fields.
  bool usable = true;
  [[nodiscard]] MARGAY_INLINE bool spread_within(std::uint32_t least) const {
    return highest - lowest <= static_cast<int>(kHighest - least);
  }
};

/// f32 exponent field of the smallest normal number of a type; model exponents go no lower.
template <MfmaType t>
inline constexpr int kMinimum = t == MfmaType::fp8   ? 127 - 7
                                : t == MfmaType::bf8 ? 127 - 15
                                : t == MfmaType::f16 ? 127 - 14
                                                     : 1;

/// Halves whose largest and smallest need not be looked for: that takes as long as a quarter of all
/// sums, since everything waits for it. They are narrow, as are their products (exact_sums).
struct UsualHalves {
  std::uint16_t highest, lowest;  ///< The magnitudes: the largest, and the smallest less 1.
  int highest_field, lowest_field;
};
/// bf16 from 2^-45 to below 2^19, and all finite f16.
template <MfmaType t>
inline constexpr UsualHalves kUsual =
    t == MfmaType::f16
        ? UsualHalves{0x7bff, 0, 127 + 15, 127 - 14}
        : UsualHalves{(127 + 19) * 128 - 1, (127 - 45) * 128 - 1, 127 + 18, 127 - 45};

/// For f16 and bf16, from the packed halves: a lane's register pair holds one dword's four k.
template <MfmaType t, int m, int k, int blocks>
MARGAY_INLINE void half_exponents(const std::uint32_t* rows, Exponents<m, k, blocks>& out) {
  using Source = Operand<t, m, k, blocks>;
  constexpr int mantissa_bits = t == MfmaType::f16 ? 10 : 7;
  constexpr std::uint32_t bias = t == MfmaType::f16 ? 127 - 15 : 0;  // to f32's
  constexpr int dwords = k / 4, chunks = Source::kChunks;
  U16 halves[dwords][chunks][2];
  U16 largest{}, smallest = splat(std::uint16_t{0xffff});
  unroll<dwords>([&](auto q) {
    unroll<chunks>([&](auto u) {
      unroll<2>([&](auto reg) {
        constexpr int kk = decltype(q)::value * 4 + decltype(reg)::value * 2;
        const U16 h = (U16)(load<U32>(rows + Source::offset(kk, decltype(u)::value)) & 0x7fff7fffu);
        halves[q][u][reg] = h;
        largest = max(largest, h);
        smallest = min(smallest, h - 1);  // zero becomes the largest
      });
    });
  });
  if (!any_bit((U32)((max(largest, splat(kUsual<t>.highest)) ^ kUsual<t>.highest) |
                     (min(smallest, splat(kUsual<t>.lowest)) ^ kUsual<t>.lowest)))) {
    out.highest = kUsual<t>.highest_field;
    out.lowest = kUsual<t>.lowest_field;
  } else {
    const std::uint32_t top = highest(max((U32)largest & 0xffffu, (U32)largest >> 16));
    const std::uint32_t bottom = lowest(min((U32)smallest & 0xffffu, (U32)smallest >> 16)) + 1;
    const auto field = [](std::uint32_t bits) {
      const std::uint32_t f = bits >> mantissa_bits;
      return (t == MfmaType::f16 && f == 0 ? 1 : f) + bias;
    };
    if (top != 0) {
      out.highest = static_cast<int>(field(top));
      out.lowest = static_cast<int>(field(bottom));
    }
    out.usable = out.highest < (t == MfmaType::f16 ? 143 : 255) && out.lowest > 0 &&
                 out.spread_within(kLowest);
  }

  const U16 rebias =
      splat(static_cast<std::uint16_t>(kHighest + bias - static_cast<std::uint32_t>(out.highest)));
  const auto bytes = [&](U16 h) {
    U16 e = h >> mantissa_bits;
    if constexpr (t == MfmaType::f16) e = max(e, splat(std::uint16_t{1}));
    return (U32)((U16)(h != 0) & (e + rebias));
  };
  unroll<dwords>([&](auto q) {
    unroll<chunks>(
        [&](auto u) { out.dwords[q][u] = bytes(halves[q][u][0]) | bytes(halves[q][u][1]) << 8; });
  });
}

/// For every type, from the expanded values.
template <MfmaType t, int m, int k, int blocks>
MARGAY_INLINE void value_exponents(const F32 (&x)[k][m * blocks / 16],
                                   Exponents<m, k, blocks>& out) {
  constexpr int chunks = m * blocks / 16;
  U32 largest{}, smallest = splat(~0u);
  for (int kk = 0; kk < k; ++kk)
    for (int u = 0; u < chunks; ++u) {
      const U32 magnitude = (U32)x[kk][u] & 0x7fffffffu;
      largest = max(largest, magnitude);
      smallest = min(smallest, magnitude - 1);
    }
  const int top = static_cast<int>(highest(largest) >> 23);
  const int bottom = static_cast<int>((lowest(smallest) + 1) >> 23);
  if (highest(largest) != 0) {
    out.highest = top > kMinimum<t> ? top : kMinimum<t>;
    out.lowest = bottom > kMinimum<t> ? bottom : kMinimum<t>;
    // A denormal f32 cannot be represented here; a denormal f16, fp8 or bf8 is a normal f32.
    if (bottom == 0) out.usable = false;
  }
  out.usable = out.usable && out.highest < 255 && out.spread_within(kLowest);

  const U32 rebias = splat(kHighest - static_cast<std::uint32_t>(out.highest));
  for (int q = 0; q < k / 4; ++q)
    for (int u = 0; u < chunks; ++u) {
      U32 dword{};
      for (int part = 0; part < 4; ++part) {
        const U32 magnitude = (U32)x[q * 4 + part][u] & 0x7fffffffu;
        const U32 e = max(magnitude >> 23, splat(std::uint32_t{kMinimum<t>})) + rebias;
        dword |= ((U32)(magnitude != 0u) & e & 0xffu) << (8 * part);
      }
      out.dwords[q][u] = dword;
    }
}

template <MfmaType ta, MfmaType tb, int m, int k, int blocks>
consteval std::size_t shape_index() {
  for (std::size_t n = 0; n < kMfmaShapeCount; ++n) {
    const MfmaShape& s = kMfmaShapes[n];
    if (s.a == ta && s.b == tb && s.m == m && s.k == k && s.blocks == blocks) return n;
  }
  return kMfmaShapeCount;
}

template <MfmaType ta, MfmaType tb, int m, int k, int blocks>
[[gnu::flatten]] void run_exact(const MfmaOperands& op) {
  constexpr bool is_half = ta == MfmaType::f16 || ta == MfmaType::bf16;
  constexpr int chunks = m * blocks / 16;

  Exponents<m, k, blocks> ea, eb;
  F32 a[k][chunks], b[k][chunks];
  expand<ta, m, k, blocks>(op.a, a);
  expand<tb, m, k, blocks>(op.b, b);
  if constexpr (is_half) {
    half_exponents<ta>(op.a, ea);
    half_exponents<tb>(op.b, eb);
  } else {
    value_exponents<ta>(a, ea);
    value_exponents<tb>(b, eb);
  }
  if (!vector_sums_possible(ea, eb)) {
    mfma_around_extremes(kMfmaShapes[shape_index<ta, tb, m, k, blocks>()], op,
                         run_exact<ta, tb, m, k, blocks>);
    return;
  }
  constexpr int group = kGroup<ta, k>;
  const auto columns = [&](unsigned u, auto g, unsigned) {
    Columns<group> result;
    unroll<group>([&](auto n) { result.values[n] = b[g * group + n][u]; });
    unroll<group / 4>([&](auto q) { result.exponents[q] = eb.dwords[g * (group / 4) + q][u]; });
    return result;
  };
  exact_sums<ta, m, k, chunks, true>(a, ea, eb, columns, Addend{op.c, op.c_constant}, op.d);
}

}  // namespace margay::MARGAY_HOST_LEVEL
