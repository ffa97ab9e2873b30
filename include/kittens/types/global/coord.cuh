// Coordinates {batch, depth, row, column} and the unit they count in.
#pragma once

#include "../../common/config.cuh"

namespace kittens {

/// BASE is a tile or vector type, whose units the coordinate counts, or ducks::default_type for
/// elements. A braced list passed to load() or store() becomes a coord of the tile's type, so
/// {0, 0, r, c} means the tile in tile row r and tile column c, not element (r, c).
template <typename _BASE = ducks::default_type>
struct coord {
  using BASE = _BASE;
  struct identifier {};
  int b = 0, d = 0, r = 0, c = 0;

  KITTENS_HD constexpr coord() {}
  KITTENS_HD constexpr coord(int _b, int _d, int _r, int _c) : b(_b), d(_d), r(_r), c(_c) {}
  KITTENS_HD constexpr coord(int _d, int _r, int _c) : d(_d), r(_r), c(_c) {}
  KITTENS_HD constexpr coord(int _r, int _c) : r(_r), c(_c) {}
  KITTENS_HD constexpr coord(int _c) : c(_c) {}
  template <typename U>
  KITTENS_HD constexpr coord(const coord<U>& other)
      : b(other.b), d(other.d), r(other.r), c(other.c) {}
  KITTENS_HD coord(const int4& other) : b(other.x), d(other.y), r(other.z), c(other.w) {}
  KITTENS_HD operator int4() const { return {b, d, r, c}; }

  /// The same place, counted in elements. The row axis (0 batch, 1 depth, 2 row) is the one that
  /// the tile's rows run along; a vector has none (-1).
  template <int row_axis, int col_axis>
  KITTENS_HD constexpr coord<> unit_coord() const {
    static_assert(col_axis == 3, "kittens: the columns of a tile run along the last axis");
    if constexpr (std::is_same_v<BASE, ducks::default_type>) {
      return coord<>(b, d, r, c);
    } else if constexpr (requires { BASE::rows; }) {
      static_assert(row_axis >= 0 && row_axis <= 2, "kittens: the row axis must be 0, 1 or 2");
      return coord<>(row_axis == 0 ? b * BASE::rows : b, row_axis == 1 ? d * BASE::rows : d,
                     row_axis == 2 ? r * BASE::rows : r, c * BASE::cols);
    } else {
      static_assert(row_axis == -1, "kittens: a vector has no row axis; use -1");
      return coord<>(b, d, r, c * static_cast<int>(BASE::length));
    }
  }

  template <int axis>
  KITTENS_HD constexpr int dim() const {
    static_assert(axis >= 0 && axis <= 3, "kittens: a coordinate has the axes 0 to 3");
    if constexpr (axis == 0) return b;
    if constexpr (axis == 1) return d;
    if constexpr (axis == 2) return r;
    return c;
  }
};

namespace ducks {
namespace coord {
template <typename T>
concept all = requires {
  typename T::BASE;
  requires std::is_same_v<T, kittens::coord<typename T::BASE>>;
};
template <typename T>
concept tile =
    all<T> && (requires { T::BASE::rows; } || std::is_same_v<typename T::BASE, default_type>);
template <typename T>
concept vec = all<T> && (!requires { T::BASE::rows; });
}  // namespace coord
}  // namespace ducks

}  // namespace kittens
