// Element-wise maps of register tiles. The destination comes first and may be a source.
#pragma once

#include "../../../../types/types.cuh"

namespace kittens {

template <typename op, ducks::rt::all T>
KITTENS_DEVICE void unary_map(T& dst, const T& src) {
#pragma unroll
  for (int i = 0; i < T::height; ++i) {
#pragma unroll
    for (int j = 0; j < T::width; ++j) {
#pragma unroll
      for (int k = 0; k < T::packed_per_tile; ++k) {
        dst.tiles[i][j].data[k] = op::op(src.tiles[i][j].data[k]);
      }
    }
  }
}

template <typename op, ducks::rt::all T>
KITTENS_DEVICE void bin_map(T& dst, const T& lhs, const T& rhs) {
#pragma unroll
  for (int i = 0; i < T::height; ++i) {
#pragma unroll
    for (int j = 0; j < T::width; ++j) {
#pragma unroll
      for (int k = 0; k < T::packed_per_tile; ++k) {
        dst.tiles[i][j].data[k] = op::op(lhs.tiles[i][j].data[k], rhs.tiles[i][j].data[k]);
      }
    }
  }
}

/// With a scalar, or a pair that every pair of the tile meets.
template <typename op, ducks::rt::all T>
KITTENS_DEVICE void bin_map(T& dst, const T& src, const typename T::dtype& param) {
#pragma unroll
  for (int i = 0; i < T::height; ++i) {
#pragma unroll
    for (int j = 0; j < T::width; ++j) {
#pragma unroll
      for (int k = 0; k < T::packed_per_tile; ++k) {
        dst.tiles[i][j].data[k] = op::op(src.tiles[i][j].data[k], param);
      }
    }
  }
}
template <typename op, ducks::rt::all T>
KITTENS_DEVICE void bin_map(T& dst, const T& src, const typename T::T& param) {
  bin_map<op, T>(dst, src, base_types::packing<typename T::dtype>::pack(param));
}

#define KITTENS_NULLARY_MAP(name)           \
  template <ducks::rt::all T>               \
  KITTENS_DEVICE void name(T& dst) {        \
    unary_map<base_ops::name, T>(dst, dst); \
  }
KITTENS_NULLARY_MAP(zero)
KITTENS_NULLARY_MAP(one)
KITTENS_NULLARY_MAP(pos_infty)
KITTENS_NULLARY_MAP(neg_infty)
#undef KITTENS_NULLARY_MAP

#define KITTENS_UNARY_MAP(name)                    \
  template <ducks::rt::all T>                      \
  KITTENS_DEVICE void name(T& dst, const T& src) { \
    unary_map<base_ops::name, T>(dst, src);        \
  }
KITTENS_UNARY_MAP(exp)
KITTENS_UNARY_MAP(exp2)
KITTENS_UNARY_MAP(log)
KITTENS_UNARY_MAP(log2)
KITTENS_UNARY_MAP(abs)
KITTENS_UNARY_MAP(relu)
#undef KITTENS_UNARY_MAP

/// The right operand is a tile, a scalar or a packed pair.
#define KITTENS_BINARY_MAP(name, operation)                      \
  template <ducks::rt::all T, typename U>                        \
  KITTENS_DEVICE void name(T& dst, const T& lhs, const U& rhs) { \
    bin_map<base_ops::operation, T>(dst, lhs, rhs);              \
  }
KITTENS_BINARY_MAP(add, sum)
KITTENS_BINARY_MAP(sub, sub)
KITTENS_BINARY_MAP(mul, mul)
KITTENS_BINARY_MAP(div, div)
KITTENS_BINARY_MAP(max, max)
KITTENS_BINARY_MAP(min, min)
#undef KITTENS_BINARY_MAP

}  // namespace kittens
