// Reductions of register tiles to a value per row or per column, which every lane that holds a part
// of the vector gets.
//
// 16- and 8-bit floats are reduced in float and rounded once. The order of a sum follows the lanes:
// first what a lane holds, in ascending columns (or rows), then lanes 8, 4, 2, 1, 16 and 32 apart.
#pragma once

#include "../../memory/runs.cuh"
#include "maps.cuh"

namespace kittens {
namespace detail {

/// Reduces along the elements that lanes hold in runs: row layout, per row; col layout, per column.
template <typename op, bool rows, ducks::rt::all RT, typename V, typename Start>
KITTENS_DEVICE void reduce_along(V& dst, const RT& src, Start&& start) {
  using C = base_ops::detail::computed<typename RT::T>;
  constexpr int outer = rows ? RT::height : RT::width;
  constexpr int inner = rows ? RT::width : RT::height;
  constexpr int count = RT::base::elements_per_thread;
#pragma unroll
  for (int w = 0; w < outer; ++w) {
    C sum;
#pragma unroll
    for (int n = 0; n < inner; ++n) {
      const auto& tile = rows ? src.tiles[w][n] : src.tiles[n][w];
      const auto part = convert_elements<C>(bits_as<elements<typename RT::T, count>>(tile.data));
#pragma unroll
      for (int e = 0; e < count; ++e) {
        sum = n == 0 && e == 0 ? part.e[0] : op::op(sum, part.e[e]);
      }
    }
    sum = reduce_groups<op, RT::base::map::lead>(sum);
    dst.data[w][0] = base_types::convertor<typename RT::T, C>::convert(start(sum, w, 0));
  }
}

/// Reduces across lanes: row layout, per column; col layout, per row.
template <typename op, bool rows, ducks::rt::all RT, typename V, typename Start>
KITTENS_DEVICE void reduce_across(V& dst, const RT& src, Start&& start) {
  using T = typename RT::T;
  using C = base_ops::detail::computed<T>;
  constexpr int outer = rows ? RT::height : RT::width;
  constexpr int inner = rows ? RT::width : RT::height;
  constexpr int count = RT::base::elements_per_thread;
#pragma unroll
  for (int w = 0; w < outer; ++w) {
    elements<C, count> sum;
#pragma unroll
    for (int n = 0; n < inner; ++n) {
      const auto& tile = rows ? src.tiles[w][n] : src.tiles[n][w];
      const auto part = convert_elements<C>(bits_as<elements<T, count>>(tile.data));
#pragma unroll
      for (int e = 0; e < count; ++e) {
        sum.e[e] = n == 0 ? part.e[e] : op::op(sum.e[e], part.e[e]);
      }
    }
#pragma unroll
    for (int e = 0; e < count; ++e) {
      sum.e[e] = start(reduce_lanes<op, RT::base::map::lead>(sum.e[e]), w, e);
    }
    const auto result = convert_elements<T>(sum);
    __builtin_memcpy(&dst.data[w], &result, sizeof(result));
  }
}

template <typename op, bool rows, ducks::rt::all RT, typename V, typename Start>
KITTENS_DEVICE void reduce_tile(V& dst, const RT& src, Start&& start) {
  check_vector<rows, RT, V>();
  if constexpr (rows == RT::base::is_row) {
    reduce_along<op, rows>(dst, src, start);
  } else {
    reduce_across<op, rows>(dst, src, start);
  }
}

template <typename op, bool rows, ducks::rt::all RT, typename V>
KITTENS_DEVICE void reduce_tile(V& dst, const RT& src) {
  reduce_tile<op, rows>(dst, src, [](const auto& sum, int, int) { return sum; });
}
/// Joins a vector of earlier results, which may be dst.
template <typename op, bool rows, ducks::rt::all RT, typename V>
KITTENS_DEVICE void reduce_tile(V& dst, const RT& src, const V& accumulated) {
  using T = typename RT::T;
  using C = base_ops::detail::computed<T>;
  reduce_tile<op, rows>(dst, src, [&](const C& sum, int w, int e) {
    const auto* before = reinterpret_cast<const T*>(&accumulated.data[w]);
    return op::op(base_types::convertor<C, T>::convert(before[e]), sum);
  });
}
}  // namespace detail

/// row_sum(v, tile): v[r] = sum of row r. row_sum(v, tile, a): v[r] = a[r] + sum. The vector is the
/// tile's col_vec for rows and its row_vec for columns.
#define KITTENS_REDUCTION(name, operation)                                      \
  template <ducks::rt::all RT, ducks::rv::all V>                                \
  KITTENS_DEVICE void row_##name(V& dst, const RT& src) {                       \
    detail::reduce_tile<base_ops::operation, true>(dst, src);                   \
  }                                                                             \
  template <ducks::rt::all RT, ducks::rv::all V>                                \
  KITTENS_DEVICE void row_##name(V& dst, const RT& src, const V& accumulated) { \
    detail::reduce_tile<base_ops::operation, true>(dst, src, accumulated);      \
  }                                                                             \
  template <ducks::rt::all RT, ducks::rv::all V>                                \
  KITTENS_DEVICE void col_##name(V& dst, const RT& src) {                       \
    detail::reduce_tile<base_ops::operation, false>(dst, src);                  \
  }                                                                             \
  template <ducks::rt::all RT, ducks::rv::all V>                                \
  KITTENS_DEVICE void col_##name(V& dst, const RT& src, const V& accumulated) { \
    detail::reduce_tile<base_ops::operation, false>(dst, src, accumulated);     \
  }
KITTENS_REDUCTION_NAMES(KITTENS_REDUCTION)
#undef KITTENS_REDUCTION

}  // namespace kittens
