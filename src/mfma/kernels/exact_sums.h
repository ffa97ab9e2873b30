// C plus the sums of products, by the published bit model (bit_model.h), sixteen columns at a time.
//
// Three passes over the rows of a chunk, each of independent steps. In one pass, a row's second
// group would wait for its first, and hosts look too few instructions ahead to begin the next row
// meanwhile:
//   1. the products of each row and group are summed (RowSum);
//   2. group by group, C joins (join);
//   3. the results are stored. If an element of C or a row needs care, joined_with_care does pass 2
//      again before. D is not written until then, for it may be C.
#pragma once

#include "mfma/kernels/bit_model.h"
#include "mfma/kernels/chain_kernels.h"

namespace margay::MARGAY_HOST_LEVEL {

/// Biased exponent bytes of an operand: four k per dword. Zero is 0, the largest element kHighest,
/// so a sum with a zero in it stays below kProduct. In a narrow operand the others are kNarrow or
/// more, so every other sum is kProduct or more; in a wide one they may be down to 1, and a largest
/// sum below kProduct can be of zeros or of very small products.
inline constexpr std::uint32_t kHighest = 127, kNarrow = 64, kLowest = 1, kProduct = 2 * kNarrow;

/// How far C may be above the largest product without a change of units.
inline constexpr std::uint32_t kHeadroom = 5;
inline constexpr std::uint32_t kField = 0x7f800000;  ///< f32's exponent, all ones: infinity.

/// One row's products of one group of k, as an integer in units of 2^(e - 24), with e the largest
/// exponent of a product.
struct RowSum {
  I32 sum;
  F32 scale;  ///< 2^(24 - e)
};

/// The scale that belongs to a limit, and back: the limit of a sum is the exponent field of
/// 2^(e + kHeadroom) in its place, and that of a larger C its own field.
inline constexpr std::uint32_t kScaleAndLimit = (127 + 127 + 24 + kHeadroom) << 23;
[[nodiscard]] MARGAY_INLINE F32 scale_of(U32 limit) { return (F32)(kScaleAndLimit - limit); }
[[nodiscard]] MARGAY_INLINE U32 limit_of(F32 scale) { return kScaleAndLimit - (U32)scale; }
[[nodiscard]] MARGAY_INLINE F32 inverse(F32 scale) { return (F32)((254u << 23) - (U32)scale); }

/// The sum over one group and C, for a finite C and a group with a product that is not zero.
///
/// C is taken in units of 2^(e - 24 + up): `up` is 0 unless C is 2^6 times the largest product or
/// more, and then such that C has 30 bits. What the sum of products has below that unit is cut to
/// 32 significant bits of the total, toward -infinity, and of the rest it only matters whether it
/// is zero: the total has 29 bits or more, so its lowest four are below the half of the result's
/// last bit, and rounding only asks whether any of them is set. (fp8's 16 products can leave 27
/// bits where `up` is 1; then the rest is one bit.)
///
/// `largest` becomes infinity's exponent if C is not finite.
/// `c` becomes the sum. The steps of several rows are interleaved, since hosts look too few
/// instructions ahead to do so.
template <bool drops_small_c, int rows>
MARGAY_INLINE void join_any(const RowSum* row, F32 (&c)[rows], U32& largest) {
  U32 up[rows];
  I32 total[rows];
  F32 scale[rows];
  unroll<rows>([&](auto r) {
    const U32 field = (U32)c[r] & kField;
    largest = max(largest, field);
    scale[r] = (F32)min((U32)scale_of(field), (U32)row[r].scale);
    up[r] = ((U32)row[r].scale - (U32)scale[r]) >> 23;
  });
  unroll<rows>([&](auto r) {
    I32 addend = scaled_floor(scaled(c[r], scale[r]), c[r]);
    if constexpr (drops_small_c) {
      // fp8 and bf8: C more than 25 exponents below the products counts as zero, not as -1.
      const U32 field = (U32)c[r] & kField;
      addend &= max(field, splat(1u << 23)) + ((25 + kHeadroom) << 23) >= limit_of(row[r].scale);
    }
    total[r] = addend + shift_right(row[r].sum, (I32)up[r]);
  });
  unroll<rows>([&](auto r) {
    // `up` less the leading zeros is what the total has beyond 32 bits.
    const U32 cut = less_or_zero(up[r], (U32)leading_zeros(total[r] < 0 ? -total[r] : total[r]));
    const U32 rest = (U32)row[r].sum & ones_from(cut) & ~ones_from(up[r]);
    total[r] |= (I32)min(rest, splat(15u));
  });
  unroll<rows>([&](auto r) { c[r] = to_float(total[r]) * inverse(scale[r]); });
}

/// The same, sooner if no C of these rows is 2^6 times the largest product or more. Where one was,
/// others are, so `may_be_small` becomes false and the next rows are not asked.
template <bool drops_small_c, int rows>
MARGAY_INLINE void join(const RowSum* row, F32 (&c)[rows], U32& largest, bool& may_be_small) {
  if (drops_small_c || !may_be_small) {
    join_any<drops_small_c>(row, c, largest);
    return;
  }
  F32 product[rows];
  U32 most{};
  unroll<rows>([&](auto r) {
    product[r] = scaled(c[r], row[r].scale);
    most = max(most, (U32)product[r] & 0x7fffffffu);
  });
  if (any((I32)(most >= __builtin_bit_cast(std::uint32_t, 0x1p30f)))) {
    may_be_small = false;
    join_any<drops_small_c>(row, c, largest);
    return;
  }
  unroll<rows>([&](auto r) {
    const I32 addend = scaled_floor(product[r], c[r]);
    c[r] = to_float(addend + row[r].sum) * inverse(row[r].scale);
  });
}

/// Rows that are joined at once.
#if defined(__AVX512F__)
inline constexpr int kJoinedAtOnce = 4;
#else
inline constexpr int kJoinedAtOnce = 1;
#endif

/// What the rows of an instruction have in common.
struct SumLimits {
  std::uint32_t bias;   ///< What turns a product's exponent byte into an f32 exponent field.
  std::uint32_t least;  ///< Rows whose largest exponent byte is below it need care.
  bool narrow;          ///< They can only have products of zero.

  /// The limit of an exponent byte, and back.
  [[nodiscard]] MARGAY_INLINE U32 limit(U32 byte) const {
    return (byte << 23) + ((bias + kHeadroom) << 23);
  }
  [[nodiscard]] MARGAY_INLINE U32 byte(U32 limit) const {
    return ((limit >> 23) - (bias + kHeadroom)) & 0x1ffu;
  }
};

/// As joined, for any C and any products. `repair(lanes)` computes those lanes by the scalar model.
template <bool drops_small_c, typename Repair>
[[nodiscard]] MARGAY_INLINE F32 joined_with_care(const RowSum& row, F32 c, const SumLimits& limits,
                                                 Repair&& repair) {
  U32 unused{};
  F32 joined[] = {c};
  join_any<drops_small_c>(&row, joined, unused);
  const F32 result = joined[0];
  const I32 without_product = limits.byte(limit_of(row.scale)) < limits.least;
  const I32 alone = (((U32)c & kField) == kField) | without_product;
  if (!any(alone)) return result;
  if (!limits.narrow) return repair(without_product, c, result);
  // Infinite or NaN C, or no product at all: C itself, but +0 for -0.
  return canonical(alone ? c + 0.0f : result);
}

/// The scalar model for the lanes in `which` and those whose C is infinite or NaN.
template <int count>
[[gnu::noinline]] F32 repair_lanes(I32 which, F32 c, F32 result, const F32* a, const F32* b) {
  for (int lane = 0; lane < 16; ++lane) {
    const std::uint32_t bits = ((U32)c)[lane];
    if (which[lane] == 0 && (bits & 0x7fffffffu) < kField) continue;
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

/// The scale 2^(24 - e) and its inverse must be normal, and no product may overflow. (Products may
/// be denormal and inexact where a larger one makes them count as zero.)
template <typename A, typename B>
[[nodiscard]] MARGAY_INLINE bool vector_sums_possible(const A& ea, const B& eb) {
  return ea.usable && eb.usable && ea.highest + eb.highest <= 254 + 100;
}

/// Products summed in one step of the model.
template <MfmaType t, int k>
inline constexpr int kGroup = t == MfmaType::fp8 || t == MfmaType::bf8 ? 16
                              : t == MfmaType::xf32                    ? 4
                              : k < 8                                  ? k
                                                                       : 8;

/// What a row of A is multiplied by in one group of k: B's values, and the exponents of four in
/// each dword.
template <int group>
struct Columns {
  F32 values[group];
  U32 exponents[group / 4];
};

/// The second and third pass for chunk u. `has_empty`: some group of a row has no product that is
/// not zero, or a small one. `repair(g, i, lanes, before, result)` computes those lanes of row i by
/// the scalar model.
template <bool drops_small_c, int groups, int m, typename Repair>
MARGAY_INLINE void join_rows(const RowSum (&rows)[groups][m], bool has_empty,
                             const SumLimits& limits, unsigned u, Addend addend, std::uint32_t* d,
                             Repair&& repair) {
  const auto c_of = [&](unsigned i) { return (F32)addend.at(result_offset<m>(i, u)); };
  F32 result[m];
  U32 largest{};
  if (!has_empty) {
    constexpr int step = kJoinedAtOnce;
    bool may_be_small = true;
    for (unsigned g = 0; g < groups; ++g)
      for (unsigned i = 0; i < m; i += step) {
        F32 sum[step];
        unroll<step>([&](auto r) { sum[r] = g == 0 ? c_of(i + r) : result[i + r]; });
        join<drops_small_c>(&rows[g][i], sum, largest, may_be_small);
        unroll<step>([&](auto r) { result[i + r] = sum[r]; });
      }
  }
  if (__builtin_expect(has_empty || any(largest >= kField), 0)) {
    for (unsigned i = 0; i < m; ++i) {
      result[i] = c_of(i);
      unroll<groups>([&](auto g) {
        result[i] = joined_with_care<drops_small_c>(
            rows[g][i], result[i], limits, [&](auto... lanes) { return repair(g, i, lanes...); });
      });
    }
  }
  for (unsigned i = 0; i < m; ++i) store(d + result_offset<m>(i, u), result[i]);
}

/// D = C + the sums of `k` products per row and column, for operands for which vector_sums_possible
/// holds. `columns(u, g, i)` are B's for chunk u, group g (an integral_constant) and row i of A; i
/// does not matter to it when `same_for_rows`.
template <MfmaType ta, int m, int k, int chunks, bool same_for_rows, typename A, typename B,
          typename ColumnsOf>
MARGAY_INLINE void exact_sums(const F32 (&a)[k][chunks], const A& ea, const B& eb,
                              ColumnsOf&& columns, Addend addend, std::uint32_t* d) {
  constexpr bool is_byte = ta == MfmaType::fp8 || ta == MfmaType::bf8;
  constexpr int group = kGroup<ta, k>, groups = k / group;
  const int signed_bias = ea.highest + eb.highest - 127 - 2 * static_cast<int>(kHighest);
  constexpr int least_field = 127 - 90;  // of the largest product in f32, for the scale's sake
  constexpr bool is_always_narrow = is_byte || ta == MfmaType::f16;
  const bool narrow = is_always_narrow || (ea.spread_within(kNarrow) && eb.spread_within(kNarrow) &&
                                           ea.lowest + eb.lowest - 127 >= least_field);
  const int least_byte = least_field - signed_bias;
  const std::uint32_t least = narrow || least_byte < static_cast<int>(kProduct)
                                  ? kProduct
                                  : static_cast<std::uint32_t>(least_byte);
  const SumLimits limits{static_cast<std::uint32_t>(signed_bias), least, narrow};

  for (unsigned u = 0; u < chunks; ++u) {
    RowSum rows[groups][m];
    U32 smallest = splat(~0u);
    unroll<groups>([&](auto g) {
      const Columns<group> same = columns(u, g, 0);
      for (unsigned i = 0; i < m; ++i) {
        const Columns<group> of_b = same_for_rows ? same : columns(u, g, i);
        U8 e{};
        unroll<group / 4>([&](auto q) {
          constexpr int dword = decltype(g)::value * (group / 4) + decltype(q)::value;
          e = max(e, (U8)(of_b.exponents[q] + row_values<m>(ea.dwords[dword], u, i)));
        });
        e = max(e, (U8)((U32)e >> 16));
        const auto partial = [&](F32 scale, auto first, auto stride) {
          I32 sum{};
          unroll<group / decltype(stride)::value>([&](auto n) {
            constexpr int of_group =
                decltype(first)::value + decltype(n)::value * decltype(stride)::value;
            constexpr int kk = decltype(g)::value * group + of_group;
            sum += to_int(row_values<m>(a[kk], u, i) * of_b.values[of_group] * scale);
          });
          return sum;
        };
        constexpr auto zero = std::integral_constant<int, 0>{};
        constexpr auto one = std::integral_constant<int, 1>{};
        constexpr auto two = std::integral_constant<int, 2>{};
        RowSum& row = rows[g][i];
        if constexpr (!is_byte) {
          const U32 largest = (U32)max(e, (U8)((U32)e >> 8)) & 0xffu;
          smallest = min(smallest, largest);
          row.scale = scale_of(limits.limit(largest));
          row.sum = partial(row.scale, zero, one);
        } else {
          // Even and odd k apart, each to its own largest exponent, then both floored to the
          // common.
          const U32 even = (U32)e & 0xffu, odd = (U32)e >> 8 & 0xffu;
          const U32 largest = max(even, odd);
          const auto half = [&](U32 own, auto first) {
            const I32 sum = partial(scale_of(limits.limit(own)), first, two) & (own >= kProduct);
            return sum >> (I32)min(largest - own, splat(31u));
          };
          smallest = min(smallest, largest);
          row.scale = scale_of(limits.limit(largest));
          row.sum = half(even, zero) + half(odd, one);
        }
      }
    });

    const auto repair = [&](auto g, unsigned i, I32 which, F32 before, F32 other) {
      if constexpr (is_always_narrow) {
        return other;
      } else {
        F32 row[group];
        unroll<group>([&](auto n) {
          constexpr int kk = decltype(g)::value * group + decltype(n)::value;
          row[n] = row_values<m>(a[kk], u, i);
        });
        const Columns<group> of_b = columns(u, g, i);
        return repair_lanes<group>(which, before, other, row, of_b.values);
      }
    };
    join_rows<is_byte>(rows, any(smallest < least), limits, u, addend, d, repair);
  }
}

}  // namespace margay::MARGAY_HOST_LEVEL
