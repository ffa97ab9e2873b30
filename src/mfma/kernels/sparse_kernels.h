// v_smfmac_*: only the kept values of A are stored, and each row of A is multiplied by its own k of
// B. The kernels are those of the dense instruction of half the k, with B's row chosen per row of
// A.
#pragma once

#include "mfma/kernels/chain_kernels.h"
#include "mfma/kernels/exact_kernels.h"

namespace margay::MARGAY_HOST_LEVEL {

/// The k of B that each kept value of each row of A is multiplied by. A lane holds the indices of
/// the kept values that it holds, in their order.
template <MfmaType t, int m, int k>
struct Picks {
  static constexpr int kKept = k / 2;
  static constexpr int kPerLane = Operand<t, m, kKept, 1>::kPerLane;
  std::uint8_t at[m][kKept];

  explicit Picks(const SmfmacOperands& op) {
    for (int i = 0; i < m; ++i)
      for (int p = 0; p < kKept; ++p) {
        const std::uint32_t bits = op.index[i + p / kPerLane * m] >> op.index_shift;
        at[i][p] = static_cast<std::uint8_t>(p / 2 * 4 + (bits >> p % kPerLane * 2 & 3));
      }
  }
};

template <MfmaType ta, MfmaType tb, int m, int k>
[[gnu::flatten]] void run_sparse_fused(const SmfmacOperands& op) {
  constexpr int kept = k / 2, chunks = m / 16;
  F32 a[kept][chunks], b[k][chunks];
  expand<ta, m, kept, 1>(op.a, a);
  expand<tb, m, k, 1>(op.b, b);
  const Picks<ta, m, k> picks(op);
  constexpr int rows = m < kRowsAtOnce ? m : kRowsAtOnce;
  for (unsigned u = 0; u < chunks; ++u)
    for (unsigned first = 0; first < m; first += rows) {
      F32 sum[rows];
      unroll<rows>([&](auto r) { sum[r] = load<F32>(op.d + result_offset<m>(first + r, u)); });
      for (int p = 0; p < kept; ++p)
        unroll<rows>([&](auto r) {
          const F32 column = b[picks.at[first + r][p]][u];
          sum[r] = fused(row_values<m>(a[p], u, first + r), column, sum[r]);
        });
      unroll<rows>(
          [&](auto r) { store(op.d + result_offset<m>(first + r, u), canonical(sum[r])); });
    }
}

template <int m, int k>
[[gnu::flatten]] void run_sparse_i8(const SmfmacOperands& op) {
  constexpr int kept = k / 2, chunks = m / 16;
  I32 a[kept][chunks], b[k][chunks];
  expand_i8<m, kept, 1>(op.a, a);
  expand_i8<m, k, 1>(op.b, b);
  const Picks<MfmaType::i8, m, k> picks(op);
  for (unsigned u = 0; u < chunks; ++u)
    for (unsigned i = 0; i < m; ++i) {
      std::uint32_t* const d = op.d + result_offset<m>(i, u);
      U32 sum = load<U32>(d);
      for (int p = 0; p < kept; ++p) sum += (U32)(row_values<m>(a[p], u, i) * b[picks.at[i][p]][u]);
      store(d, sum);
    }
}

template <MfmaType ta, MfmaType tb, int m, int k>
consteval std::size_t sparse_shape_index() {
  for (std::size_t n = 0; n < kSmfmacShapeCount; ++n) {
    const MfmaShape& s = kSmfmacShapes[n];
    if (s.a == ta && s.b == tb && s.m == m && s.k == k) return n;
  }
  return kSmfmacShapeCount;
}

template <MfmaType ta, MfmaType tb, int m, int k>
[[gnu::flatten]] void run_sparse_exact(const SmfmacOperands& op) {
  constexpr int kept = k / 2, chunks = m / 16;
  Exponents<m, kept, 1> ea;
  Exponents<m, k, 1> eb;
  F32 a[kept][chunks], b[k][chunks];
  expand<ta, m, kept, 1>(op.a, a);
  expand<tb, m, k, 1>(op.b, b);
  value_exponents<ta>(a, ea);
  value_exponents<tb>(b, eb);
  if (!vector_sums_possible(ea, eb)) {
    smfmac_reference(kSmfmacShapes[sparse_shape_index<ta, tb, m, k>()], MfmaMode::exact, op);
    return;
  }
  const Picks<ta, m, k> picks(op);
  constexpr int group = kGroup<ta, kept>;
  const auto columns = [&](unsigned u, auto g, unsigned i) {
    Columns<group> result{};
    unroll<group>([&](auto n) {
      const unsigned pick = picks.at[i][g * group + n];
      result.values[n] = b[pick][u];
      result.exponents[n / 4] |= (eb.dwords[pick / 4][u] >> pick % 4 * 8 & 0xffu) << (n % 4 * 8);
    });
    return result;
  };
  exact_sums<ta, m, kept, chunks, false>(a, ea, eb, columns, Addend{op.d, 0}, op.d);
}

}  // namespace margay::MARGAY_HOST_LEVEL
