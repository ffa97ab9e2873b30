// Register tiles to another element type, the other layout, or transposed.
#pragma once

#include "../../memory/runs.cuh"

namespace kittens {

/// Converts the element type; the layouts must agree.
template <ducks::rt::all D, ducks::rt::all S>
KITTENS_DEVICE void copy(D& dst, const S& src) {
  static_assert(D::rows == S::rows && D::cols == S::cols,
                "kittens: copy(rt, rt) needs tiles of the same shape");
  static_assert(std::is_same_v<typename D::layout, typename S::layout>,
                "kittens: copy(rt, rt) needs tiles of the same layout; use swap_layout");
  static_assert(
      detail::same_lanes<D, S>,
      "kittens: copy(rt, rt) needs tiles whose lanes hold the same elements: the same "
      "base shape, and element types of 2 or 4 bytes, or of the same size; other tiles go "
      "through a shared tile");
  detail::for_each_run<D>([&](int i, int j, int q) {
    detail::put_run(dst.tiles[i][j], q,
                    detail::convert_elements<typename D::T>(detail::take_run(src.tiles[i][j], q)));
  });
}

namespace detail {
/// A lane's elements of a base tile by number.
template <typename Base>
KITTENS_DEVICE auto unpack_base(const Base& tile) {
  return bits_as<elements<typename Base::T, Base::elements_per_thread>>(tile.data);
}
template <typename Base, typename List>
KITTENS_DEVICE void pack_base(Base& tile, const List& list) {
  __builtin_memcpy(&tile.data, &list, sizeof(tile.data));
}

/// list[i] = list[(i + by) % N] where `by` differs between lanes: one select per element and bit.
template <typename T, int N>
KITTENS_DEVICE void rotate_elements(elements<T, N>& list, int by) {
#pragma unroll
  for (int bit = 1; bit < N; bit *= 2) {
    const auto before = list;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      list.e[i] = (by & bit) != 0 ? before.e[(i + bit) % N] : before.e[i];
    }
  }
}

/// What lane L holds as element e, X(across(L), along(L, e)), becomes X(along(L, e), across(L)).
///
/// Let i = across(L). For its destinations' sake a lane is described by two numbers: `slot`, the e
/// of lanes that have a row i in along(), and `group`, the L / lead of those lanes. Lane L needs,
/// for each e, element slot(L) of lane along(L, e) + lead * group(L). Every lane holds N elements
/// wanted by N lanes, so in N rounds each lane gives and takes once per round: in round k lane L
/// gives its element (slot(L) + k) % N and takes the one for its element (slot(L) - k) % N.
template <typename To, typename From>
KITTENS_DEVICE void exchange_base(To& dst, const From& src) {
  using map = typename From::map;
  constexpr int count = map::per_lane;
  static_assert(map::lead == map::length && To::map::lead == map::lead,
                "kittens: swap_layout and transpose need square base tiles; tiles of 1-byte "
                "elements in rt_16x16 go through a shared tile");
  const int lane = laneid();
  const int across = map::across(lane);
  const int group = across / map::run % map::groups;
  const int slot = across / (map::run * map::groups) * map::run + across % map::run;
  auto mine = unpack_base(src);
  rotate_elements(mine, slot);
  decltype(mine) taken;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const int e = (slot - k) & (count - 1);
    taken.e[count - 1 - k] = read_lane(mine.e[k], map::along(lane, e) + map::lead * group);
  }
  // taken[count - 1 - k] belongs at e = slot - k: element e is at e - slot + count - 1.
  rotate_elements(taken, (count - 1 - slot) & (count - 1));
  pack_base(dst, taken);
}
}  // namespace detail

/// The same matrix in the other layout.
template <ducks::rt::all D, ducks::rt::all S>
KITTENS_DEVICE void swap_layout(D& dst, const S& src) {
  static_assert(std::is_same_v<typename D::T, typename S::T>,
                "kittens: swap_layout needs tiles of the same element type");
  static_assert(D::rows == S::rows && D::cols == S::cols,
                "kittens: swap_layout needs tiles of the same shape");
  static_assert(std::is_same_v<typename D::shape, typename S::shape>,
                "kittens: swap_layout needs tiles of the same base shape");
  static_assert(!std::is_same_v<typename D::layout, typename S::layout>,
                "kittens: swap_layout needs a destination in the other layout");
#pragma unroll
  for (int i = 0; i < D::height; ++i) {
#pragma unroll
    for (int j = 0; j < D::width; ++j) detail::exchange_base(dst.tiles[i][j], src.tiles[i][j]);
  }
}

/// The same registers seen as the other layout, after the exchange.
template <ducks::rt::all RT>
KITTENS_DEVICE auto& swap_layout_inplace(RT& tile) {
  using other =
      rt<typename RT::T, RT::rows, RT::cols,
         typename ducks::rt_layout::transpose<typename RT::layout>::type, typename RT::shape>;
  static_assert(sizeof(other) == sizeof(RT));
  auto& swapped = reinterpret_cast<other&>(tile);
  const RT before = tile;
  swap_layout(swapped, before);
  return swapped;
}

/// The transposed matrix in the same layout, in other registers.
template <ducks::rt::all D, ducks::rt::all S>
KITTENS_DEVICE void transpose_sep(D& dst, const S& src) {
  static_assert(std::is_same_v<typename D::T, typename S::T>,
                "kittens: transpose_sep needs tiles of the same element type");
  static_assert(D::rows == S::cols && D::cols == S::rows,
                "kittens: transpose_sep needs a destination of the transposed shape");
  static_assert(std::is_same_v<typename D::layout, typename S::layout> &&
                    std::is_same_v<typename D::shape, typename S::shape>,
                "kittens: transpose_sep needs tiles of the same layout and base shape");
#pragma unroll
  for (int i = 0; i < D::height; ++i) {
#pragma unroll
    for (int j = 0; j < D::width; ++j) detail::exchange_base(dst.tiles[i][j], src.tiles[j][i]);
  }
}

template <ducks::rt::all RT>
KITTENS_DEVICE RT& transpose_inplace(RT& tile) {
  static_assert(RT::rows == RT::cols, "kittens: transpose_inplace needs a square tile");
  const RT before = tile;
  transpose_sep(tile, before);
  return tile;
}

/// Horizontal band number i of a tile: the same registers.
template <int subtile_rows, ducks::rt::all RT>
KITTENS_DEVICE auto& subtile_inplace(RT& source, int i) {
  static_assert(subtile_rows % RT::tile_size_row == 0 && RT::rows % subtile_rows == 0,
                "kittens: a band must divide the rows of its tile, in multiples of its base tile");
  using band = rt<typename RT::T, subtile_rows, RT::cols, typename RT::layout, typename RT::shape>;
  return reinterpret_cast<band&>(source.tiles[i * (subtile_rows / RT::tile_size_row)]);
}

}  // namespace kittens
