// Which elements of a register vector a lane holds: the bridge between rv layouts and memory.
#pragma once

#include "../access.cuh"

namespace kittens {
namespace detail {

template <typename RV>
struct vector_map {
  using T = typename RV::T;

  /// First element that this lane holds in data[i][j].
  static KITTENS_MEMBER int element(int i, int j) {
    const int lane = laneid();
    if constexpr (RV::is_naive) return i * WARP_THREADS + lane;
    if constexpr (RV::is_align) return i * 16 + 4 * (lane / 16) + 2 * j;
    return i * 16 + lane % 16;
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
    return RV::is_align ? lane % 16 == 0 : lane < 16;
  }

  /// Reads data[i][j] through `read`, which returns `bytes` raw bytes at an element number.
  template <typename U, typename F>
  static KITTENS_MEMBER void load(RV& dst, F&& read) {
    using memory_type =
        std::conditional_t<RV::is_align, typename base_types::packing<U>::packed_type, U>;
#pragma unroll
    for (int i = 0; i < RV::outer_dim; ++i) {
      if (!exists(i)) continue;
#pragma unroll
      for (int j = 0; j < RV::inner_dim; ++j) {
        const auto value = detail::bits_as<memory_type>(
            read(std::integral_constant<int, sizeof(memory_type)>{}, element(i, j)));
        dst.data[i][j] = base_types::convertor<typename RV::dtype, memory_type>::convert(value);
      }
    }
  }
  template <typename U, typename F>
  static KITTENS_MEMBER void store(const RV& src, F&& write) {
    using memory_type =
        std::conditional_t<RV::is_align, typename base_types::packing<U>::packed_type, U>;
#pragma unroll
    for (int i = 0; i < RV::outer_dim; ++i) {
      if (!writes(i)) continue;
#pragma unroll
      for (int j = 0; j < RV::inner_dim; ++j) {
        const auto value =
            base_types::convertor<memory_type, typename RV::dtype>::convert(src.data[i][j]);
        write(element(i, j), detail::bits_as<word<sizeof(memory_type)>>(value));
      }
    }
  }
};

}  // namespace detail
}  // namespace kittens
