// Operands as vectors of f32 (or i32) per k, and where D's rows are. A and B have the same
// layout, so one description serves both.
//
//   operand:  x[k][u], 16 rows (of A) or columns (of B) each; u counts 16-lane chunks over blocks
//   4x4 shapes: a chunk is four blocks of four rows
#pragma once

#include <utility>

#include "gpu/matrix_shapes.h"
#include "mfma/kernels/lanes.h"

namespace margay::MARGAY_HOST_LEVEL {

/// One operand of an m x k shape with `blocks` blocks of elements of type t.
template <MfmaType t, int m, int k, int blocks>
struct Operand {
  static constexpr int kChunks = m * blocks / 16;
  static constexpr int kPerLane = m * k * blocks / 64;
  static constexpr int kPerRegister = 4 / mfma_type_bytes(t);
  static constexpr int kBits = 32 / kPerRegister;

  /// The 16 dwords that hold element kk of chunk u, from the operand's first row.
  static consteval int offset(int kk, int u) {
    return kk % kPerLane / kPerRegister * 64 + kk / kPerLane * m + u * 16;
  }
  static consteval int bit(int kk) { return kk % kPerRegister * kBits; }
};

/// Elements of type t whose bits begin at bit `shift` of each dword, as f32.
template <MfmaType t, int shift>
[[nodiscard]] MARGAY_INLINE F32 to_f32(U32 dword) {
  if constexpr (t == MfmaType::f32) {
    return (F32)dword;
  } else if constexpr (t == MfmaType::xf32) {
    // 10 mantissa bits are kept; a NaN stays one.
    const I32 nan = (dword & 0x7fffffffu) > 0x7f800000u;
    return (F32)((dword & ~0x1fffu) | ((U32)nan & 0x400000u));
  } else if constexpr (t == MfmaType::bf16) {
    return (F32)(shift == 0 ? dword << 16 : dword & 0xffff0000u);
  } else if constexpr (t == MfmaType::f16) {
    return half_to_float(dword >> shift);
  } else {
    // The type's bits in f32's places, with an exponent too large by one. That is halved, and where
    // the exponent is 0 it is less the 1 that a normal number would begin with.
    static_assert(t == MfmaType::fp8 || t == MfmaType::bf8);
    constexpr std::uint32_t mantissa_bits = t == MfmaType::fp8 ? 3 : 2;
    constexpr std::uint32_t bias = t == MfmaType::fp8 ? 8 : 16;
    constexpr std::uint32_t least = (127 + 1 - bias) << 23;  // the smallest normal number
    const U32 byte = shift == 24 ? dword >> 24 : dword >> shift & 0xffu;
    const U32 magnitude = (byte & 0x7fu) << (23 - mantissa_bits);
    const F32 larger = (F32)(magnitude + least);
    const F32 number = magnitude < 1u << 23 ? larger - (F32)splat(least) : larger * 0.5f;
    const U32 finite = (U32)number | (byte & 0x80u) << 24;
    return (F32)(byte == 0x80u ? splat(0x7fc00000u) : finite);
  }
}

/// body(0), body(1), ... body(n - 1), with the numbers as constants. The lambdas have to be inlined
/// for vectors to stay in registers, so the kernels that use this are [[gnu::flatten]].
template <int n, typename F>
MARGAY_INLINE void unroll(F&& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, n>{});
}

/// Element kk (an integral_constant) of chunk u, as f32.
template <MfmaType t, int m, int k, int blocks, typename Index>
[[nodiscard]] MARGAY_INLINE F32 operand_values(const std::uint32_t* rows, Index, unsigned u) {
  using Source = Operand<t, m, k, blocks>;
  constexpr int n = Index::value, first = Source::offset(n, 0);
  return to_f32<t, Source::bit(n)>(load<U32>(rows + first + u * 16));
}

template <MfmaType t, int m, int k, int blocks>
MARGAY_INLINE void expand(const std::uint32_t* rows, F32 (&x)[k][m * blocks / 16]) {
  unroll<k>([&](auto kk) {
    unroll<m * blocks / 16>(
        [&](auto u) { x[kk][u] = operand_values<t, m, k, blocks>(rows, kk, u); });
  });
}

/// Where the 16 results of row i and column chunk u are, from D's first row.
template <int m>
[[nodiscard]] MARGAY_INLINE constexpr unsigned result_offset(unsigned i, unsigned u) {
  if constexpr (m == 32)
    return ((u / 2 * 4 + i / 8) * 4 + i % 4) * 64 + i / 4 % 2 * 32 + u % 2 * 16;
  else if constexpr (m == 16)
    return (u * 4 + i % 4) * 64 + i / 4 * 16;
  else
    return i * 64 + u * 16;
}

/// The values of A that row i of column chunk u multiplies: one value in all lanes, or, where a
/// chunk is four 4x4 blocks, row i of each.
template <int m, typename V, int chunks>
[[nodiscard]] MARGAY_INLINE V row_values(const V (&x)[chunks], unsigned u, unsigned i) {
  if constexpr (m == 4) {
    V result;
    for (unsigned lane = 0; lane < 16; ++lane) result[lane] = x[u][lane / 4 * 4 + i];
    return result;
  } else {
    const unsigned chunk = m == 32 ? u / 2 * 2 + i / 16 : u;
    return x[chunk][i % 16] - V{};
  }
}

}  // namespace margay::MARGAY_HOST_LEVEL
