// Register vectors with a part replaced by a value. dst may be src.
#pragma once

#include "../../memory/vec/vector_map.cuh"

namespace kittens {

namespace detail {
/// dst = keep(element number) ? src : value.
template <ducks::rv::all V, typename F>
KITTENS_DEVICE void keep_where(V& dst, const V& src, const typename V::T& value, F&& keep) {
  using map = vector_map<V>;
#pragma unroll
  for (int i = 0; i < V::outer_dim; ++i) {
#pragma unroll
    for (int j = 0; j < V::inner_dim; ++j) {
      auto part = bits_as<elements<typename V::T, map::packed>>(src.data[i][j]);
#pragma unroll
      for (int e = 0; e < map::packed; ++e) {
        if (!keep(map::element(i, j * map::packed + e))) part.e[e] = value;
      }
      dst.data[i][j] = bits_as<typename V::dtype>(part);
    }
  }
}
}  // namespace detail

/// right_fill replaces the elements from `first` on, left_fill those before `end`. An index outside
/// the vector replaces nothing or everything, as it says.
template <ducks::rv::all V>
KITTENS_DEVICE void right_fill(
    V& dst, const V& src, int first,
    const typename V::T& value = base_types::constants<typename V::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int element) { return element < first; });
}
template <ducks::rv::all V>
KITTENS_DEVICE void left_fill(
    V& dst, const V& src, int end,
    const typename V::T& value = base_types::constants<typename V::T>::zero()) {
  detail::keep_where(dst, src, value, [=](int element) { return element >= end; });
}

}  // namespace kittens
