// Maps of register tiles: element by element, and with one value per row or column. The destination
// comes first and may be a source.
#pragma once

#include "../../../../types/types.cuh"

namespace kittens {

namespace detail {
/// Calls f(i, j, k) for every packed value of a register tile.
template <ducks::rt::all RT, typename F>
KITTENS_DEVICE void for_each_packed(F&& f) {
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
#pragma unroll
      for (int k = 0; k < RT::packed_per_tile; ++k) f(i, j, k);
    }
  }
}
}  // namespace detail

/// dst = op(src), element by element. `op` is one of common/base_ops.cuh, or a struct with a static
/// device function op(), which takes one of
///
/// - an element: float op(float x), for a tile of float, bf16, half or 8-bit floats, computed in
///   float and rounded once; int op(int x) for integers
/// - a packed value, the tile's dtype: float2, bf16_2 and so on, two neighbours at a time (four of
///   a 1-byte type). A template is given these.
///
/// apply() takes a lambda instead, which is also given the row and the column.
template <typename op, ducks::rt::all T>
KITTENS_DEVICE void unary_map(T& dst, const T& src) {
  detail::for_each_packed<T>([&](int i, int j, int k) {
    dst.tiles[i][j].data[k] = detail::operate<op>(src.tiles[i][j].data[k]);
  });
}

/// dst = op(lhs, rhs), element by element.
template <typename op, ducks::rt::all T>
KITTENS_DEVICE void bin_map(T& dst, const T& lhs, const T& rhs) {
  detail::for_each_packed<T>([&](int i, int j, int k) {
    dst.tiles[i][j].data[k] = detail::operate<op>(lhs.tiles[i][j].data[k], rhs.tiles[i][j].data[k]);
  });
}

/// With a scalar, or with one packed value for all packed values of the tile.
template <typename op, ducks::rt::all T>
KITTENS_DEVICE void bin_map(T& dst, const T& src, const typename T::dtype& param) {
  detail::for_each_packed<T>([&](int i, int j, int k) {
    dst.tiles[i][j].data[k] = detail::operate<op>(src.tiles[i][j].data[k], param);
  });
}
template <typename op, ducks::rt::all T>
KITTENS_DEVICE void bin_map(T& dst, const T& src, const typename T::T& param) {
  bin_map<op, T>(dst, src, base_types::packing<typename T::dtype>::pack(param));
}

namespace detail {
/// The part of a vector that packed value k of base tile (i, j) is combined with, as a packed
/// value. `rows` says that the vector has a value for each row (it is the tile's col_vec).
template <bool rows, ducks::rt::all RT, typename V>
KITTENS_DEVICE typename RT::dtype vector_part(const V& vec, int i, int j, int k) {
  const int w = rows ? i : j;
  if constexpr (V::is_align) {
    return vec.data[w][k];
  } else {
    return base_types::packing<typename RT::dtype>::pack(vec.data[w][0]);
  }
}

template <bool rows, ducks::rt::all RT, typename V>
constexpr void check_vector() {
  using wanted = std::conditional_t<rows, typename RT::col_vec, typename RT::row_vec>;
  static_assert(!rows || std::is_same_v<V, wanted>,
                "kittens: an operation on rows needs the tile's own col_vec: a value for each row, "
                "of the tile's element type and base shape");
  static_assert(rows || std::is_same_v<V, wanted>,
                "kittens: an operation on columns needs the tile's own row_vec: a value for each "
                "column, of the tile's element type and base shape");
}

template <typename op, bool rows, ducks::rt::all RT, typename V, typename... Vs>
KITTENS_DEVICE void vector_map_tile(RT& dst, const RT& src, const V& vec, const Vs&... more) {
  check_vector<rows, RT, V>();
  (check_vector<rows, RT, Vs>(), ...);
  for_each_packed<RT>([&](int i, int j, int k) {
    dst.tiles[i][j].data[k] =
        operate<op>(src.tiles[i][j].data[k], vector_part<rows, RT>(vec, i, j, k),
                    vector_part<rows, RT>(more, i, j, k)...);
  });
}
}  // namespace detail

/// dst[r][c] = op(src[r][c], col_vec[r]); with a third operand op(src[r][c], a[r], b[r]).
template <typename op, ducks::rt::all RT, ducks::rv::all V>
KITTENS_DEVICE void row_map(RT& dst, const RT& src, const V& row_values) {
  detail::vector_map_tile<op, true>(dst, src, row_values);
}
template <typename op, ducks::rt::all RT, ducks::rv::all V>
KITTENS_DEVICE void row_map(RT& dst, const RT& src, const V& a, const V& b) {
  detail::vector_map_tile<op, true>(dst, src, a, b);
}
/// dst[r][c] = op(src[r][c], row_vec[c]).
template <typename op, ducks::rt::all RT, ducks::rv::all V>
KITTENS_DEVICE void col_map(RT& dst, const RT& src, const V& col_values) {
  detail::vector_map_tile<op, false>(dst, src, col_values);
}
template <typename op, ducks::rt::all RT, ducks::rv::all V>
KITTENS_DEVICE void col_map(RT& dst, const RT& src, const V& a, const V& b) {
  detail::vector_map_tile<op, false>(dst, src, a, b);
}

/// Every element becomes the constant.
#define KITTENS_NULLARY_MAP(name)           \
  template <ducks::rt::all T>               \
  KITTENS_DEVICE void name(T& dst) {        \
    unary_map<base_ops::name, T>(dst, dst); \
  }
KITTENS_NULLARY_NAMES(KITTENS_NULLARY_MAP)
#undef KITTENS_NULLARY_MAP

/// dst = f(src), where f is the function the operation is named after; common/base_ops.cuh gives
/// its accuracy.
#define KITTENS_UNARY_MAP(name)                    \
  template <ducks::rt::all T>                      \
  KITTENS_DEVICE void name(T& dst, const T& src) { \
    unary_map<base_ops::name, T>(dst, src);        \
  }
KITTENS_UNARY_NAMES(KITTENS_UNARY_MAP)
#undef KITTENS_UNARY_MAP

/// The right operand is a tile, a scalar or a packed value.
#define KITTENS_BINARY_MAP(name, operation)                      \
  template <ducks::rt::all T, typename U>                        \
  KITTENS_DEVICE void name(T& dst, const T& lhs, const U& rhs) { \
    bin_map<base_ops::operation, T>(dst, lhs, rhs);              \
  }
KITTENS_BINARY_NAMES(KITTENS_BINARY_MAP)
#undef KITTENS_BINARY_MAP

/// add_row(dst, src, v): v[r] is added to all of row r; add_col likewise with a value per column.
#define KITTENS_VECTOR_MAP(name, operation)                                   \
  template <ducks::rt::all T, ducks::rv::all V>                               \
  KITTENS_DEVICE void name##_row(T& dst, const T& src, const V& row_values) { \
    row_map<base_ops::operation>(dst, src, row_values);                       \
  }                                                                           \
  template <ducks::rt::all T, ducks::rv::all V>                               \
  KITTENS_DEVICE void name##_col(T& dst, const T& src, const V& col_values) { \
    col_map<base_ops::operation>(dst, src, col_values);                       \
  }
KITTENS_VECTOR_NAMES(KITTENS_VECTOR_MAP)
#undef KITTENS_VECTOR_MAP

/// Row r of the tile becomes v[r] everywhere; column c becomes v[c].
template <ducks::rt::all T, ducks::rv::all V>
KITTENS_DEVICE void broadcast_row(T& dst, const V& row_values) {
  row_map<base_ops::copy2>(dst, dst, row_values);
}
template <ducks::rt::all T, ducks::rv::all V>
KITTENS_DEVICE void broadcast_col(T& dst, const V& col_values) {
  col_map<base_ops::copy2>(dst, dst, col_values);
}

}  // namespace kittens
