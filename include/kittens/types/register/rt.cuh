// Register tiles: a matrix spread over the 64 lanes of a warp, in units of base tiles.
#pragma once

#include "rt_base.cuh"

namespace kittens {
namespace ducks {
namespace rt {
struct identifier {};
template <typename T>
concept all =
    requires { typename T::identifier; } && std::is_same_v<typename T::identifier, identifier>;
template <typename T>
concept row_layout = all<T> && std::is_same_v<typename T::layout, rt_layout::row>;
template <typename T>
concept col_layout = all<T> && std::is_same_v<typename T::layout, rt_layout::col>;
}  // namespace rt
}  // namespace ducks

/// rows x cols elements of type T (float, bf16, half, fp8e4m3, fp8e5m2, int8_t, uint8_t, int,
/// double), multiples of the base tile's. The layout says which lane holds what; rt_bf<64, 32,
/// col_l> is a bf16 tile. `shape` chooses the MFMA: rt_16x16 (the default) or rt_32x32, which does
/// the same work with fewer instructions and longer latency.
template <typename _T, int _rows, int _cols, ducks::rt_layout::all _layout = ducks::rt_layout::row,
          ducks::rt_shape::all _shape = ducks::rt_shape::rt_16x16>
struct rt {
  using identifier = ducks::rt::identifier;
  using layout = _layout;
  using shape = _shape;
  using base = rt_base<_T, _layout, _shape>;
  using T = typename base::T;
  using T2 = typename base::T2;
  using dtype = T2;

  static_assert(_rows > 0 && _rows % base::tile_size_row == 0,
                "kittens: the rows of an rt must be a multiple of 16, or of its base tile");
  static_assert(_cols > 0 && _cols % base::tile_size_col == 0,
                "kittens: the columns of an rt must be a multiple of 16, or of its base tile");

  static constexpr int rows = _rows;
  static constexpr int cols = _cols;
  static constexpr int tile_size_row = base::tile_size_row;
  static constexpr int tile_size_col = base::tile_size_col;
  static constexpr int height = rows / tile_size_row;
  static constexpr int width = cols / tile_size_col;
  static constexpr int num_elements = rows * cols;
  static constexpr int elements_per_thread = num_elements / WARP_THREADS;
  static constexpr int packed_per_thread = elements_per_thread / base_types::packing<dtype>::num();
  static constexpr int packed_per_tile = base::packed_per_thread;

  using row_vec = rv<T, cols, typename base::row_vec_layout, shape>;
  using col_vec = rv<T, rows, typename base::col_vec_layout, shape>;

  base tiles[height][width];
};

template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_fl = rt<float, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_bf = rt<bf16, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_hf = rt<half, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_fp8e4m3 = rt<fp8e4m3, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_fp8e5m2 = rt<fp8e5m2, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_i8 = rt<int8_t, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_u8 = rt<uint8_t, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_i32 = rt<int, rows, cols, layout, shape>;
template <int rows, int cols, ducks::rt_layout::all layout = ducks::rt_layout::row,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rt_fd = rt<double, rows, cols, layout, shape>;

}  // namespace kittens
