// Values from other lanes of the warp.
#pragma once

#include "base_types.cuh"

namespace kittens {

namespace detail {
template <typename T>
KITTENS_DEVICE T read_lane(const T& value, int source_lane) {
  if constexpr (sizeof(T) == 2) {
    const int bits = detail::bits_as<uint16_t>(value);
    const int got = __builtin_amdgcn_ds_bpermute(source_lane << 2, bits);
    return detail::bits_as<T>(static_cast<uint16_t>(got));
  } else if constexpr (sizeof(T) == 4) {
    const int bits = detail::bits_as<int>(value);
    return detail::bits_as<T>(__builtin_amdgcn_ds_bpermute(source_lane << 2, bits));
  } else {
    static_assert(sizeof(T) == 8, "kittens: shuffles move 2, 4 or 8 bytes per lane");
    const auto bits = detail::bits_as<int2>(value);
    int2 got;
    got.x = __builtin_amdgcn_ds_bpermute(source_lane << 2, bits.x);
    got.y = __builtin_amdgcn_ds_bpermute(source_lane << 2, bits.y);
    return detail::bits_as<T>(got);
  }
}
}  // namespace detail

/// The value of lane `source`. The mask is there for source compatibility; all lanes take part.
template <typename T>
KITTENS_DEVICE T packed_shfl(uint64_t /*mask*/, const T& value, int source) {
  return detail::read_lane(value, source & 63);
}

/// The value of the lane `delta` above; a lane without one keeps its own.
template <typename T>
KITTENS_DEVICE T packed_shfl_down(uint64_t /*mask*/, const T& value, int delta) {
  const int source = laneid() + delta;
  return detail::read_lane(value, source > 63 ? laneid() : source);
}

}  // namespace kittens
