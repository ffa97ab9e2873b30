// Target constants and the ids of the calling thread.
//
// The library targets CDNA3 (gfx942). KITTENS_CDNA3 may be given on the command line, as for
// upstream, but is the default.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <type_traits>

#if defined(KITTENS_CDNA2)
#error "kittens: CDNA2 is not supported; this library is for CDNA3 (gfx942)"
#endif
#if !defined(KITTENS_CDNA3)
#define KITTENS_CDNA3 1
#endif

#define KITTENS_DEFAULT_ALIGN __attribute__((aligned(16)))
#define KITTENS_ALIGN_AS(n) __attribute__((aligned(n)))
#define KITTENS_CHECK_WARPGROUP \
  static_assert(N_WARPS == 4, "kittens: this operation needs a group of four warps");

#if !defined(__forceinline__)
#define __forceinline__ inline __attribute__((always_inline))
#endif

// Inlining is forced because tiles must live in registers: a call would put them into scratch.
#define KITTENS_DEVICE static inline __device__ __attribute__((always_inline))
#define KITTENS_MEMBER inline __device__ __attribute__((always_inline))
#define KITTENS_HD inline __host__ __device__ __attribute__((always_inline))

namespace kittens {

constexpr int WARP_THREADS = 64;
constexpr int WARPGROUP_WARPS = 4;
constexpr int WARPGROUP_THREADS = WARPGROUP_WARPS * WARP_THREADS;

/// Bytes of LDS a workgroup may use (CDNA3 ISA, section 2.2).
constexpr int MAX_SHARED_MEMORY = 65536;

/// An MI300X or MI325X: 8 dies (XCD) of 38 compute units each.
constexpr int NUM_XCDS = 8;
constexpr int CUS_PER_XCD = 38;
constexpr int NUM_CUS = NUM_XCDS * CUS_PER_XCD;

constexpr uint64_t MASK_ALL = ~uint64_t{0};

/// A base tile is 16x16 for every element type: the shape of the 16x16x16 MFMA.
template <typename T>
constexpr int TILE_ROW_DIM = 16;
template <typename T>
constexpr int TILE_COL_DIM = sizeof(T) == 1 ? 32 : 16;
template <typename T>
constexpr int TILE_ELEMENTS = TILE_ROW_DIM<T> * TILE_COL_DIM<T>;

/// Declares to the compiler that a value is the same in all lanes of the warp: values computed from
/// it are then in scalar registers. The coordinates of a tile need it where the compiler cannot see
/// that by itself (threadIdx.x / 64, a value read from shared memory); without it the access
/// becomes a loop over the lanes' coordinates. blockIdx, warpid(), kernel arguments and what is
/// loaded through them are seen. Outside of a loop it costs next to nothing, in one an instruction.
KITTENS_DEVICE int uniform(int value) { return __builtin_amdgcn_readfirstlane(value); }

/// The ids of the calling thread: warp, group of four warps, lane within the warp.
KITTENS_DEVICE int warpid() { return uniform(threadIdx.x >> 6); }
KITTENS_DEVICE int warpgroupid() { return uniform(threadIdx.x >> 8); }
KITTENS_DEVICE int laneid() { return threadIdx.x & 63; }

KITTENS_HD constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

/// Upstream's: the type of an expression without `const` and `&`. No keyword of strict C++.
#define typeof(expression) std::remove_const_t<std::remove_reference_t<decltype(expression)>>

/// Cache hints, by upstream's names.
enum coherency { cache_all = 0, cache_global = 1, cache_stream = 2, non_temporal = 3 };

using bytes_4 = HIP_vector_type<float, 1>;
using bytes_8 = HIP_vector_type<float, 2>;
using bytes_16 = HIP_vector_type<float, 4>;

namespace detail {
/// The same bytes as another type. Not std::bit_cast: HIP's vector types have constructors of their
/// own and so do not count as trivially copyable.
template <typename To, typename From>
KITTENS_HD To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}
}  // namespace detail

namespace ducks {
/// Marks a coordinate that counts elements.
struct default_type {};
}  // namespace ducks

}  // namespace kittens

#define CHECK_CUDA_ERROR(expression) ::kittens::report_hip_error((expression), __FILE__, __LINE__)

namespace kittens {
/// Prints the error and its place, and continues.
inline void report_hip_error(hipError_t status, const char* file, int line) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "%s:%d: HIP error: %s\n", file, line, hipGetErrorString(status));
}
}  // namespace kittens
