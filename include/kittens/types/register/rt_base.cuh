// The base tile that register tiles are made of; see layouts.cuh for the elements of each lane.
#pragma once

#include "rv.cuh"

namespace kittens {
namespace ducks {
namespace rt_base {
struct identifier {};
template <typename T>
concept all =
    requires { typename T::identifier; } && std::is_same_v<typename T::identifier, identifier>;
}  // namespace rt_base
}  // namespace ducks

template <typename _T, ducks::rt_layout::all _layout,
          ducks::rt_shape::all _shape = ducks::rt_shape::rt_16x16>
struct rt_base {
  using identifier = ducks::rt_base::identifier;
  using layout = _layout;
  using shape = _shape;
  static_assert(
      ducks::base_types::T1<_T>,
      "kittens: a register tile holds float, bf16, half, fp8e4m3, fp8e5m2, int8_t, uint8_t, "
      "int or double");
  using map = detail::base_map<_T, shape>;
  static constexpr bool is_row = std::is_same_v<layout, ducks::rt_layout::row>;

  using T = _T;
  using T2 = typename base_types::packing<T>::packed_type;
  using dtype = T2;

  static constexpr int tile_size_row = is_row ? map::lead : map::length;
  static constexpr int tile_size_col = is_row ? map::length : map::lead;
  static constexpr int rows = tile_size_row;
  static constexpr int cols = tile_size_col;
  static constexpr int num_elements = rows * cols;
  static constexpr int elements_per_thread = map::per_lane;
  static constexpr int packed_per_thread = elements_per_thread / base_types::packing<dtype>::num();
  static constexpr int registers_per_thread = packed_per_thread * sizeof(dtype) / 4;

  /// A vector along the direction in which a lane holds neighbours is `align`, the other `ortho`.
  using row_vec_layout =
      std::conditional_t<is_row, ducks::rv_layout::align, ducks::rv_layout::ortho>;
  using col_vec_layout =
      std::conditional_t<is_row, ducks::rv_layout::ortho, ducks::rv_layout::align>;

  dtype data[packed_per_thread];

  /// Row and column, within the tile, of a lane's element e.
  static KITTENS_HD constexpr int row_of(int lane, int e) {
    return is_row ? map::across(lane) : map::along(lane, e);
  }
  static KITTENS_HD constexpr int col_of(int lane, int e) {
    return is_row ? map::along(lane, e) : map::across(lane);
  }
};

}  // namespace kittens
