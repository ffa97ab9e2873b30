// Tiles between global memory and registers, by a warp. Element types are converted.
#pragma once

#include "../global_tile.cuh"
#include "../runs.cuh"

namespace kittens {

/// dst = the tile `idx` of src. Row layout: a lane reads each of its runs (4 neighbours of a row of
/// 2- and 4-byte elements) at once. Col layout: element by element, neighbours of a row by
/// neighbouring lanes. `axis` is the axis of the tensor that the rows run along. The tile must be
/// inside the tensor, unless that is bounded().
template <int axis, ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void load(RT& dst, const GL& src, const COORD& idx) {
  using U = typename GL::T;
  using base = typename RT::base;
  constexpr int run = base::map::run;
  const detail::global_tile<axis, GL> tile(src, idx, RT::rows, RT::cols);
  const int lane = laneid();
  detail::for_each_run<RT>([&](int i, int j, int q) {
    const int row0 = i * RT::tile_size_row;
    const int col0 = j * RT::tile_size_col;
    detail::elements<U, run> value;
    if constexpr (base::is_row) {
      using words = detail::run_words<U, run, 16>;
      value = words::read([&](int byte) {
        return tile.template read<words::bytes>(
            row0, col0 + base::col_of(0, q * run) + byte / static_cast<int>(sizeof(U)),
            base::row_of(lane, 0), base::col_of(lane, 0));
      });
    } else {
#pragma unroll
      for (int e = 0; e < run; ++e) {
        value.e[e] = detail::bits_as<U>(
            tile.template read<sizeof(U)>(row0 + base::row_of(0, q * run + e), col0,
                                          base::row_of(lane, 0), base::col_of(lane, 0)));
      }
    }
    detail::put_run(dst.tiles[i][j], q, detail::convert_elements<typename RT::T>(value));
  });
}
template <ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void load(RT& dst, const GL& src, const COORD& idx) {
  load<2, RT, GL, COORD>(dst, src, idx);
}

/// The tile `idx` of dst = src; the converse of load().
template <int axis, ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void store(const GL& dst, const RT& src, const COORD& idx) {
  using U = typename GL::T;
  using base = typename RT::base;
  constexpr int run = base::map::run;
  const detail::global_tile<axis, GL> tile(dst, idx, RT::rows, RT::cols);
  const int lane = laneid();
  detail::for_each_run<RT>([&](int i, int j, int q) {
    const int row0 = i * RT::tile_size_row;
    const int col0 = j * RT::tile_size_col;
    const auto value = detail::convert_elements<U>(detail::take_run(src.tiles[i][j], q));
    if constexpr (base::is_row) {
      using words = detail::run_words<U, run, 16>;
      words::write(value, [&](int byte, auto bits) {
        tile.template write<words::bytes>(
            row0, col0 + base::col_of(0, q * run) + byte / static_cast<int>(sizeof(U)),
            base::row_of(lane, 0), base::col_of(lane, 0), bits);
      });
    } else {
#pragma unroll
      for (int e = 0; e < run; ++e) {
        tile.template write<sizeof(U)>(row0 + base::row_of(0, q * run + e), col0,
                                       base::row_of(lane, 0), base::col_of(lane, 0),
                                       detail::bits_as<detail::word<sizeof(U)>>(value.e[e]));
      }
    }
  });
}
template <ducks::rt::all RT, ducks::gl::all GL, ducks::coord::tile COORD = coord<RT>>
KITTENS_DEVICE void store(const GL& dst, const RT& src, const COORD& idx) {
  store<2, RT, GL, COORD>(dst, src, idx);
}

}  // namespace kittens
