// Tiles between shared memory and registers, by a warp. Element types are converted; the shared
// tile may be a subtile.
#pragma once

#include "../runs.cuh"

namespace kittens {
namespace detail {

/// LDS addresses of a lane's elements in the base tiles of a shared tile. The lane's part is
/// computed once for the tile; see shared_layout::tile_offset.
template <typename RT, typename ST>
struct shared_fragments {
  using base = typename RT::base;
  using L = typename ST::address_layout;
  static constexpr int run = base::map::run;
  static constexpr int element_size = sizeof(typename ST::T);

  uint32_t start;
  uint32_t first_row;
  uint32_t first_col;

  KITTENS_MEMBER shared_fragments(const ST& tile)
      : start(lds_address(tile.data)), first_row(tile.row_offset), first_col(tile.col_offset) {}

  struct place {
    uint32_t lane;
    uint32_t constant;
  };
  /// Element e of the lane in base tile (i, j). `byte` moves on within its run: the XOR works since
  /// a run starts at a multiple of its length.
  KITTENS_MEMBER place at(int i, int j, int lane, int e, int byte = 0) const {
    const uint32_t own = L::offset(base::row_of(lane, e), base::col_of(lane, e)) ^ byte;
    const uint32_t uniform = start + L::row_offset(first_row);
    const uint32_t col = first_col + j * RT::tile_size_col;
    // A tile column that the compiler knows needs no address arithmetic beyond the XOR.
    return {uniform + L::block_offset(col) + (own ^ L::column_mask(col)),
            static_cast<uint32_t>(L::row_offset(i * RT::tile_size_row))};
  }
};

template <typename RT, typename ST>
constexpr bool same_shape = RT::rows == ST::rows && RT::cols == ST::cols;

}  // namespace detail

/// Row layout: 8-byte accesses without bank conflicts (4-byte ones where the run of a lane is
/// shorter). Col layout: one access per element. Writes of other warps must precede a barrier
/// before the call.
template <ducks::rt::all RT, ducks::st::all ST>
KITTENS_DEVICE void load(RT& dst, const ST& src) {
  static_assert(detail::same_shape<RT, ST>,
                "kittens: load(rt, st) needs tiles of the same shape; use subtile_inplace to load "
                "a part");
  using U = typename ST::T;
  constexpr int run = RT::base::map::run;
  const detail::shared_fragments<RT, ST> fragments(src);
  const int lane = laneid();
  detail::for_each_run<RT>([&](int i, int j, int q) {
    detail::elements<U, run> value;
    if constexpr (RT::base::is_row) {
      using words = detail::run_words<U, run, 8>;
      value = words::read([&](int byte) {
        const auto place = fragments.at(i, j, lane, q * run, byte);
        return detail::lds_load<words::bytes>(place.lane, place.constant);
      });
    } else {
#pragma unroll
      for (int e = 0; e < run; ++e) {
        const auto place = fragments.at(i, j, lane, q * run + e);
        value.e[e] = detail::bits_as<U>(detail::lds_load<sizeof(U)>(place.lane, place.constant));
      }
    }
    detail::put_run(dst.tiles[i][j], q, detail::convert_elements<typename RT::T>(value));
  });
}

/// The writes are done when it returns; other warps may read them after a barrier.
template <ducks::rt::all RT, ducks::st::all ST>
KITTENS_DEVICE void store(ST& dst, const RT& src) {
  static_assert(detail::same_shape<RT, ST>,
                "kittens: store(st, rt) needs tiles of the same shape; use subtile_inplace to "
                "store to a part");
  using U = typename ST::T;
  constexpr int run = RT::base::map::run;
  const detail::shared_fragments<RT, ST> fragments(dst);
  const int lane = laneid();
  detail::for_each_run<RT>([&](int i, int j, int q) {
    const auto value = detail::convert_elements<U>(detail::take_run(src.tiles[i][j], q));
    if constexpr (RT::base::is_row) {
      using words = detail::run_words<U, run, 8>;
      words::write(value, [&](int byte, auto bits) {
        const auto place = fragments.at(i, j, lane, q * run, byte);
        detail::lds_store<words::bytes>(place.lane, place.constant, bits);
      });
    } else {
#pragma unroll
      for (int e = 0; e < run; ++e) {
        const auto place = fragments.at(i, j, lane, q * run + e);
        detail::lds_store<sizeof(U)>(place.lane, place.constant,
                                     detail::bits_as<detail::word<sizeof(U)>>(value.e[e]));
      }
    }
  });
  detail::lds_writes_done();
}
/// A subtile may be a temporary: store(subtile_inplace<...>(tile, {r, c}), registers).
template <ducks::rt::all RT, ducks::st::all ST>
KITTENS_DEVICE void store(ST&& dst, const RT& src)
  requires(!std::is_lvalue_reference_v<ST>)
{
  store<RT, ST>(dst, src);
}

}  // namespace kittens
