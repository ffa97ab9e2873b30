// Register tiles to another element type, the other layout, or transposed.
#pragma once

#include "../../../../types/types.cuh"

namespace kittens {

/// Converts the element type; the layouts must agree.
template <ducks::rt::all D, ducks::rt::all S>
KITTENS_DEVICE void copy(D& dst, const S& src) {
  static_assert(D::rows == S::rows && D::cols == S::cols,
                "kittens: copy(rt, rt) needs tiles of the same shape");
  static_assert(std::is_same_v<typename D::layout, typename S::layout>,
                "kittens: copy(rt, rt) needs tiles of the same layout; use swap_layout");
#pragma unroll
  for (int i = 0; i < D::height; ++i) {
#pragma unroll
    for (int j = 0; j < D::width; ++j) {
#pragma unroll
      for (int k = 0; k < D::packed_per_tile; ++k) {
        dst.tiles[i][j].data[k] =
            base_types::convertor<typename D::dtype, typename S::dtype>::convert(
                src.tiles[i][j].data[k]);
      }
    }
  }
}

namespace detail {
/// Exchanges the roles of the lane's 16-position and of its group and element: what lane L holds as
/// element e, X(L%16, 4*(L/16) + e), becomes X(4*(L/16) + e, L%16). The wanted element e sits in
/// lane 16*((L%16)/4) + 4*(L/16) + e as its element L%4. Each lane asks for all four elements of
/// that lane and keeps the one it needs; elements shorter than 4 bytes travel in pairs.
template <typename To, typename From>
KITTENS_DEVICE void exchange_base(To& dst, const From& src) {
  using T = typename From::T;
  using pair_of = base_types::convertor<typename From::dtype, typename From::dtype>;
  const int lane = laneid();
  const int wanted = lane % 4;
  T element[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int source = 16 * (lane % 16 / 4) + 4 * (lane / 16) + e;
    const auto low = packed_shfl(MASK_ALL, src.data[0], source);
    const auto high = packed_shfl(MASK_ALL, src.data[1], source);
    const auto pair = wanted < 2 ? low : high;
    element[e] = wanted % 2 == 0 ? pair_of::first(pair) : pair_of::second(pair);
  }
  struct elements {
    T e[4];
  };
  struct pairs {
    typename To::dtype p[2];
  };
  const auto parts =
      detail::bits_as<pairs>(elements{{element[0], element[1], element[2], element[3]}});
  dst.data[0] = parts.p[0];
  dst.data[1] = parts.p[1];
}
}  // namespace detail

/// The same matrix in the other layout.
template <ducks::rt::all D, ducks::rt::all S>
KITTENS_DEVICE void swap_layout(D& dst, const S& src) {
  static_assert(std::is_same_v<typename D::T, typename S::T>,
                "kittens: swap_layout needs tiles of the same element type");
  static_assert(D::rows == S::rows && D::cols == S::cols,
                "kittens: swap_layout needs tiles of the same shape");
  static_assert(!std::is_same_v<typename D::layout, typename S::layout>,
                "kittens: swap_layout needs a destination in the other layout");
#pragma unroll
  for (int i = 0; i < D::height; ++i) {
#pragma unroll
    for (int j = 0; j < D::width; ++j) detail::exchange_base(dst.tiles[i][j], src.tiles[i][j]);
  }
}

/// The same registers seen as the other layout, after the exchange.
template <ducks::rt::all RT>
KITTENS_DEVICE auto& swap_layout_inplace(RT& tile) {
  using other = rt<typename RT::T, RT::rows, RT::cols,
                   typename ducks::rt_layout::transpose<typename RT::layout>::type>;
  static_assert(sizeof(other) == sizeof(RT));
  auto& swapped = reinterpret_cast<other&>(tile);
  const RT before = tile;
  swap_layout(swapped, before);
  return swapped;
}

/// The transposed matrix in the same layout, in other registers.
template <ducks::rt::all D, ducks::rt::all S>
KITTENS_DEVICE void transpose_sep(D& dst, const S& src) {
  static_assert(std::is_same_v<typename D::T, typename S::T>,
                "kittens: transpose_sep needs tiles of the same element type");
  static_assert(D::rows == S::cols && D::cols == S::rows,
                "kittens: transpose_sep needs a destination of the transposed shape");
  static_assert(std::is_same_v<typename D::layout, typename S::layout>,
                "kittens: transpose_sep needs tiles of the same layout");
#pragma unroll
  for (int i = 0; i < D::height; ++i) {
#pragma unroll
    for (int j = 0; j < D::width; ++j) detail::exchange_base(dst.tiles[i][j], src.tiles[j][i]);
  }
}

template <ducks::rt::all RT>
KITTENS_DEVICE RT& transpose_inplace(RT& tile) {
  static_assert(RT::rows == RT::cols, "kittens: transpose_inplace needs a square tile");
  const RT before = tile;
  transpose_sep(tile, before);
  return tile;
}

/// Horizontal band number i of a tile: the same registers.
template <int subtile_rows, ducks::rt::all RT>
KITTENS_DEVICE auto& subtile_inplace(RT& source, int i) {
  static_assert(subtile_rows % RT::tile_size_row == 0 && RT::rows % subtile_rows == 0,
                "kittens: a band must divide the rows of its tile, in multiples of 16");
  using band = rt<typename RT::T, subtile_rows, RT::cols, typename RT::layout>;
  return reinterpret_cast<band&>(source.tiles[i * (subtile_rows / RT::tile_size_row)]);
}

}  // namespace kittens
