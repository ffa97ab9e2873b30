// The bf16 instructions on AVX-512 BF16: pairs of k as they are in the registers. The unit
// flushes denormals and rounds each pair's sum to nearest even.
#include "mfma/kernels/chain_kernels.h"
#include "mfma/kernels/table.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

template <int m, int k, int blocks>
[[gnu::flatten]] void run_pairs(const MfmaOperands& op) {
  using Source = Operand<MfmaType::bf16, m, k, blocks>;
  constexpr int chunks = Source::kChunks, pairs = k / 2;
  U32 a[pairs][chunks], b[pairs][chunks];
  unroll<pairs>([&](auto p) {
    unroll<chunks>([&](auto u) {
      constexpr int offset = Source::offset(decltype(p)::value * 2, decltype(u)::value);
      a[p][u] = load<U32>(op.a + offset);
      b[p][u] = load<U32>(op.b + offset);
    });
  });
  const Addend c{op.c, op.c_constant};
  constexpr int rows = m < kRowsAtOnce ? m : kRowsAtOnce;
  for (unsigned u = 0; u < chunks; ++u)
    for (unsigned first = 0; first < m; first += rows) {
      __m512 sum[rows];
      unroll<rows>([&](auto r) { sum[r] = (__m512)c.at(result_offset<m>(first + r, u)); });
      unroll<pairs>([&](auto p) {
        const __m512bh column = (__m512bh)b[p][u];
        unroll<rows>([&](auto r) {
          sum[r] = _mm512_dpbf16_ps(sum[r], (__m512bh)row_values<m>(a[p], u, first + r), column);
        });
      });
      unroll<rows>([&](auto r) { store(op.d + result_offset<m>(first + r, u), (F32)sum[r]); });
    }
}

template <std::size_t index>
consteval MfmaKernel kernel() {
  constexpr MfmaShape s = kMfmaShapes[index];
  if constexpr (s.a == MfmaType::bf16)
    return kGuarded<run_pairs<s.m, s.k, s.blocks>, index>;
  else
    return {};
}

template <std::size_t... index>
consteval MfmaTable table(std::index_sequence<index...>) {
  return {{kernel<index>()...}};
}

}  // namespace

extern const MfmaTable kFastTable;
constinit const MfmaTable kFastTable = table(std::make_index_sequence<kMfmaShapeCount>{});

}  // namespace margay::MARGAY_HOST_LEVEL
