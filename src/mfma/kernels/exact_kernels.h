// The published bit model of the matrix unit (bit_model.h), sixteen columns at a time.
//
// For one row i, one chunk of columns and one group of k:
//   1. e = largest exponent of a product, per column: bytes (biased so that sums are bytes too),
//      four k per dword, added and maximised.
//   2. sum += int(a * b * 2^(24 - e)): the product is exact in f32, the scaling is exact, and the
//      conversion to int truncates toward zero as the unit does.
//   3. C joins, as an int in the same units where it fits, and the conversion from int rounds to
//      nearest even. The unit's cuts at 32 and 31 fraction bits are then below the last bit; where
//      C is larger they are made: finish().
//
// This needs exponents that fit a byte after biasing, and products far from the ends of f32's
// range. Operands outside (or infinite, NaN, or bf16 denormals) go to the scalar model.
#pragma once

#include "mfma/kernels/bit_model.h"
#include "mfma/kernels/chain_kernels.h"
#include "mfma/kernels/reference.h"

namespace margay::MARGAY_HOST_LEVEL {

/// Biased exponent bytes of an operand: four k per dword. Zero is 0, the largest element kHighest,
/// so a sum with a zero in it stays below kProduct. In a narrow operand the others are kNarrow or
/// more, so every other sum is kProduct or more; in a wide one they may be down to 1, and a largest
/// sum below kProduct can be of zeros or of very small products.
inline constexpr std::uint32_t kHighest = 127, kNarrow = 64, kLowest = 1, kProduct = 2 * kNarrow;

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

/// The sum over one group and C. `largest` holds exponent bytes; `bias` turns them into f32 fields;
/// `scale` is 2^(24 - e).
///
/// C is taken in units of 2^(e - 24 + up): `up` is 0 unless C is 2^6 times the largest product or
/// more, and then such that C has 30 bits. What the sum of products has below that unit is cut to
/// 32 significant bits of the total, toward -infinity, and the rest of it only kept as one sticky
/// bit; with at least six bits between that bit and C's last, rounding gives the same result.
///
/// Lanes whose largest exponent byte is below `least` are handed to `repair` unless `narrow` says
/// that they can only have products of zero.
template <bool drops_small_c, typename Repair>
[[nodiscard]] MARGAY_INLINE F32 finish(I32 sum, U32 largest, std::uint32_t bias, F32 scale, F32 c,
                                       std::uint32_t least, bool narrow, Repair&& repair) {
  const U32 magnitude = (U32)c & 0x7fffffffu;
  const U32 field = magnitude >> 23;
  const I32 up = at_least_zero((I32)(field - largest - (bias + 5)));
  const F32 c_scale = (F32)((U32)scale - ((U32)up << 23));
  I32 addend = scaled_floor(c, c_scale);
  if constexpr (drops_small_c) {
    // fp8 and bf8: C more than 25 exponents below the products counts as zero, not as -1.
    addend &= max(field, splat(1u)) + 25u >= largest + bias;
  }
  I32 total = addend + shift_right(sum, up);
  // `up` less the leading zeros is what the total has beyond 32 bits.
  const I32 cut = at_least_zero(up - leading_zeros(total < 0 ? -total : total));
  total |= ((sum & (bit_at(up) - bit_at(cut))) != 0) & 1;
  const F32 result = to_float(total) * (F32)((254u << 23) - (U32)c_scale);
  const I32 alone = (magnitude >= 0x7f800000u) | (largest < least);
  if (__builtin_expect(!any(alone), 1)) return result;
  if (!narrow) return repair(largest < least, c, result);
  // Infinite or NaN C, or no product at all: C itself, but +0 for -0.
  return canonical(alone ? c + 0.0f : result);
}

/// The scalar model for the lanes in `which` and those whose C is infinite or NaN.
template <int count>
[[gnu::noinline]] F32 repair_lanes(I32 which, F32 c, F32 result, const F32* a, const F32* b) {
  for (int lane = 0; lane < 16; ++lane) {
    const std::uint32_t bits = ((U32)c)[lane];
    if (which[lane] == 0 && (bits & 0x7fffffffu) < 0x7f800000u) continue;
    float row[count], column[count];
    for (int n = 0; n < count; ++n) {
      row[n] = a[n][lane];
      column[n] = b[n][lane];
    }
    U32 fixed = (U32)result;
    fixed[lane] = mfma_float_group_sum(row, column, count, bits);
    result = (F32)fixed;
  }
  return result;
}

template <MfmaType ta, MfmaType tb, int m, int k, int blocks>
consteval std::size_t shape_index() {
  for (std::size_t n = 0; n < kMfmaShapeCount; ++n) {
    const MfmaShape& s = kMfmaShapes[n];
    if (s.a == ta && s.b == tb && s.m == m && s.k == k && s.blocks == blocks) return n;
  }
  return kMfmaShapeCount;
}

/// The scale 2^(24 - e) and its inverse must be normal, and no product may overflow. (Products may
/// be denormal and inexact where a larger one makes them count as zero.)
template <typename A, typename B>
[[nodiscard]] MARGAY_INLINE bool vector_sums_possible(const A& ea, const B& eb) {
  return ea.usable && eb.usable && ea.highest + eb.highest <= 254 + 100;
}

/// D = C + the sums of `k` products per row and column, for operands for which vector_sums_possible
/// holds. The part of B that row i of A is multiplied by: `column(u, i, kk)`, the values of the
/// k'th product in chunk u, and `column_exponents(u, i, dword)`, the exponents of four.
template <MfmaType ta, int m, int k, int chunks, typename A, typename B, typename Column,
          typename ColumnExponents>
MARGAY_INLINE void exact_sums(const F32 (&a)[k][chunks], const A& ea, const B& eb, Column&& column,
                              ColumnExponents&& column_exponents, Addend addend, std::uint32_t* d) {
  constexpr bool is_byte = ta == MfmaType::fp8 || ta == MfmaType::bf8;
  constexpr int group = is_byte ? 16 : ta == MfmaType::xf32 ? 4 : k < 8 ? k : 8;
  const int signed_bias = ea.highest + eb.highest - 127 - 2 * static_cast<int>(kHighest);
  const auto bias = static_cast<std::uint32_t>(signed_bias);
  constexpr int least_field = 127 - 90;  // of the largest product in f32, for the scale's sake
  constexpr bool is_always_narrow = is_byte || ta == MfmaType::f16;
  const bool narrow = is_always_narrow || (ea.spread_within(kNarrow) && eb.spread_within(kNarrow) &&
                                           ea.lowest + eb.lowest - 127 >= least_field);
  const int least_byte = least_field - signed_bias;
  const std::uint32_t least = narrow || least_byte < static_cast<int>(kProduct)
                                  ? kProduct
                                  : static_cast<std::uint32_t>(least_byte);
  const U32 scale_base = splat((278u - bias) << 23);

  for (unsigned u = 0; u < chunks; ++u) {
    for (unsigned i = 0; i < m; ++i) {
      const unsigned offset = result_offset<m>(i, u);
      F32 c = (F32)addend.at(offset);
      unroll<k / group>([&](auto g) {
        U8 e{};
        unroll<group / 4>([&](auto q) {
          constexpr int dword = decltype(g)::value * (group / 4) + decltype(q)::value;
          const U32 of_b = column_exponents(u, i, std::integral_constant<int, dword>{});
          e = max(e, (U8)(of_b + row_values<m>(ea.dwords[dword], u, i)));
        });
        e = max(e, (U8)((U32)e >> 16));
        const auto partial = [&](F32 scale, auto first, auto stride) {
          I32 sum{};
          unroll<group / decltype(stride)::value>([&](auto n) {
            constexpr int kk = decltype(g)::value * group + decltype(first)::value +
                               decltype(n)::value * decltype(stride)::value;
            sum += to_int(row_values<m>(a[kk], u, i) *
                          column(u, i, std::integral_constant<int, kk>{}) * scale);
          });
          return sum;
        };
        const auto repair = [&](I32 which, F32 before, F32 result) {
          if constexpr (is_always_narrow) {
            return result;
          } else {
            F32 rows[group], columns[group];
            unroll<group>([&](auto n) {
              constexpr int kk = decltype(g)::value * group + decltype(n)::value;
              rows[n] = row_values<m>(a[kk], u, i);
              columns[n] = column(u, i, std::integral_constant<int, kk>{});
            });
            return repair_lanes<group>(which, before, result, rows, columns);
          }
        };
        constexpr auto zero = std::integral_constant<int, 0>{};
        constexpr auto one = std::integral_constant<int, 1>{};
        constexpr auto two = std::integral_constant<int, 2>{};
        if constexpr (!is_byte) {
          const U32 largest = (U32)max(e, (U8)((U32)e >> 8)) & 0xffu;
          const F32 scale = (F32)(scale_base - (largest << 23));
          c = finish<false>(partial(scale, zero, one), largest, bias, scale, c, least, narrow,
                            repair);
        } else {
          // Even and odd k apart, each to its own largest exponent, then both floored to the
          // common.
          const U32 even = (U32)e & 0xffu, odd = (U32)e >> 8 & 0xffu;
          const U32 largest = max(even, odd);
          const auto half = [&](U32 own, auto first) {
            const I32 sum =
                partial((F32)(scale_base - (own << 23)), first, two) & (own >= kProduct);
            return sum >> (I32)min(largest - own, splat(31u));
          };
          const I32 sum = half(even, zero) + half(odd, one);
          c = finish<true>(sum, largest, bias, (F32)(scale_base - (largest << 23)), c, least,
                           narrow, repair);
        }
      });
      store(d + offset, c);
    }
  }
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
    mfma_reference(kMfmaShapes[shape_index<ta, tb, m, k, blocks>()], MfmaMode::exact, op);
    return;
  }
  exact_sums<ta, m, k, chunks>(
      a, ea, eb, [&](unsigned u, unsigned, auto kk) { return b[kk][u]; },
      [&](unsigned u, unsigned, auto dword) { return eb.dwords[dword][u]; },
      Addend{op.c, op.c_constant}, op.d);
}

}  // namespace margay::MARGAY_HOST_LEVEL
