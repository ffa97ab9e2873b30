// Element-wise maps of register vectors. The destination comes first and may be a source.
#pragma once

#include "../../../../types/types.cuh"

namespace kittens {

template <typename op, ducks::rv::all V>
KITTENS_DEVICE void unary_op(V& dst, const V& src) {
#pragma unroll
  for (int i = 0; i < V::outer_dim; ++i) {
#pragma unroll
    for (int j = 0; j < V::inner_dim; ++j) dst.data[i][j] = op::op(src.data[i][j]);
  }
}

#define KITTENS_NULLARY_OP(name)           \
  template <ducks::rv::all V>              \
  KITTENS_DEVICE void name(V& dst) {       \
    unary_op<base_ops::name, V>(dst, dst); \
  }
KITTENS_NULLARY_OP(zero)
KITTENS_NULLARY_OP(one)
KITTENS_NULLARY_OP(pos_infty)
KITTENS_NULLARY_OP(neg_infty)
#undef KITTENS_NULLARY_OP

/// Converts the element type; the layouts must agree.
template <ducks::rv::all D, ducks::rv::all S>
KITTENS_DEVICE void copy(D& dst, const S& src) {
  static_assert(D::length == S::length, "kittens: copy(rv, rv) needs vectors of the same length");
  static_assert(std::is_same_v<typename D::layout, typename S::layout>,
                "kittens: copy(rv, rv) needs vectors of the same layout");
#pragma unroll
  for (int i = 0; i < D::outer_dim; ++i) {
#pragma unroll
    for (int j = 0; j < D::inner_dim; ++j) {
      dst.data[i][j] =
          base_types::convertor<typename D::dtype, typename S::dtype>::convert(src.data[i][j]);
    }
  }
}

}  // namespace kittens
