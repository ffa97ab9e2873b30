// Reductions of a naive register vector to one scalar, which all lanes get. The col_vec or row_vec
// of a register tile becomes a naive one by way of a shared vector: store(shared, v); load(naive,
// shared).
#pragma once

#include "../../../../types/types.cuh"

namespace kittens {
namespace detail {

/// 16- and 8-bit floats are reduced in float and rounded once.
template <typename op, ducks::rv::all V, typename Start>
KITTENS_DEVICE typename V::T reduce_vector(const V& src, Start&& start) {
  static_assert(
      V::is_naive,
      "kittens: reductions of a register vector need the naive layout, in which no element "
      "is held twice: store a tile's vector to an sv, and load that into an rv_fl<length>");
  using T = typename V::T;
  using C = base_ops::detail::computed<T>;
  using to_c = base_types::convertor<C, T>;
  // A lane past the end of a short vector repeats element 0 of the last block: for max and min it
  // changes nothing, for sums and products it must bring the neutral value.
  constexpr bool whole = V::length % WARP_THREADS == 0;
  constexpr bool idempotent = is_one_of<op, base_ops::max, base_ops::min>;
  C sum;
#pragma unroll
  for (int i = 0; i < V::outer_dim; ++i) {
    C part = to_c::convert(src.data[i][0]);
    if (!whole && i == V::outer_dim - 1) {
      const bool exists = i * WARP_THREADS + laneid() < V::length;
      C neutral;
      if constexpr (idempotent) {
        neutral = bits_as<C>(
            move_words(part, [](int bits) { return __builtin_amdgcn_readfirstlane(bits); }));
      } else {
        neutral = std::is_same_v<op, base_ops::mul> ? C{1} : C{0};
      }
      part = exists ? part : neutral;
    }
    sum = i == 0 ? part : op::op(sum, part);
  }
  return base_types::convertor<T, C>::convert(start(reduce_lanes<op, WARP_THREADS>(sum)));
}
}  // namespace detail

/// sum(s, v): s = the sum of v; sum(s, v, a): s = a + the sum.
#define KITTENS_VECTOR_REDUCTION(name, operation)                                                 \
  template <ducks::rv::all V>                                                                     \
  KITTENS_DEVICE void name(typename V::T& dst, const V& src) {                                    \
    dst = detail::reduce_vector<base_ops::operation>(src, [](const auto& x) { return x; });       \
  }                                                                                               \
  template <ducks::rv::all V>                                                                     \
  KITTENS_DEVICE void name(typename V::T& dst, const V& src, const typename V::T& start) {        \
    dst = detail::reduce_vector<base_ops::operation>(src, [&](const auto& x) {                    \
      using C = std::remove_cvref_t<decltype(x)>;                                                 \
      return base_ops::operation::op(base_types::convertor<C, typename V::T>::convert(start), x); \
    });                                                                                           \
  }
KITTENS_REDUCTION_NAMES(KITTENS_VECTOR_REDUCTION)
#undef KITTENS_VECTOR_REDUCTION

}  // namespace kittens
