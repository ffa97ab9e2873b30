// Which elements of a register vector a lane holds: the bridge between rv layouts and memory.
#pragma once

#include "../global_tile.cuh"

namespace kittens {
namespace detail {

template <typename RV>
struct vector_map {
  using T = typename RV::T;
  using map = typename RV::map;
  static constexpr int packed = base_types::packing<typename RV::dtype>::num();
  /// Elements of data[i][j] that are adjacent in the vector.
  static constexpr int together = RV::is_align && map::run % packed == 0 ? packed : 1;

  /// Number, in the vector, of element e of the lane's data[i].
  static KITTENS_MEMBER int element(int i, int e) {
    const int lane = laneid();
    if constexpr (RV::is_naive) return i * WARP_THREADS + lane;
    if constexpr (RV::is_align) return i * RV::tile_length + map::along(lane, e);
    return i * RV::tile_length + map::across(lane);
  }
  /// False past the end of a naive vector that does not fill its last block of 64.
  static KITTENS_MEMBER bool exists(int i) {
    return !RV::is_naive || RV::length % WARP_THREADS == 0 ||
           i * WARP_THREADS + laneid() < RV::length;
  }
  /// Of the lanes that hold the same element, the one that writes it.
  static KITTENS_MEMBER bool writes(int i) {
    const int lane = laneid();
    if constexpr (RV::is_naive) return exists(i);
    return RV::is_align ? lane % map::lead == 0 : lane < map::lead;
  }

  /// Reads elements of type U through `read`, which returns `bytes` raw bytes at an element number.
  template <typename U, typename F>
  static KITTENS_MEMBER void load(RV& dst, F&& read) {
#pragma unroll
    for (int i = 0; i < RV::outer_dim; ++i) {
      if (!exists(i)) continue;
#pragma unroll
      for (int j = 0; j < RV::inner_dim; ++j) {
        elements<U, packed> value;
        if constexpr (together == packed) {
          value = bits_as<elements<U, packed>>(
              read(std::integral_constant<int, packed * sizeof(U)>{}, element(i, j * packed)));
        } else {
#pragma unroll
          for (int e = 0; e < packed; ++e) {
            value.e[e] = bits_as<U>(
                read(std::integral_constant<int, sizeof(U)>{}, element(i, j * packed + e)));
          }
        }
        dst.data[i][j] = bits_as<typename RV::dtype>(convert_elements<T>(value));
      }
    }
  }
  template <typename U, typename F>
  static KITTENS_MEMBER void store(const RV& src, F&& write) {
#pragma unroll
    for (int i = 0; i < RV::outer_dim; ++i) {
      if (!writes(i)) continue;
#pragma unroll
      for (int j = 0; j < RV::inner_dim; ++j) {
        const auto value = convert_elements<U>(bits_as<elements<T, packed>>(src.data[i][j]));
        if constexpr (together == packed) {
          write(element(i, j * packed), bits_as<word<packed * sizeof(U)>>(value));
        } else {
#pragma unroll
          for (int e = 0; e < packed; ++e) {
            write(element(i, j * packed + e), bits_as<word<sizeof(U)>>(value.e[e]));
          }
        }
      }
    }
  }
};

/// A vector in a tensor, as a tile of one row.
template <typename GL, typename COORD>
KITTENS_DEVICE global_tile<2, GL> global_vector(const GL& tensor, const COORD& at, int length) {
  return {tensor, at.template unit_coord<-1, 3>(), 1, length};
}

}  // namespace detail
}  // namespace kittens
