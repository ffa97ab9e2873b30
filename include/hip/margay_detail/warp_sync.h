// Votes, matches and shuffles with a lane mask, as in HIP since 6.2: __ballot_sync, __shfl_sync and
// similar functions. Part of hip/hip_runtime.h; do not include it alone.
//
// Source: HIP C++ language extensions, "Warp cross-lane functions", ROCm 6.3. The mask is 64 bits
// wide because a wave has 64 lanes. Every lane in the mask must be active and call with the same
// mask; on this hardware the lanes of a wave run in lockstep, so that no wait is needed.
//
// C++11: many makefiles say -std=c++11 or c++14, and hip_runtime.h includes this.
#pragma once

#include <type_traits>

#include <hip/margay_detail/shuffle.h>  // IWYU pragma: export

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

/// The mask, and *predicate set, when all its lanes hold the same value; otherwise 0. Lanes with
/// other masks may take part at the same time, so the value to compare with is the mask's first.
template <typename Mask, typename T>
__device__ inline unsigned long long __match_all_sync(Mask mask, T value, int* predicate) {
  const unsigned long long lanes = margay_warp::checked(mask);
  const margay_warp::Bits<T> bits = __builtin_bit_cast(margay_warp::Bits<T>, value);
  *predicate = __all_sync(mask, bits == __shfl(bits, __builtin_ctzll(lanes)));
  return *predicate != 0 ? lanes : 0;
}

/// The same among all lanes that execute the call.
template <typename T>
__device__ inline unsigned long long __match_any(T value) {
  return __match_any_sync(__activemask(), value);
}
template <typename T>
__device__ inline unsigned long long __match_all(T value, int* predicate) {
  return __match_all_sync(__activemask(), value, predicate);
}

/// Memory of the lanes is in order behind it; the lanes themselves always are.
template <typename Mask = unsigned long long>
__device__ inline void __syncwarp(Mask mask = ~0ull) {
  (void)margay_warp::checked(mask);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// Reductions over the lanes of a mask, since ROCm 7.0. A lane that is not in the mask must not take
// part, so every step goes by the lanes that are, one at a time.
#define MARGAY_REDUCE_SYNC(name, expression)                   \
  template <typename Mask, typename T>                         \
  __device__ inline T name(Mask mask, T value) {               \
    unsigned long long lanes = margay_warp::checked(mask);     \
    T a = __shfl(value, __builtin_ctzll(lanes));               \
    for (lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1) { \
      const T b = __shfl(value, __builtin_ctzll(lanes));       \
      a = static_cast<T>(expression);                          \
    }                                                          \
    return a;                                                  \
  }
MARGAY_REDUCE_SYNC(__reduce_add_sync, a + b)
MARGAY_REDUCE_SYNC(__reduce_min_sync, b < a ? b : a)
MARGAY_REDUCE_SYNC(__reduce_max_sync, a < b ? b : a)
MARGAY_REDUCE_SYNC(__reduce_and_sync, a& b)
MARGAY_REDUCE_SYNC(__reduce_or_sync, a | b)
MARGAY_REDUCE_SYNC(__reduce_xor_sync, a ^ b)
#undef MARGAY_REDUCE_SYNC

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
