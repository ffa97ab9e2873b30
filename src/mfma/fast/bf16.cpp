// The bf16 instructions on AVX-512 BF16: pairs of k as they are in the registers. The unit
// flushes denormals and rounds each pair's sum to nearest even.
#include "mfma/kernels/chain_kernels.h"
#include "mfma/kernels/table.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

/// row_values (expand.h) of A's rows in memory, 16 dwords for each chunk.
template <int m>
[[nodiscard]] MARGAY_INLINE U32 row_pairs(const std::uint32_t* a, unsigned u, unsigned i) {
  if constexpr (m == 4) {
    const U32 rows = load<U32>(a + u * 16);
    U32 result;
    for (unsigned lane = 0; lane < 16; ++lane) result[lane] = rows[lane / 4 * 4 + i];
    return result;
  } else {
    return splat(a[(m == 32 ? u / 2 * 2 + i / 16 : u) * 16 + i % 16]);
  }
}

/// A and B are read where they are: each pair of A's is one operand in memory, repeated for all
/// columns. (With all rows of D in registers, an instruction is as fast as the unit.)
template <int m, int k, int blocks>
MARGAY_INLINE void multiply_pairs(const std::uint32_t* a, const std::uint32_t* b, Addend c,
                                  std::uint32_t* d) {
  using Source = Operand<MfmaType::bf16, m, k, blocks>;
  constexpr int rows = m < 16 ? m : 16;
  for (unsigned u = 0; u < Source::kChunks; ++u)
    for (unsigned first = 0; first < m; first += rows) {
      F32 sum[rows];
      if (c.rows)
        unroll<rows>([&](auto r) { sum[r] = load<F32>(c.rows + result_offset<m>(first + r, u)); });
      else
        unroll<rows>([&](auto r) { sum[r] = (F32)splat(c.constant); });
      unroll<k / 2>([&](auto p) {
        constexpr int offset = Source::offset(decltype(p)::value * 2, 0);
        const __m512bh column = (__m512bh)load<U32>(b + offset + u * 16);
        unroll<rows>([&](auto r) {
          const U32 row = row_pairs<m>(a + offset, u, first + r);
          sum[r] = (F32)_mm512_dpbf16_ps((__m512)sum[r], column, (__m512bh)row);
        });
      });
      unroll<rows>([&](auto r) { store(d + result_offset<m>(first + r, u), sum[r]); });
    }
}

template <int m, int k, int blocks>
[[gnu::flatten]] void run_pairs(const MfmaOperands& op) {
  constexpr std::ptrdiff_t source = m * k * blocks / 2, result = m * m * blocks;
  const auto is_overwritten = [&](const std::uint32_t* rows) {
    return rows < op.d + result && op.d < rows + source;
  };
  const Addend c{op.c, op.c_constant};
  if (__builtin_expect(is_overwritten(op.a) || is_overwritten(op.b), 0)) {
    alignas(64) std::uint32_t a[source], b[source];
    __builtin_memcpy(a, op.a, sizeof a);
    __builtin_memcpy(b, op.b, sizeof b);
    multiply_pairs<m, k, blocks>(a, b, c, op.d);
  } else {
    multiply_pairs<m, k, blocks>(op.a, op.b, c, op.d);
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
