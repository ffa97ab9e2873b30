// Shared tiles: a matrix in LDS, swizzled (see swizzle.cuh), and rectangular views into one.
#pragma once

#include "sv.cuh"
#include "swizzle.cuh"

namespace kittens {
namespace ducks {
namespace st {
struct identifier {};
template <typename T>
concept all =
    requires { typename T::identifier; } && std::is_same_v<typename T::identifier, identifier>;
}  // namespace st
/// Shared tiles have one layout; the concept exists for symmetry with the others.
namespace st_layout {
struct row {};
template <typename T>
concept all = std::is_same_v<T, row>;
}  // namespace st_layout
}  // namespace ducks

template <typename ST, int _rows, int _cols>
struct st_subtile;

/// rows x cols elements, multiples of 16; a row is a multiple of 32 bytes. Takes rows * cols *
/// sizeof(T) bytes of LDS, without padding. 16-byte alignment is enough: the swizzle counts from
/// the tile's start, and a shift of the whole tile moves all lanes' banks alike.
template <typename _T, int _rows, int _cols>
struct KITTENS_DEFAULT_ALIGN st {
  using identifier = ducks::st::identifier;
  static_assert(
      ducks::base_types::T1<_T>,
      "kittens: st holds float, bf16, half, fp8e4m3, fp8e5m2, int8_t, uint8_t, int or double");
  static_assert(_rows > 0 && _rows % 16 == 0,
                "kittens: the rows of an st must be a multiple of 16");
  static_assert(_cols > 0 && _cols % 16 == 0,
                "kittens: the columns of an st must be a multiple of 16");

  using T = _T;
  using T2 = typename base_types::packing<T>::packed_type;
  using dtype = T;
  using address_layout = detail::shared_layout<sizeof(T), _rows, _cols>;

  static constexpr int underlying_rows = _rows;
  static constexpr int underlying_cols = _cols;
  static constexpr int underlying_height = _rows / TILE_ROW_DIM<T>;
  static constexpr int underlying_width = _cols / TILE_COL_DIM<T>;
  static constexpr int underlying_num_elements = _rows * _cols;
  static constexpr int rows = _rows;
  static constexpr int cols = _cols;
  static constexpr int height = underlying_height;
  static constexpr int width = underlying_width;
  static constexpr int num_elements = rows * cols;

  static constexpr int swizzle_bytes = address_layout::swizzle_bytes;
  static constexpr int swizzle_repeat = address_layout::period;
  static constexpr int subtile_cols = address_layout::block_cols;

  using col_vec = sv<T, rows>;
  using row_vec = sv<T, cols>;
  template <int r, int c>
  using subtile = st_subtile<st, r, c>;

  dtype data[rows * cols];

  /// The address of element {row, column}: as a pointer, or as an LDS byte address from the tile's
  /// LDS byte address. An aligned 8 bytes of a row (four columns of bf16) are contiguous there.
  static KITTENS_HD T* idx(T* tile, int2 at) {
    return tile + address_layout::offset(at.x, at.y) / sizeof(T);
  }
  static KITTENS_HD const T* idx(const T* tile, int2 at) {
    return tile + address_layout::offset(at.x, at.y) / sizeof(T);
  }
  static KITTENS_HD constexpr uint32_t idx(uint32_t tile, int2 at) {
    return tile + address_layout::offset(at.x, at.y);
  }

  KITTENS_MEMBER dtype& operator[](int2 at) { return *idx(data, at); }
  KITTENS_MEMBER const dtype& operator[](int2 at) const { return *idx(data, at); }
  /// The i-th element in storage order, which is not row-major.
  KITTENS_MEMBER dtype& operator[](int i) { return data[i]; }
  KITTENS_MEMBER const dtype& operator[](int i) const { return data[i]; }

  /// Position in a parent tile: a whole tile starts at its own beginning.
  static constexpr int row_offset = 0;
  static constexpr int col_offset = 0;
};

/// A view of rows x cols elements of a shared tile. It can be used wherever an st can.
template <typename ST, int _rows, int _cols>
struct st_subtile {
  using identifier = ducks::st::identifier;
  using parent = ST;
  using T = typename ST::T;
  using T2 = typename ST::T2;
  using dtype = T;
  using address_layout = typename ST::address_layout;

  static constexpr int underlying_rows = ST::underlying_rows;
  static constexpr int underlying_cols = ST::underlying_cols;
  static constexpr int underlying_height = ST::underlying_height;
  static constexpr int underlying_width = ST::underlying_width;
  static constexpr int underlying_num_elements = ST::underlying_num_elements;
  static constexpr int rows = _rows;
  static constexpr int cols = _cols;
  static constexpr int height = rows / TILE_ROW_DIM<T>;
  static constexpr int width = cols / TILE_COL_DIM<T>;
  static constexpr int num_elements = rows * cols;

  static constexpr int swizzle_bytes = ST::swizzle_bytes;
  static constexpr int swizzle_repeat = ST::swizzle_repeat;
  static constexpr int subtile_cols = ST::subtile_cols;

  using col_vec = sv<T, rows>;
  using row_vec = sv<T, cols>;

  dtype* data;
  int row_offset;
  int col_offset;

  KITTENS_MEMBER st_subtile(ST& source, int2 at)
      : data(&source.data[0]), row_offset(at.x * rows), col_offset(at.y * cols) {}

  KITTENS_MEMBER T* idx(T* tile, int2 at) { return ST::idx(tile, moved(at)); }
  KITTENS_MEMBER const T* idx(const T* tile, int2 at) const { return ST::idx(tile, moved(at)); }
  KITTENS_MEMBER uint32_t idx(uint32_t tile, int2 at) const { return ST::idx(tile, moved(at)); }

  KITTENS_MEMBER dtype& operator[](int2 at) { return *ST::idx(data, moved(at)); }
  KITTENS_MEMBER const dtype& operator[](int2 at) const { return *ST::idx(data, moved(at)); }

 private:
  KITTENS_MEMBER int2 moved(int2 at) const { return {at.x + row_offset, at.y + col_offset}; }
};

/// The subtile number {row, column} of a tile, counted in subtiles.
template <int subtile_rows, int subtile_cols, ducks::st::all ST>
KITTENS_DEVICE st_subtile<ST, subtile_rows, subtile_cols> subtile_inplace(
    ST& source, int2 at, bool /*unformatted*/ = false) {
  static_assert(
      !requires { typename ST::parent; },
      "kittens: a subtile of a subtile is not supported; take it from the tile itself");
  static_assert(subtile_rows % 16 == 0 && subtile_cols % 16 == 0,
                "kittens: rows and columns of a subtile must be multiples of 16");
  static_assert(ST::rows % subtile_rows == 0 && ST::cols % subtile_cols == 0,
                "kittens: a subtile must divide its tile");
  return {source, at};
}

template <int rows, int cols>
using st_fl = st<float, rows, cols>;
template <int rows, int cols>
using st_bf = st<bf16, rows, cols>;
template <int rows, int cols>
using st_hf = st<half, rows, cols>;
template <int rows, int cols>
using st_fp8e4m3 = st<fp8e4m3, rows, cols>;
template <int rows, int cols>
using st_fp8e5m2 = st<fp8e5m2, rows, cols>;
template <int rows, int cols>
using st_i8 = st<int8_t, rows, cols>;
template <int rows, int cols>
using st_u8 = st<uint8_t, rows, cols>;
template <int rows, int cols>
using st_i32 = st<int, rows, cols>;
template <int rows, int cols>
using st_fd = st<double, rows, cols>;

}  // namespace kittens
