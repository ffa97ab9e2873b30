// Register tiles with a part replaced by a value: triangles and bands. dst may be src.
#pragma once

#include "../../memory/runs.cuh"

namespace kittens {

namespace detail {
/// dst = keep(row, col) ? src : value. Every element is written.
template <ducks::rt::all RT, typename F>
KITTENS_DEVICE void keep_where(RT& dst, const RT& src, const typename RT::T& value, F&& keep) {
  using base = typename RT::base;
  constexpr int run = base::map::run;
  const int lane = laneid();
  for_each_run<RT>([&](int i, int j, int q) {
    auto part = take_run(src.tiles[i][j], q);
#pragma unroll
    for (int e = 0; e < run; ++e) {
      const int row = i * RT::tile_size_row + base::row_of(lane, q * run + e);
      const int col = j * RT::tile_size_col + base::col_of(lane, q * run + e);
      if (!keep(row, col)) part.e[e] = value;
    }
    put_run(dst.tiles[i][j], q, part);
  });
}
}  // namespace detail

/// Keeps col <= row - diagonal.
template <ducks::rt::all RT>
KITTENS_DEVICE void tril(
    RT& dst, const RT& src, int diagonal,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int row, int col) { return col <= row - diagonal; });
}
/// Keeps col >= row - diagonal.
template <ducks::rt::all RT>
KITTENS_DEVICE void triu(
    RT& dst, const RT& src, int diagonal,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int row, int col) { return col >= row - diagonal; });
}

/// Keeps col <= row: the scores of a query against itself and what came before. The tile must be a
/// diagonal one; for others tril() takes the distance.
template <ducks::rt::all RT>
KITTENS_DEVICE void make_causal(
    RT& dst, const RT& src,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  tril(dst, src, 0, value);
}
/// Keeps col >= row: make_causal of transposed scores.
template <ducks::rt::all RT>
KITTENS_DEVICE void make_causal_t(
    RT& dst, const RT& src,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  triu(dst, src, 0, value);
}

/// Replaces the columns from `first` on; columns before `end`; rows before `end`; rows from `first`
/// on. An index outside the tile replaces nothing or everything, as it says.
template <ducks::rt::all RT>
KITTENS_DEVICE void right_fill(
    RT& dst, const RT& src, int first,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int, int col) { return col < first; });
}
template <ducks::rt::all RT>
KITTENS_DEVICE void left_fill(
    RT& dst, const RT& src, int end,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int, int col) { return col >= end; });
}
template <ducks::rt::all RT>
KITTENS_DEVICE void upper_fill(
    RT& dst, const RT& src, int end,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int row, int) { return row >= end; });
}
template <ducks::rt::all RT>
KITTENS_DEVICE void lower_fill(
    RT& dst, const RT& src, int first,
    const typename RT::T& value = base_types::constants<typename RT::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int row, int) { return row < first; });
}

}  // namespace kittens
