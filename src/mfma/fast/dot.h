// Matrix products by host instructions that multiply a dword of A by a dword of B in each lane and
// add the products of their 2 or 4 elements: VDPBF16PS, VPDPBUSD. A register row of an operand is
// made of such dwords, so that A and B are read as they are.
#pragma once

#include "mfma/kernels/chain_kernels.h"

namespace margay::MARGAY_HOST_LEVEL {

/// row_values (expand.h) of A's rows in memory, 16 dwords for each chunk.
template <int m>
[[nodiscard]] MARGAY_INLINE U32 row_dwords(const std::uint32_t* a, unsigned u, unsigned i) {
  if constexpr (m == 4) {
    const U32 rows = load<U32>(a + u * 16);
    U32 result;
    for (unsigned lane = 0; lane < 16; ++lane) result[lane] = rows[lane / 4 * 4 + i];
    return result;
  } else {
    return splat(a[(m == 32 ? u / 2 * 2 + i / 16 : u) * 16 + i % 16]);
  }
}

/// Where the dwords of A and B are: `steps` of k, each `offset(step)` dwords from the first row.
/// Operand<t, m, k, blocks> where one step is a dword of it.
template <MfmaType t, int m, int k, int blocks>
struct RegisterDwords {
  using Source = Operand<t, m, k, blocks>;
  static constexpr int kSteps = k / Source::kPerRegister;
  static consteval int offset(int step) { return Source::offset(step * Source::kPerRegister, 0); }
};

/// D = C plus A B. `begin(sum, first + r, u)` may change a row's C, `dot(sum, column, row)` is the
/// host's instruction, `end(sum, first, u)` stores rows. (With all rows of D in registers, an
/// instruction is as fast as the unit: each dword of A's is an operand in memory, repeated for all
/// columns.)
template <typename Dwords, int m, int chunks, typename Begin, typename Dot, typename End>
MARGAY_INLINE void multiply_dwords(const std::uint32_t* a, const std::uint32_t* b, Addend c,
                                   Begin&& begin, Dot&& dot, End&& end) {
  constexpr int rows = m < 16 ? m : 16;
  for (unsigned u = 0; u < chunks; ++u)
    for (unsigned first = 0; first < m; first += rows) {
      U32 sum[rows];
      if (c.rows)
        unroll<rows>([&](auto r) { sum[r] = load<U32>(c.rows + result_offset<m>(first + r, u)); });
      else
        unroll<rows>([&](auto r) { sum[r] = splat(c.constant); });
      unroll<rows>([&](auto r) { begin(sum[r], first + r, u); });
      unroll<Dwords::kSteps>([&](auto step) {
        constexpr int offset = Dwords::offset(decltype(step)::value);
        const U32 column = load<U32>(b + offset + u * 16);
        unroll<rows>(
            [&](auto r) { sum[r] = dot(sum[r], column, row_dwords<m>(a + offset, u, first + r)); });
      });
      end(sum, first, u);
    }
}

/// Whether D's rows overlap those of A or B, which have to be copied then.
template <int m, int k, int blocks, int bytes>
[[nodiscard]] MARGAY_INLINE bool overwrites_sources(const MfmaOperands& op) {
  constexpr std::ptrdiff_t source = m * k * blocks * bytes / 4, result = m * m * blocks;
  const auto is_overwritten = [&](const std::uint32_t* rows) {
    return rows < op.d + result && op.d < rows + source;
  };
  return is_overwritten(op.a) || is_overwritten(op.b);
}

/// Calls `multiply(a, b)` with A and B out of D's way.
template <int m, int k, int blocks, int bytes, typename Multiply>
MARGAY_INLINE void with_sources_apart(const MfmaOperands& op, Multiply&& multiply) {
  if (__builtin_expect(overwrites_sources<m, k, blocks, bytes>(op), 0)) {
    alignas(64) std::uint32_t a[m * k * blocks * bytes / 4], b[m * k * blocks * bytes / 4];
    __builtin_memcpy(a, op.a, sizeof a);
    __builtin_memcpy(b, op.b, sizeof b);
    multiply(a, b);
  } else {
    multiply(op.a, op.b);
  }
}

}  // namespace margay::MARGAY_HOST_LEVEL
