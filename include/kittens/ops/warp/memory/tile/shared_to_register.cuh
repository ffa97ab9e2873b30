// Tiles between shared memory and registers, by a warp. Element types are converted; the shared
// tile may be a subtile.
#pragma once

#include "../access.cuh"

namespace kittens {
namespace detail {

/// LDS addresses of a lane's elements in the base tiles of a shared tile. The lane's part is
/// computed once for the tile; see shared_layout::tile_offset.
template <typename ST>
struct shared_fragments {
  using L = typename ST::address_layout;
  uint32_t start;
  uint32_t row_tile;
  uint32_t col_tile;

  KITTENS_MEMBER shared_fragments(const ST& tile)
      : start(lds_address(tile.data)),
        row_tile(__builtin_amdgcn_readfirstlane(tile.row_offset) / 16),
        col_tile(__builtin_amdgcn_readfirstlane(tile.col_offset) / 16) {}

  struct place {
    uint32_t lane;
    uint32_t constant;
  };
  /// `lane` is L::offset(row, col) of the lane's element within its base tile.
  KITTENS_MEMBER place at(int i, int j, uint32_t lane) const {
    const uint32_t uniform = start + L::tile_offset(row_tile, 0);
    // A tile column that the compiler knows needs no address arithmetic beyond the XOR.
    return {uniform + L::tile_offset(0, col_tile + j) + (lane ^ L::tile_mask(col_tile + j)),
            static_cast<uint32_t>(i * L::period)};
  }
};

template <typename U, typename Place>
KITTENS_DEVICE quad<U> load_quad(const Place& first, const Place& second) {
  typename quad<U>::bits bits;
  if constexpr (sizeof(U) == 2) {
    bits = lds_load<8>(first.lane, first.constant);
  } else {
    bits.xy = lds_load<8>(first.lane, first.constant);
    bits.zw = lds_load<8>(second.lane, second.constant);
  }
  return quad<U>::from_bits(bits);
}
template <typename U, typename Place>
KITTENS_DEVICE void store_quad(const Place& first, const Place& second, const quad<U>& value) {
  const auto bits = value.to_bits();
  if constexpr (sizeof(U) == 2) {
    lds_store<8>(first.lane, first.constant, bits);
  } else {
    lds_store<8>(first.lane, first.constant, bits.xy);
    lds_store<8>(second.lane, second.constant, bits.zw);
  }
}

}  // namespace detail

/// Row layout: 8-byte accesses, one per base tile for 2-byte elements, two for float. Col layout:
/// one access per element. What other warps wrote must be behind a barrier.
template <ducks::rt::all RT, ducks::st::all ST>
KITTENS_DEVICE void load(RT& dst, const ST& src) {
  static_assert(RT::rows == ST::rows && RT::cols == ST::cols,
                "kittens: load(rt, st) needs tiles of the same shape; use subtile_inplace to load "
                "a part");
  using U = typename ST::T;
  using base = typename RT::base;
  using L = typename ST::address_layout;
  const detail::shared_fragments<ST> fragments(src);
  const int lane = laneid();
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
      detail::quad<U> value;
      if constexpr (base::is_row) {
        const uint32_t own = L::offset(base::row_of(lane, 0), base::col_of(lane, 0));
        value = detail::load_quad<U>(fragments.at(i, j, own), fragments.at(i, j, own ^ 8));
      } else {
        U element[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const auto place =
              fragments.at(i, j, L::offset(base::row_of(lane, e), base::col_of(lane, e)));
          element[e] = detail::bits_as<U>(detail::lds_load<sizeof(U)>(place.lane, place.constant));
        }
        value = detail::quad<U>::from_elements(element);
      }
      detail::set_quad(dst.tiles[i][j], value.template as<typename RT::T>());
    }
  }
}

/// The writes are done when it returns; other warps may read them after a barrier.
template <ducks::rt::all RT, ducks::st::all ST>
KITTENS_DEVICE void store(ST& dst, const RT& src) {
  static_assert(
      RT::rows == ST::rows && RT::cols == ST::cols,
      "kittens: store(st, rt) needs tiles of the same shape; use subtile_inplace to store "
      "to a part");
  using U = typename ST::T;
  using base = typename RT::base;
  using L = typename ST::address_layout;
  const detail::shared_fragments<ST> fragments(dst);
  const int lane = laneid();
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
      const auto value = detail::quad_of(src.tiles[i][j]).template as<U>();
      if constexpr (base::is_row) {
        const uint32_t own = L::offset(base::row_of(lane, 0), base::col_of(lane, 0));
        detail::store_quad<U>(fragments.at(i, j, own), fragments.at(i, j, own ^ 8), value);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const auto place =
              fragments.at(i, j, L::offset(base::row_of(lane, e), base::col_of(lane, e)));
          detail::lds_store<sizeof(U)>(place.lane, place.constant,
                                       detail::bits_as<detail::word<sizeof(U)>>(value.element(e)));
        }
      }
    }
  }
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
