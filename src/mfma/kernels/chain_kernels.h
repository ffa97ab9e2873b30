// The kernels that are a chain per element of D, k ascending: fused multiply-adds of f32 (`fma` of
// every f32-result type, and f32 itself in all modes) and of f64, and wrapping int32 sums of i8.
#pragma once

#include "mfma/instructions/operands.h"
#include "mfma/kernels/expand.h"

namespace margay::MARGAY_HOST_LEVEL {

/// C as the kernels read it: register rows, or one constant.
struct Addend {
  const std::uint32_t* rows;
  std::uint32_t constant;
  [[nodiscard]] MARGAY_INLINE U32 at(unsigned offset) const {
    return rows ? load<U32>(rows + offset) : splat(constant);
  }
};

/// NaN results get one pattern, so that every host gives the same bits.
[[nodiscard]] MARGAY_INLINE F32 canonical(F32 v) {
  return (F32)(v == v ? (U32)v : splat(0x7fc00000u));
}

/// Rows of D computed side by side: their chains are independent, which hides the latency, and all
/// their sums stay in registers. (Sixteen take longer than eight on an EPYC 9004.)
#if defined(__AVX512F__)
inline constexpr int kRowsAtOnce = 8;
#elif defined(__AVX2__)
inline constexpr int kRowsAtOnce = 4;
#else
inline constexpr int kRowsAtOnce = 2;
#endif

/// Stores rows of D with canonical NaNs. Their total is a NaN if one of them is: additions have
/// units of their own on many hosts, comparisons take those of the multiplications.
template <int m, int rows>
MARGAY_INLINE void store_canonical(F32 (&sum)[rows], unsigned first, unsigned u, std::uint32_t* d) {
  F32 total = sum[0];
  unroll<rows - 1>([&](auto r) { total += sum[r + 1]; });
  if (__builtin_expect(any(total != total), 0))
    unroll<rows>([&](auto r) { sum[r] = canonical(sum[r]); });
  unroll<rows>([&](auto r) { store(d + result_offset<m>(first + r, u), sum[r]); });
}

/// `column(kk, u)` is B's k = kk (an integral_constant) of chunk u.
template <int m, int k, int chunks, typename Column>
MARGAY_INLINE void chain_fused(const F32 (&a)[k][chunks], Column&& column, Addend c,
                               std::uint32_t* d) {
  constexpr int rows = m < kRowsAtOnce ? m : kRowsAtOnce;
  for (unsigned u = 0; u < chunks; ++u) {
    for (unsigned first = 0; first < m; first += rows) {
      F32 sum[rows];
      unroll<rows>([&](auto r) { sum[r] = (F32)c.at(result_offset<m>(first + r, u)); });
      unroll<k>([&](auto kk) {
        const F32 of_b = column(kk, u);
        unroll<rows>(
            [&](auto r) { sum[r] = fused(row_values<m>(a[kk], u, first + r), of_b, sum[r]); });
      });
      store_canonical<m>(sum, first, u, d);
    }
  }
}

/// A chain of fused multiply-adds for each element of D, in parts (MfmaParts).
template <MfmaType ta, MfmaType tb, int m, int k, int blocks>
struct Fused {
  static constexpr int kChunks = m * blocks / 16;
  static constexpr std::ptrdiff_t kSource = m * k * blocks * mfma_type_bytes(tb) / 4;
  static constexpr std::ptrdiff_t kResult = m * m * blocks;
  using Converted = F32[k][kChunks];
  static_assert(sizeof(Converted) <= MfmaParts::kLargest * 4);
  /// Values that take one operation are made where they are used.
  static constexpr bool kIsCheap = tb == MfmaType::bf16 || tb == MfmaType::f32;
  static constexpr std::size_t kBDwords = kIsCheap ? 0 : sizeof(Converted) / 4;

  [[gnu::flatten]] static void convert_a(const std::uint32_t* rows, std::uint32_t* converted) {
    expand<ta, m, k, blocks>(rows, *reinterpret_cast<Converted*>(converted));
  }
  [[gnu::flatten]] static void convert_all_of_b(const std::uint32_t* rows,
                                                std::uint32_t* converted) {
    expand<tb, m, k, blocks>(rows, *reinterpret_cast<Converted*>(converted));
  }
  static constexpr auto convert_b = kIsCheap ? nullptr : convert_all_of_b;

  [[gnu::flatten]] static void multiply(const std::uint32_t* of_a, const std::uint32_t* of_b,
                                        const MfmaOperands& op) {
    const Converted& a = *reinterpret_cast<const Converted*>(of_a);
    const Addend c{op.c, op.c_constant};
    const auto with = [&](const Converted& b) {
      chain_fused<m, k>(a, [&](auto kk, unsigned u) { return b[kk][u]; }, c, op.d);
    };
    if constexpr (!kIsCheap) {
      with(*reinterpret_cast<const Converted*>(of_b));
    } else if (m <= kRowsAtOnce || op.d + kResult <= op.b || op.b + kSource <= op.d) {
      chain_fused<m, k>(
          a, [&](auto kk, unsigned u) { return operand_values<tb, m, k, blocks>(op.b, kk, u); }, c,
          op.d);
    } else {  // D is written before all of B has been used
      Converted b;
      expand<tb, m, k, blocks>(op.b, b);
      with(b);
    }
  }
  static void run(const MfmaOperands& op) {
    alignas(64) std::uint32_t a[sizeof(Converted) / 4];
    convert_a(op.a, a);
    if constexpr (kIsCheap) {
      multiply(a, nullptr, op);
    } else {
      alignas(64) std::uint32_t b[sizeof(Converted) / 4];
      convert_all_of_b(op.b, b);
      multiply(a, b, op);
    }
  }
};

template <int m, int k, int blocks>
MARGAY_INLINE void expand_i8(const std::uint32_t* rows, I32 (&x)[k][m * blocks / 16]) {
  using Source = Operand<MfmaType::i8, m, k, blocks>;
  unroll<k>([&](auto kk) {
    unroll<Source::kChunks>([&](auto u) {
      constexpr int n = decltype(kk)::value, chunk = decltype(u)::value;
      x[n][chunk] = (load<I32>(rows + Source::offset(n, chunk)) << (24 - Source::bit(n))) >> 24;
    });
  });
}

template <int m, int k, int blocks>
[[gnu::flatten]] void run_i8(const MfmaOperands& op) {
  using Source = Operand<MfmaType::i8, m, k, blocks>;
  I32 a[k][Source::kChunks], b[k][Source::kChunks];
  expand_i8<m, k, blocks>(op.a, a);
  expand_i8<m, k, blocks>(op.b, b);
  const Addend c{op.c, op.c_constant};
  for (unsigned u = 0; u < Source::kChunks; ++u)
    for (unsigned i = 0; i < m; ++i) {
      U32 sum = c.at(result_offset<m>(i, u));
      for (int kk = 0; kk < k; ++kk) sum += (U32)(row_values<m>(a[kk], u, i) * b[kk][u]);
      store(op.d + result_offset<m>(i, u), sum);
    }
}

/// 16x16x4 and 4x4x4_4b of f64: the halves of each value are in two register rows. Half a chunk
/// (8 values) at a time.
template <int m, int blocks>
[[gnu::flatten]] void run_f64(const MfmaOperands& op) {
  constexpr int k = 4;
  struct Halves {
    alignas(64) double values[k][16];
  };
  const auto gather = [](const std::uint32_t* rows, bool negate, Halves& out) {
    const std::uint64_t sign = negate ? std::uint64_t{1} << 63 : 0;
    for (int lane = 0; lane < 64; ++lane) {
      const std::uint64_t bits = (rows[lane] | std::uint64_t{rows[lane + 64]} << 32) ^ sign;
      __builtin_memcpy(&out.values[lane / 16][lane % 16], &bits, sizeof bits);
    }
  };
  Halves a, b;
  gather(op.a, op.blgp & 1, a);
  gather(op.b, op.blgp & 2, b);
  const std::uint64_t c_sign = op.blgp & 4 ? std::uint64_t{1} << 63 : 0;
  for (int i = 0; i < m; ++i) {
    // Row i of D: 16 lanes, which for 4x4 are the four blocks.
    std::uint32_t* const low = op.d + (m == 16 ? i / 4 * 128 + i % 4 * 16 : i * 16);
    const std::uint32_t* const c = op.c ? op.c + (low - op.d) : nullptr;
    for (int half = 0; half < 16; half += 8) {
      U64 bits;
      for (int n = 0; n < 8; ++n)
        bits[n] = (c ? c[half + n] | std::uint64_t{c[half + n + 64]} << 32
                     : std::uint64_t{op.c_constant} << 32) ^
                  c_sign;
      F64 sum = (F64)bits;
      for (int kk = 0; kk < k; ++kk) {
        F64 row;
        for (int n = 0; n < 8; ++n) row[n] = a.values[kk][m == 16 ? i : (half + n) / 4 * 4 + i];
        sum = fused(row, *reinterpret_cast<const F64*>(&b.values[kk][half]), sum);
      }
      bits = sum == sum ? (U64)sum : U64{} + (std::uint64_t{0x7ff80000} << 32);
      for (int n = 0; n < 8; ++n) {
        low[half + n] = static_cast<std::uint32_t>(bits[n]);
        low[half + n + 64] = static_cast<std::uint32_t>(bits[n] >> 32);
      }
    }
  }
}

}  // namespace margay::MARGAY_HOST_LEVEL
