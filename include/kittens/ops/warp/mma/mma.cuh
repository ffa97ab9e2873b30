// Matrix multiply-accumulate of register tiles: D = A B + C.
//
//            A layout   B layout   shapes
//   mma_AB     row        col      A m x k, B k x n
//   mma_ABt    row        row      A m x k, B n x k
//   mma_AtB    col        col      A k x m, B k x n
//   mma_AtBt   col        row      A k x m, B n x k
//
// D and C are float tiles in col layout and may be the same tile; A and B are bf16 or half. One
// 16x16x16 MFMA per base tile and step of k; k runs upward.
#pragma once

#include "../../../types/types.cuh"

namespace kittens {
namespace detail {

typedef short mfma_bf16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 mfma_f16x4 __attribute__((ext_vector_type(4)));
typedef float mfma_f32x4 __attribute__((ext_vector_type(4)));

/// One base tile. Lane L brings row (A) or column (B) L%16, k = 4*(L/16) + 0..3, which is what row
/// and col layout hold; it receives column L%16, rows 4*(L/16) + 0..3.
template <typename D, typename A, typename B, typename C>
KITTENS_DEVICE void mma_base(D& d, const A& a, const B& b, const C& c) {
  struct accumulator {
    float2 pair[2];
  };
  const auto sum = detail::bits_as<mfma_f32x4>(accumulator{{c.data[0], c.data[1]}});
  mfma_f32x4 result;
  if constexpr (std::is_same_v<typename A::T, bf16>) {
    result = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
        detail::bits_as<mfma_bf16x4>(a.data), detail::bits_as<mfma_bf16x4>(b.data), sum, 0, 0, 0);
  } else {
    result = __builtin_amdgcn_mfma_f32_16x16x16f16(
        detail::bits_as<mfma_f16x4>(a.data), detail::bits_as<mfma_f16x4>(b.data), sum, 0, 0, 0);
  }
  const auto parts = detail::bits_as<accumulator>(result);
  d.data[0] = parts.pair[0];
  d.data[1] = parts.pair[1];
}

template <bool a_transposed, bool b_transposed, typename D, typename A, typename B, typename C>
KITTENS_DEVICE void mma(D& d, const A& a, const B& b, const C& c) {
  constexpr int k_tiles = a_transposed ? A::height : A::width;
  constexpr int m_tiles = a_transposed ? A::width : A::height;
  constexpr int n_tiles = b_transposed ? B::height : B::width;
  constexpr int b_k_tiles = b_transposed ? B::width : B::height;
  static_assert(ducks::rt::col_layout<D> && ducks::rt::col_layout<C>,
                "kittens: the accumulators D and C of an mma must be in col layout");
  static_assert(std::is_same_v<typename D::T, float> && std::is_same_v<typename C::T, float>,
                "kittens: the accumulators D and C of an mma must be float tiles");
  static_assert(std::is_same_v<typename A::T, typename B::T>,
                "kittens: the operands A and B of an mma must have the same element type");
  static_assert(std::is_same_v<typename A::T, bf16> || std::is_same_v<typename A::T, half>,
                "kittens: the operands A and B of an mma must be bf16 or half tiles");
  static_assert(
      a_transposed ? ducks::rt::col_layout<A> : ducks::rt::row_layout<A>,
      "kittens: operand A must be in row layout for mma_AB and mma_ABt, in col layout for "
      "mma_AtB and mma_AtBt");
  static_assert(
      b_transposed ? ducks::rt::row_layout<B> : ducks::rt::col_layout<B>,
      "kittens: operand B must be in col layout for mma_AB and mma_AtB, in row layout for "
      "mma_ABt and mma_AtBt");
  static_assert(k_tiles == b_k_tiles, "kittens: A and B of an mma must agree in k");
  static_assert(D::height == m_tiles && C::height == m_tiles,
                "kittens: D and C of an mma must have as many rows as the product");
  static_assert(D::width == n_tiles && C::width == n_tiles,
                "kittens: D and C of an mma must have as many columns as the product");
#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int n = 0; n < n_tiles; ++n) {
#pragma unroll
      for (int k = 0; k < k_tiles; ++k) {
        const auto& a_tile = a.tiles[a_transposed ? k : m][a_transposed ? m : k];
        const auto& b_tile = b.tiles[b_transposed ? n : k][b_transposed ? k : n];
        if (k == 0) {
          mma_base(d.tiles[m][n], a_tile, b_tile, c.tiles[m][n]);
        } else {
          mma_base(d.tiles[m][n], a_tile, b_tile, d.tiles[m][n]);
        }
      }
    }
  }
}

}  // namespace detail

template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_AB(D& d, const A& a, const B& b, const C& c) {
  detail::mma<false, false>(d, a, b, c);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_ABt(D& d, const A& a, const B& b, const C& c) {
  detail::mma<false, true>(d, a, b, c);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_AtB(D& d, const A& a, const B& b, const C& c) {
  detail::mma<true, false>(d, a, b, c);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_AtBt(D& d, const A& a, const B& b, const C& c) {
  detail::mma<true, true>(d, a, b, c);
}

}  // namespace kittens
