// Votes, matches and shuffles that name their lanes, as HIP has them since 6.2: __ballot_sync,
// __shfl_sync and their kin. Part of hip/hip_runtime.h; do not include it alone.
//
// Source: HIP C++ language extensions, "Warp cross-lane functions", ROCm 6.3. The mask is 64 bits
// wide because a wave has 64 lanes. Every lane in the mask must be active and call with the same
// mask; on this hardware lanes of a wave run in lockstep, so nothing has to be waited for.
#pragma once

#include <type_traits>

namespace margay_warp {

template <typename Mask>
__device__ inline unsigned long long checked(Mask mask) {
  static_assert(std::is_integral_v<Mask> && sizeof(Mask) == 8,
                "the mask must be a 64-bit integer: a wave has 64 lanes");
  return static_cast<unsigned long long>(mask);
}

__device__ inline unsigned long long active_lanes() { return __ballot(1); }

/// The lowest active lane's value, in every lane. Moves 32 bits at a time.
template <typename T>
__device__ inline T first_lane(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "32-bit and 64-bit values only");
  if constexpr (sizeof(T) == 4) {
    const int bits = __builtin_bit_cast(int, value);
    return __builtin_bit_cast(T, __builtin_amdgcn_readfirstlane(bits));
  } else {
    const auto bits = __builtin_bit_cast(unsigned long long, value);
    const auto low = static_cast<unsigned>(
        __builtin_amdgcn_readfirstlane(static_cast<int>(static_cast<unsigned>(bits))));
    const auto high = static_cast<unsigned>(
        __builtin_amdgcn_readfirstlane(static_cast<int>(static_cast<unsigned>(bits >> 32))));
    return __builtin_bit_cast(T, static_cast<unsigned long long>(high) << 32 | low);
  }
}

}  // namespace margay_warp

/// The lanes that execute this call.
__device__ inline unsigned long long __activemask() { return margay_warp::active_lanes(); }

template <typename Mask>
__device__ inline unsigned long long __ballot_sync(Mask mask, int predicate) {
  return __ballot(predicate) & margay_warp::checked(mask);
}
template <typename Mask>
__device__ inline int __any_sync(Mask mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
template <typename Mask>
__device__ inline int __all_sync(Mask mask, int predicate) {
  return __ballot_sync(mask, predicate) == margay_warp::checked(mask);
}

/// The lanes of the mask whose value has the same bits as this lane's. One round per distinct
/// value.
template <typename Mask, typename T>
__device__ inline unsigned long long __match_any_sync(Mask mask, T value) {
  const unsigned long long lanes = margay_warp::checked(mask);
  using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  const Bits bits = __builtin_bit_cast(Bits, value);
  unsigned long long result = 0;
  for (bool done = false; !done;) {
    // Lanes that found their group have left the loop, so this is the first of those that have not.
    if (bits == margay_warp::first_lane(bits)) {
      result = margay_warp::active_lanes() & lanes;
      done = true;
    }
  }
  return result;
}

/// The mask, and *predicate set, when all its lanes hold the same value; otherwise 0.
template <typename Mask, typename T>
__device__ inline unsigned long long __match_all_sync(Mask mask, T value, int* predicate) {
  using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  const Bits bits = __builtin_bit_cast(Bits, value);
  *predicate = __all_sync(mask, bits == margay_warp::first_lane(bits));
  return *predicate != 0 ? margay_warp::checked(mask) : 0;
}

template <typename Mask, typename T>
__device__ inline T __shfl_sync(Mask mask, T value, int lane, int width = warpSize) {
  (void)margay_warp::checked(mask);
  return __shfl(value, lane, width);
}
template <typename Mask, typename T>
__device__ inline T __shfl_up_sync(Mask mask, T value, unsigned delta, int width = warpSize) {
  (void)margay_warp::checked(mask);
  return __shfl_up(value, delta, width);
}
template <typename Mask, typename T>
__device__ inline T __shfl_down_sync(Mask mask, T value, unsigned delta, int width = warpSize) {
  (void)margay_warp::checked(mask);
  return __shfl_down(value, delta, width);
}
template <typename Mask, typename T>
__device__ inline T __shfl_xor_sync(Mask mask, T value, int lane_mask, int width = warpSize) {
  (void)margay_warp::checked(mask);
  return __shfl_xor(value, lane_mask, width);
}
