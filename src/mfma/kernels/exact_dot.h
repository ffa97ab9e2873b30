// The published bit model of the matrix unit (bit_model.h) for bf16, whose products of one group of
// k are summed by the host's dot products of 16-bit integers (VPDPWSSD).
//
// The unit aligns the products of a group to the largest exponent e of one, and keeps 24 bits below
// it. A product has 14 bits below its own exponent, so it loses none unless that is more than 10
// below e. Elements of a row of A are written as integers relative to the largest of the row and
// group, those of B relative to the largest of their column:
//
//   A: 8 bits of significand, shifted left by 0 to kWindowA     in units of 2^(top of row - 10)
//   B: 8 bits of significand, shifted left by 0 to kWindowB     in units of 2^(top of column - 14)
//
// Then the sum of products is exact in units of 2^(top of row + top of column - 24), and no product
// is more than 10 below e. Elements further below are zero there. Their products, some 1 of 13
// where numbers are normally distributed, are added one k at a time as in exact_kernels.h. How far
// e is below the two tops is the shift that makes a RowSum, and C joins as there (exact_sums.h).
#pragma once

#include "mfma/kernels/exact_kernels.h"

namespace margay::MARGAY_HOST_LEVEL {

inline constexpr std::uint16_t kWindowA = 3, kWindowB = 7;
static_assert(kWindowA + kWindowB == 24 - 2 * 7);  // no product loses bits
static_assert(kWindowB + 8 <= 15);                 // an element fits a 16-bit integer

/// One operand, for elements whose magnitudes are kUsual. Its rows are those of A or the columns of
/// B; a vector has 16 of them, a step two k in the halves of each dword.
template <int m, int k, std::uint16_t window, bool keeps_small>
struct DotOperand {
  using Source = Operand<MfmaType::bf16, m, k, 1>;
  static constexpr int kChunks = Source::kChunks, kSteps = k / 2, kGroups = k / 8;
  static constexpr std::uint16_t kRebias = kUsual<MfmaType::bf16>.highest_field - kHighest;

  U32 pairs[kSteps][kChunks];            ///< The integers.
  F32 values[k][kChunks];                ///< The same, or all elements if `keeps_small`.
  U16 exponents[kSteps][kChunks];        ///< Biased as those of exact_kernels.h; 0 for zero.
  U16 tops[kGroups][kChunks];            ///< The largest of a group, in both halves.
  std::uint32_t small[kSteps][kChunks];  ///< A bit for each element below the window.
  bool usable;

  /// Where the dwords of a step begin in `rows` (Operand::offset, for a step not known before).
  [[nodiscard]] MARGAY_INLINE static unsigned offset(int step) {
    constexpr int steps = Source::kPerLane / 2;
    return static_cast<unsigned>(step % steps * 64 + step / steps * m);
  }
  MARGAY_INLINE void prepare(const std::uint32_t* from) {
    U16 largest{}, smallest = splat(std::uint16_t{0xffff});
    unroll<kGroups>([&](auto g) {
      for (unsigned u = 0; u < kChunks; ++u) {
        U32 dwords[4];
        U16 magnitude[4], top{};
        unroll<4>([&](auto s) {
          dwords[s] = load<U32>(from + offset(g * 4 + s) + u * 16);
          magnitude[s] = (U16)(dwords[s] & 0x7fff7fffu);
          top = max(top, magnitude[s]);
          smallest = min(smallest, magnitude[s] - 1);  // zero becomes the largest
        });
        largest = max(largest, top);
        top = max(top, (U16)((U32)top << 16 | (U32)top >> 16)) >> 7;
        tops[g][u] = rebiased(top);
        const U16 lift = window - top;
        unroll<4>([&](auto s) {
          constexpr int step = decltype(g)::value * 4 + decltype(s)::value;
          const U16 exponent = magnitude[s] >> 7, shift = exponent + lift;
          exponents[step][u] = rebiased(exponent);
          const U16 significand = (magnitude[s] & 0x7fu) | 0x80u;
          // Zero where the shift is below 0, for it wraps to a large one.
          const auto number = (U16)_mm512_sllv_epi16((__m512i)significand, (__m512i)shift);
          const auto sign = (U16)_mm512_srai_epi16((__m512i)dwords[s], 15);
          pairs[step][u] = (U32)((number ^ sign) - sign);
          const __mmask32 is_below = _mm512_mask_cmpgt_epu16_mask(
              _mm512_test_epi16_mask((__m512i)magnitude[s], (__m512i)magnitude[s]), (__m512i)shift,
              _mm512_set1_epi16(window));
          small[step][u] = is_below;
          const U32 kept =
              keeps_small ? dwords[s]
                          : (U32)_mm512_maskz_mov_epi16(_knot_mask32(is_below), (__m512i)dwords[s]);
          values[step * 2][u] = (F32)(kept << 16);
          values[step * 2 + 1][u] = (F32)(kept & 0xffff0000u);
        });
      }
    });
    usable = !any_bit((U32)(less_or_zero16(largest, splat(kUsual<MfmaType::bf16>.highest)) |
                            less_or_zero16(splat(kUsual<MfmaType::bf16>.lowest), smallest)));
  }

 private:
  [[nodiscard]] MARGAY_INLINE static U16 less_or_zero16(U16 a, U16 b) {
    return (U16)_mm512_subs_epu16((__m512i)a, (__m512i)b);
  }
  [[nodiscard]] MARGAY_INLINE static U16 rebiased(U16 exponent) {
    return less_or_zero16(exponent, splat(kRebias));
  }
};

/// A as ExactDot::multiply needs it.
template <int m, int k>
struct DotRows : DotOperand<m, k, kWindowA, /*keeps_small=*/false> {
  using Base = DotOperand<m, k, kWindowA, false>;
  /// A byte of each row.
  struct RowBytes {
    alignas(16) std::uint8_t bytes[m];
    MARGAY_INLINE void set(unsigned u, U32 low_bytes) {
      _mm_store_si128(reinterpret_cast<__m128i*>(&bytes[u * 16]),
                      _mm512_cvtepi32_epi8((__m512i)low_bytes));
    }
    /// Those of rows 4n to 4n + 3, in every lane.
    [[nodiscard]] MARGAY_INLINE U32 four(unsigned n) const {
      std::uint32_t dword;
      __builtin_memcpy(&dword, &bytes[n * 4], sizeof dword);
      return splat(dword);
    }
  };
  /// Elements below the window: where they are, and what. Written sixteen at a time.
  struct Small {
    static constexpr int kMost = m * 8;
    unsigned count;
    std::uint32_t places[kMost + 16];  ///< The row, and k above its 16 bits.
    float values[kMost + 16];
  };
  alignas(64) std::uint32_t rows[m * k / 2];  ///< The register rows.
  RowBytes exponents_of_k[k], tops_of_group[Base::kGroups];
  Small small_of_group[Base::kGroups];

  MARGAY_INLINE void convert(const std::uint32_t* from) {
    this->prepare(from);
    __builtin_memcpy(rows, from, sizeof rows);
    for (int g = 0; g < Base::kGroups; ++g) {
      small_of_group[g].count = 0;
      for (unsigned u = 0; u < Base::kChunks; ++u) {
        tops_of_group[g].set(u, (U32)this->tops[g][u]);
        for (int step = g * 4; step < g * 4 + 4; ++step) {
          const auto both = (U32)this->exponents[step][u];
          exponents_of_k[step * 2].set(u, both);
          exponents_of_k[step * 2 + 1].set(u, both >> 16);
          const U32 pairs = load<U32>(rows + Base::offset(step) + u * 16);
          append(small_of_group[g], u, step * 2, this->small[step][u], pairs << 16);
          append(small_of_group[g], u, step * 2 + 1, this->small[step][u] >> 1,
                 pairs & 0xffff0000u);
        }
      }
    }
  }

 private:
  /// The `elements` of one k in every other bit of `which`.
  MARGAY_INLINE static void append(Small& to, unsigned u, int of_k, std::uint32_t which,
                                   U32 elements) {
    const auto lanes = static_cast<__mmask16>(_pext_u32(which, 0x55555555u));
    const __m512i places =
        _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(static_cast<int>(u * 16) + of_k * 0x10000));
    _mm512_storeu_si512(&to.places[to.count], _mm512_maskz_compress_epi32(lanes, places));
    _mm512_storeu_si512(&to.values[to.count],
                        _mm512_maskz_compress_epi32(lanes, (__m512i)elements));
    to.count += static_cast<unsigned>(__builtin_popcount(lanes));
  }
};

/// D = C + A B in parts (MfmaParts).
template <int m, int k>
struct ExactDot {
  using A = DotRows<m, k>;
  using B = DotOperand<m, k, kWindowB, /*keeps_small=*/true>;
  static constexpr int kGroups = k / 8;
  static constexpr std::size_t kBDwords = sizeof(B) / 4;

  [[gnu::flatten]] static void convert_a(const std::uint32_t* rows, std::uint32_t* converted) {
    static_assert(sizeof(A) <= MfmaParts::kLargest * 4);
    reinterpret_cast<A*>(converted)->convert(rows);
  }
  [[gnu::flatten]] static void convert_b(const std::uint32_t* rows, std::uint32_t* converted) {
    static_assert(sizeof(B) <= MfmaParts::kLargest * 4);
    reinterpret_cast<B*>(converted)->prepare(rows);
  }

  [[gnu::flatten]] static void multiply(const std::uint32_t* of_a, const std::uint32_t* of_b,
                                        const MfmaOperands& op) {
    const A& a = *reinterpret_cast<const A*>(of_a);
    const B& b = *reinterpret_cast<const B*>(of_b);
    if (__builtin_expect(!(a.usable && b.usable), 0)) {
      run_other(a, op);
      return;
    }
    constexpr int bias = 2 * kUsual<MfmaType::bf16>.highest_field - 127 - 2 * int{kHighest};
    constexpr SumLimits limits{static_cast<std::uint32_t>(bias), kProduct, /*narrow=*/true};
    for (unsigned u = 0; u < B::kChunks; ++u) {
      RowSum rows[kGroups][m];
      U8 smallest = (U8)splat(~0u);
      unroll<kGroups>([&](auto g) {
        smallest = min(smallest, sum_within(a, b, g, u, limits, rows[g]));
        add_small(a, b, g, u, rows[g]);
      });
      const bool has_empty = _mm512_movepi8_mask((__m512i)smallest) != ~0ull;
      static_assert(kProduct == 0x80);
      join_rows<false>(rows, has_empty, limits, u, Addend{op.c, op.c_constant}, op.d,
                       [](auto, unsigned, I32, F32, F32 result) { return result; });
    }
  }

  static void run(const MfmaOperands& op) {
    alignas(64) std::uint32_t a[sizeof(A) / 4], b[kBDwords];
    convert_a(op.a, a);
    convert_b(op.b, b);
    multiply(a, b, op);
  }

 private:
  [[gnu::noinline]] static void run_other(const A& a, MfmaOperands op) {
    op.a = a.rows;
    run_exact<MfmaType::bf16, MfmaType::bf16, m, k, 1>(op);
  }

  /// The sums of products of elements in the windows, and the limits of all. Returns the smallest
  /// exponent byte of a group's largest product. The exponents of four rows are summed at a time.
  [[nodiscard]] MARGAY_INLINE static U8 sum_within(const A& a, const B& b, int g, unsigned u,
                                                   const SumLimits& limits, RowSum (&rows)[m]) {
    const auto repeated = [](U16 halves, auto odd) {
      constexpr int byte = decltype(odd)::value * 2;
      constexpr int lane = byte * 0x01010101;
      const __m512i from = _mm512_add_epi32(
          _mm512_broadcast_i32x4(_mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0)),
          _mm512_set1_epi32(lane));
      return (U32)_mm512_shuffle_epi8((__m512i)halves, from);
    };
    constexpr std::integral_constant<int, 0> even;
    constexpr std::integral_constant<int, 1> odd;
    U32 exponents[8], pairs[4];
    unroll<4>([&](auto s) {
      exponents[s * 2] = repeated(b.exponents[g * 4 + s][u], even);
      exponents[s * 2 + 1] = repeated(b.exponents[g * 4 + s][u], odd);
      pairs[s] = b.pairs[g * 4 + s][u];
    });
    const U32 top = repeated(b.tops[g][u], even);
    U8 smallest = (U8)splat(~0u);
    for (unsigned n = 0; n < m / 4; ++n) {
      U8 largest{};
      unroll<8>([&](auto kk) {
        largest = max(largest, (U8)(exponents[kk] + a.exponents_of_k[g * 8 + kk].four(n)));
      });
      smallest = min(smallest, largest);
      const U32 below_tops = top + a.tops_of_group[g].four(n) - (U32)largest;
      __m512i sum[4] = {};
      unroll<4>([&](auto s) {
        const auto of_a = reinterpret_cast<const std::uint32_t*>(a.pairs[g * 4 + s]) + n * 4;
        unroll<4>([&](auto r) {
          sum[r] = _mm512_dpwssd_epi32(sum[r], (__m512i)pairs[s], (__m512i)splat(of_a[r]));
        });
      });
      unroll<4>([&](auto r) {
        constexpr int byte = decltype(r)::value * 8;
        const U32 field = byte < 24 ? (U32)largest << (23 - byte) : (U32)largest >> 1;
        rows[n * 4 + r] = {(I32)_mm512_sllv_epi32(sum[r], (__m512i)(below_tops >> byte & 0xffu)),
                           (F32)((U32)scale_of(limits.limit(U32{})) - (field & kField))};
      });
    }
    return smallest;
  }

  /// One product of each column: `of_a` is of one row.
  [[nodiscard]] MARGAY_INLINE static I32 product(const RowSum& row, float of_a, F32 of_b) {
    return to_int(splat(of_a) * of_b * row.scale);
  }

  /// The products of the elements below the windows: those of A with all of B, those of B with the
  /// others of A.
  MARGAY_INLINE static void add_small(const A& a, const B& b, int g, unsigned u,
                                      RowSum (&rows)[m]) {
    const auto& small = a.small_of_group[g];
    for (unsigned n = 0; n < small.count; ++n) {
      RowSum& row = rows[small.places[n] & 0xffff];
      row.sum += product(row, small.values[n], b.values[small.places[n] >> 16][u]);
    }
    for (int step = g * 4; step < g * 4 + 4; ++step)
      for (int odd = 0; odd < 2; ++odd) {
        const std::uint32_t which = _pext_u32(b.small[step][u], 0x55555555u << odd);
        if (which == 0) continue;
        const int of_k = step * 2 + odd;
        const auto of_b =
            (F32)_mm512_maskz_mov_ps(static_cast<__mmask16>(which), (__m512)b.values[of_k][u]);
        const auto of_a = reinterpret_cast<const float*>(a.values[of_k]);
        for (unsigned i = 0; i < m; ++i) rows[i].sum += product(rows[i], of_a[i], of_b);
      }
  }
};

}  // namespace margay::MARGAY_HOST_LEVEL
