// Votes, matches and shuffles that name their lanes, as HIP has them since 6.2: __ballot_sync,
// __shfl_sync and their kin. Part of hip/hip_runtime.h; do not include it alone.
//
// Source: HIP C++ language extensions, "Warp cross-lane functions", ROCm 6.3. The mask is 64 bits
// wide because a wave has 64 lanes. Every lane in the mask must be active and call with the same
// mask; on this hardware lanes of a wave run in lockstep, so nothing has to be waited for.
//
// C++11: many makefiles say -std=c++11 or c++14, and hip_runtime.h includes this.
#pragma once

#include <type_traits>

namespace margay_warp {

template <typename Mask>
__device__ inline unsigned long long checked(Mask mask) {
  static_assert(std::is_integral<Mask>::value && sizeof(Mask) == 8,
                "the mask must be a 64-bit integer: a wave has 64 lanes");
  return static_cast<unsigned long long>(mask);
}

__device__ inline unsigned long long active_lanes() { return __ballot(1); }

/// The bits of a 32-bit or 64-bit value.
template <typename T>
struct BitsOf {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "32-bit and 64-bit values only");
  using type = typename std::conditional<sizeof(T) == 4, unsigned, unsigned long long>::type;
};
template <typename T>
using Bits = typename BitsOf<T>::type;

/// The lowest active lane's value, in every lane.
__device__ inline unsigned first_lane(unsigned bits) {
  return static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(bits)));
}
__device__ inline unsigned long long first_lane(unsigned long long bits) {
  const unsigned low = first_lane(static_cast<unsigned>(bits));
  const unsigned high = first_lane(static_cast<unsigned>(bits >> 32));
  return static_cast<unsigned long long>(high) << 32 | low;
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
  const margay_warp::Bits<T> bits = __builtin_bit_cast(margay_warp::Bits<T>, value);
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
  const margay_warp::Bits<T> bits = __builtin_bit_cast(margay_warp::Bits<T>, value);
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
