// Element-wise maps of register vectors. The destination comes first and may be a source.
#pragma once

#include "../../../../types/types.cuh"

namespace kittens {

namespace detail {
template <ducks::rv::all V, typename F>
KITTENS_DEVICE void for_each_vector_part(F&& f) {
#pragma unroll
  for (int i = 0; i < V::outer_dim; ++i) {
#pragma unroll
    for (int j = 0; j < V::inner_dim; ++j) f(i, j);
  }
}
}  // namespace detail

/// dst = op(src), element by element; `op` as for unary_map of a register tile.
template <typename op, ducks::rv::all V>
KITTENS_DEVICE void unary_op(V& dst, const V& src) {
  detail::for_each_vector_part<V>(
      [&](int i, int j) { dst.data[i][j] = detail::operate<op>(src.data[i][j]); });
}
/// Of the parts data[first] .. data[end - 1] only.
template <typename op, int first, int end, ducks::rv::all V>
KITTENS_DEVICE void unary_op_range(V& dst, const V& src) {
  static_assert(0 <= first && first <= end && end <= V::outer_dim,
                "kittens: unary_op_range needs 0 <= first <= end <= outer_dim");
#pragma unroll
  for (int i = first; i < end; ++i) {
#pragma unroll
    for (int j = 0; j < V::inner_dim; ++j) dst.data[i][j] = detail::operate<op>(src.data[i][j]);
  }
}

/// dst = op(lhs, rhs), element by element.
template <typename op, ducks::rv::all V>
KITTENS_DEVICE void bin_op(V& dst, const V& lhs, const V& rhs) {
  detail::for_each_vector_part<V>(
      [&](int i, int j) { dst.data[i][j] = detail::operate<op>(lhs.data[i][j], rhs.data[i][j]); });
}
/// With a scalar.
template <typename op, ducks::rv::all V>
KITTENS_DEVICE void bin_op(V& dst, const V& src, const typename V::T& param) {
  using dtype = typename V::dtype;
  detail::for_each_vector_part<V>([&](int i, int j) {
    if constexpr (V::is_align) {
      dst.data[i][j] = detail::operate<op>(src.data[i][j], base_types::packing<dtype>::pack(param));
    } else {
      dst.data[i][j] = detail::operate<op>(src.data[i][j], param);
    }
  });
}

/// Every element becomes the constant.
#define KITTENS_NULLARY_OP(name)           \
  template <ducks::rv::all V>              \
  KITTENS_DEVICE void name(V& dst) {       \
    unary_op<base_ops::name, V>(dst, dst); \
  }
KITTENS_NULLARY_NAMES(KITTENS_NULLARY_OP)
#undef KITTENS_NULLARY_OP

/// dst = name(src).
#define KITTENS_UNARY_OP(name)                     \
  template <ducks::rv::all V>                      \
  KITTENS_DEVICE void name(V& dst, const V& src) { \
    unary_op<base_ops::name, V>(dst, src);         \
  }
KITTENS_UNARY_NAMES(KITTENS_UNARY_OP)
#undef KITTENS_UNARY_OP

/// The right operand is a vector or a scalar.
#define KITTENS_BINARY_OP(name, operation)                       \
  template <ducks::rv::all V, typename U>                        \
  KITTENS_DEVICE void name(V& dst, const V& lhs, const U& rhs) { \
    bin_op<base_ops::operation, V>(dst, lhs, rhs);               \
  }
KITTENS_BINARY_NAMES(KITTENS_BINARY_OP)
#undef KITTENS_BINARY_OP

/// exp2 of the first or second half of the vector's parts; the other half is not written.
template <ducks::rv::all V>
KITTENS_DEVICE void exp_first_half_vec(V& dst, const V& src) {
  unary_op_range<base_ops::exp2, 0, V::outer_dim / 2>(dst, src);
}
template <ducks::rv::all V>
KITTENS_DEVICE void exp_second_half_vec(V& dst, const V& src) {
  unary_op_range<base_ops::exp2, V::outer_dim / 2, V::outer_dim>(dst, src);
}

/// Converts the element type; the layouts must agree.
template <ducks::rv::all D, ducks::rv::all S>
KITTENS_DEVICE void copy(D& dst, const S& src) {
  static_assert(D::length == S::length, "kittens: copy(rv, rv) needs vectors of the same length");
  static_assert(
      std::is_same_v<typename D::layout, typename S::layout> && D::outer_dim == S::outer_dim &&
          D::inner_dim == S::inner_dim,
      "kittens: copy(rv, rv) needs vectors of the same layout and base shape: store one to "
      "an sv and load that into the other");
  detail::for_each_vector_part<D>([&](int i, int j) {
    dst.data[i][j] =
        base_types::convertor<typename D::dtype, typename S::dtype>::convert(src.data[i][j]);
  });
}

}  // namespace kittens
