// Register vectors: a row or a column that goes with a register tile, or a plain one.
#pragma once

#include "../../common/common.cuh"
#include "layouts.cuh"

namespace kittens {
namespace ducks {
namespace rv {
struct identifier {};
template <typename T>
concept all =
    requires { typename T::identifier; } && std::is_same_v<typename T::identifier, identifier>;
template <typename T>
concept naive_layout = all<T> && std::is_same_v<typename T::layout, rv_layout::naive>;
template <typename T>
concept align_layout = all<T> && std::is_same_v<typename T::layout, rv_layout::align>;
template <typename T>
concept ortho_layout = all<T> && std::is_same_v<typename T::layout, rv_layout::ortho>;
template <typename T>
concept tile_layout = align_layout<T> || ortho_layout<T>;
}  // namespace rv
}  // namespace ducks

/// `shape` is the base shape of the register tile that an align or ortho vector goes with; a naive
/// one has none.
template <typename _T, int _length, ducks::rv_layout::all _layout = ducks::rv_layout::naive,
          ducks::rt_shape::all _shape = ducks::rt_shape::rt_16x16>
struct rv {
  using identifier = ducks::rv::identifier;
  using layout = _layout;
  using shape = _shape;
  static_assert(
      ducks::base_types::T1<_T>,
      "kittens: rv holds float, bf16, half, fp8e4m3, fp8e5m2, int8_t, uint8_t, int or double");
  static constexpr bool is_naive = std::is_same_v<layout, ducks::rv_layout::naive>;
  static constexpr bool is_align = std::is_same_v<layout, ducks::rv_layout::align>;
  using map = detail::base_map<_T, shape>;

  using T = _T;
  using T2 = typename base_types::packing<T>::packed_type;
  using dtype = std::conditional_t<is_align, T2, T>;

  static constexpr int length = _length;
  static constexpr int tile_length = is_naive ? 16 : (is_align ? map::length : map::lead);
  static_assert(_length > 0 && _length % tile_length == 0,
                "kittens: the length of an rv must be a multiple of 16, or of the base tile it "
                "goes with");
  static constexpr int tiles = length / tile_length;
  static constexpr int inner_dim = is_align ? map::per_lane / base_types::packing<T2>::num() : 1;
  static constexpr int outer_dim = is_naive ? (length + WARP_THREADS - 1) / WARP_THREADS : tiles;

  dtype data[outer_dim][inner_dim];

  KITTENS_MEMBER dtype* operator[](size_t outer) { return &data[outer][0]; }
  KITTENS_MEMBER const dtype* operator[](size_t outer) const { return &data[outer][0]; }
  KITTENS_MEMBER dtype& operator[](int2 at) { return data[at.x][at.y]; }
  KITTENS_MEMBER const dtype& operator[](int2 at) const { return data[at.x][at.y]; }
};

template <int length, ducks::rv_layout::all layout = ducks::rv_layout::naive,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rv_fl = rv<float, length, layout, shape>;
template <int length, ducks::rv_layout::all layout = ducks::rv_layout::naive,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rv_bf = rv<bf16, length, layout, shape>;
template <int length, ducks::rv_layout::all layout = ducks::rv_layout::naive,
          ducks::rt_shape::all shape = ducks::rt_shape::rt_16x16>
using rv_hf = rv<half, length, layout, shape>;

}  // namespace kittens
