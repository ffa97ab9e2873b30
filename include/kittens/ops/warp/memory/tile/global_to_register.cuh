// Tiles between global memory and registers, by a warp. Element types are converted.
#pragma once

#include "../access.cuh"

namespace kittens {

/// Row layout: each lane reads its four neighbours of a row at once. Col layout: element by
/// element, 16 neighbours of a row by 16 lanes. The tile must lie inside the tensor.
template <int axis, ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void load(RT& dst, const GL& src, const COORD& idx) {
  using U = typename GL::T;
  using base = typename RT::base;
  const detail::global_tile<axis, GL> tile(src, idx);
  const int lane = laneid();
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
      const void* start = tile.at(i * RT::tile_size_row, j * RT::tile_size_col);
      detail::quad<U> value;
      if constexpr (base::is_row) {
        value = detail::quad<U>::from_bits(detail::global_load<4 * sizeof(U), sizeof(U)>(
            start, tile.lane_offset(base::row_of(lane, 0), base::col_of(lane, 0))));
      } else {
        U element[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          element[e] = detail::bits_as<U>(detail::global_load<sizeof(U), sizeof(U)>(
              start, tile.lane_offset(base::row_of(lane, e), base::col_of(lane, e))));
        }
        value = detail::quad<U>::from_elements(element);
      }
      detail::set_quad(dst.tiles[i][j], value.template as<typename RT::T>());
    }
  }
}
template <ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void load(RT& dst, const GL& src, const COORD& idx) {
  load<2, RT, GL, COORD>(dst, src, idx);
}

template <int axis, ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void store(const GL& dst, const RT& src, const COORD& idx) {
  using U = typename GL::T;
  using base = typename RT::base;
  const detail::global_tile<axis, GL> tile(dst, idx);
  const int lane = laneid();
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
      void* start = tile.at(i * RT::tile_size_row, j * RT::tile_size_col);
      const auto value = detail::quad_of(src.tiles[i][j]).template as<U>();
      if constexpr (base::is_row) {
        detail::global_store<4 * sizeof(U), sizeof(U)>(
            start, tile.lane_offset(base::row_of(lane, 0), base::col_of(lane, 0)), value.to_bits());
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          detail::global_store<sizeof(U), sizeof(U)>(
              start, tile.lane_offset(base::row_of(lane, e), base::col_of(lane, e)),
              detail::bits_as<detail::word<sizeof(U)>>(value.element(e)));
        }
      }
    }
  }
}
template <ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void store(const GL& dst, const RT& src, const COORD& idx) {
  store<2, RT, GL, COORD>(dst, src, idx);
}

}  // namespace kittens
