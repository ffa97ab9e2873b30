// Maps of shared tiles by a group of warps: element by element, and with a value per row or column.
//
// No barrier is inside: writes of other warps to a source must precede a barrier before the call,
// and other warps may read the destination after a barrier. The destination may be a source.
#pragma once

#include "access.cuh"

namespace kittens {
namespace detail {

/// dst[r][c] = f(r, c, src[r][c], more[r][c]...), of elements in the destination's type, or in
/// their own.
template <int N_THREADS, bool own_types = false, ducks::st::all D, typename F, ducks::st::all... S>
KITTENS_DEVICE void map_shared(D& dst, F&& f, const S&... src) {
  static_assert(((D::rows == S::rows && D::cols == S::cols) && ...),
                "kittens: a map of shared tiles needs tiles of the same shape");
  using T = typename D::T;
  constexpr int count = widest_slot<T, typename S::T...>;
  for_each_slot<D, N_THREADS, count>([&](int row, int col) {
    elements<T, count> result;
    const auto apply = [&](const auto&... part) {
#pragma unroll
      for (int e = 0; e < count; ++e) result.e[e] = f(row, col + e, part.e[e]...);
    };
    apply(convert_elements<std::conditional_t<own_types, typename S::T, T>>(
        shared_run<S, count>::read(src, row, col))...);
    shared_run<D, count>::write(dst, row, col, result);
  });
  lds_writes_done();
}

template <bool rows, ducks::st::all ST, ducks::sv::all SV>
constexpr void check_shared_vector() {
  static_assert(std::is_same_v<typename ST::T, typename SV::T> &&
                    static_cast<int>(SV::length) == (rows ? ST::rows : ST::cols),
                "kittens: an operation on the rows (columns) of a shared tile needs an sv of the "
                "tile's element type with a value for each row (column)");
}
}  // namespace detail

namespace group_ops {

#define KITTENS_STATIC         \
  template <ducks::st::all ST> \
  static KITTENS_MEMBER

template <int GROUP_WARPS>
struct shared_tile_maps {
  static constexpr int threads = GROUP_WARPS * WARP_THREADS;

  template <typename op, ducks::st::all ST>
  static KITTENS_MEMBER void unary_map(ST& dst, const ST& src) {
    detail::map_shared<threads>(
        dst, [](int, int, const auto& x) { return detail::operate<op>(x); }, src);
  }
  template <typename op, ducks::st::all ST>
  static KITTENS_MEMBER void bin_map(ST& dst, const ST& lhs, const ST& rhs) {
    detail::map_shared<threads>(
        dst, [](int, int, const auto& x, const auto& y) { return detail::operate<op>(x, y); }, lhs,
        rhs);
  }
  /// With a scalar.
  template <typename op, ducks::st::all ST>
  static KITTENS_MEMBER void bin_map(ST& dst, const ST& src, const typename ST::T& param) {
    detail::map_shared<threads>(
        dst, [&](int, int, const auto& x) { return detail::operate<op>(x, param); }, src);
  }
  /// dst[r][c] = op(src[r][c], row_values[r]).
  template <typename op, ducks::st::all ST, ducks::sv::all SV>
  static KITTENS_MEMBER void row_map(ST& dst, const ST& src, const SV& row_values) {
    detail::check_shared_vector<true, ST, SV>();
    detail::map_shared<threads>(
        dst, [&](int row, int, const auto& x) { return detail::operate<op>(x, row_values[row]); },
        src);
  }
  /// dst[r][c] = op(src[r][c], col_values[c]).
  template <typename op, ducks::st::all ST, ducks::sv::all SV>
  static KITTENS_MEMBER void col_map(ST& dst, const ST& src, const SV& col_values) {
    detail::check_shared_vector<false, ST, SV>();
    detail::map_shared<threads>(
        dst, [&](int, int col, const auto& x) { return detail::operate<op>(x, col_values[col]); },
        src);
  }

  /// Converts the element type.
  template <ducks::st::all D, ducks::st::all S>
  static KITTENS_MEMBER void copy(D& dst, const S& src) {
    detail::map_shared<threads>(dst, [](int, int, const auto& x) { return x; }, src);
  }

#define KITTENS_NULLARY_MAP(name)                                                                \
  KITTENS_STATIC void name(ST& dst) {                                                            \
    using T = typename ST::T;                                                                    \
    detail::map_shared<threads>(dst, [](int, int) { return base_types::constants<T>::name(); }); \
  }
  KITTENS_NULLARY_NAMES(KITTENS_NULLARY_MAP)
#undef KITTENS_NULLARY_MAP

#define KITTENS_UNARY_MAP(name) \
  KITTENS_STATIC void name(ST& dst, const ST& src) { unary_map<base_ops::name>(dst, src); }
  KITTENS_UNARY_NAMES(KITTENS_UNARY_MAP)
#undef KITTENS_UNARY_MAP

/// The right operand is a tile or a scalar.
#define KITTENS_BINARY_MAP(name, operation)                                     \
  KITTENS_STATIC void name(ST& dst, const ST& lhs, const ST& rhs) {             \
    bin_map<base_ops::operation>(dst, lhs, rhs);                                \
  }                                                                             \
  KITTENS_STATIC void name(ST& dst, const ST& lhs, const typename ST::T& rhs) { \
    bin_map<base_ops::operation>(dst, lhs, rhs);                                \
  }
  KITTENS_BINARY_NAMES(KITTENS_BINARY_MAP)
#undef KITTENS_BINARY_MAP
#undef KITTENS_STATIC

#define KITTENS_VECTOR_MAP(name, operation)                                             \
  template <ducks::st::all ST, ducks::sv::all SV>                                       \
  static KITTENS_MEMBER void name##_row(ST& dst, const ST& src, const SV& row_values) { \
    row_map<base_ops::operation>(dst, src, row_values);                                 \
  }                                                                                     \
  template <ducks::st::all ST, ducks::sv::all SV>                                       \
  static KITTENS_MEMBER void name##_col(ST& dst, const ST& src, const SV& col_values) { \
    col_map<base_ops::operation>(dst, src, col_values);                                 \
  }
  KITTENS_VECTOR_NAMES(KITTENS_VECTOR_MAP)
#undef KITTENS_VECTOR_MAP

  template <ducks::st::all ST, ducks::sv::all SV>
  static KITTENS_MEMBER void broadcast_row(ST& dst, const SV& row_values) {
    detail::check_shared_vector<true, ST, SV>();
    detail::map_shared<threads>(dst, [&](int row, int) { return row_values[row]; });
  }
  template <ducks::st::all ST, ducks::sv::all SV>
  static KITTENS_MEMBER void broadcast_col(ST& dst, const SV& col_values) {
    detail::check_shared_vector<false, ST, SV>();
    detail::map_shared<threads>(dst, [&](int, int col) { return col_values[col]; });
  }
};

}  // namespace group_ops
}  // namespace kittens
