// What a rank does in a collective, for programs that call RCCL: it reduces elements of all ranks
// and writes them to some or all, or copies pieces of other ranks' memory. The virtual device's
// substitute of RCCL launches them (src/substitutes); AMD's library moves data in rings and trees.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include "collective_arguments.h"

using margay::collectives::CopyArguments;
using margay::collectives::kThreads;
using margay::collectives::ReduceArguments;

namespace {

// Whole numbers wrap around, which only unsigned types do in C++. One of 8 bits is reduced in 32.
template <typename T>
struct Unsigned {
  using type = T;
};
template <>
struct Unsigned<int> {
  using type = unsigned;
};
template <>
struct Unsigned<long> {
  using type = unsigned long;
};

template <typename T>
__device__ T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
__device__ T smaller(T a, T b) {
  return a < b ? a : b;
}
// Of a number and a NaN the number, as RCCL's fmaxf and fminf.
__device__ float larger(float a, float b) { return __builtin_fmaxf(a, b); }
__device__ float smaller(float a, float b) { return __builtin_fminf(a, b); }
__device__ double larger(double a, double b) { return __builtin_fmax(a, b); }
__device__ double smaller(double a, double b) { return __builtin_fmin(a, b); }

template <typename T>
__device__ T combined(int operation, T a, T b) {
  using U = typename Unsigned<T>::type;
  switch (operation) {
    case margay::collectives::kProduct:
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case margay::collectives::kMaximum:
      return larger(a, b);
    case margay::collectives::kMinimum:
      return smaller(a, b);
    default:
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

template <typename To, typename From>
__device__ To converted(From x) {
  return static_cast<To>(x);
}
template <>
__device__ float converted<float, __hip_bfloat16>(__hip_bfloat16 x) {
  return __bfloat162float(x);
}
template <>
__device__ __hip_bfloat16 converted<__hip_bfloat16, float>(float x) {
  return __float2bfloat16(x);
}

template <typename Stored, typename Sum>
__device__ void reduce(const ReduceArguments& g) {
  const long stride = static_cast<long>(gridDim.x) * kThreads;
  for (long n = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x; n < g.count; n += stride) {
    Sum sum = converted<Sum>(static_cast<const Stored*>(g.from[0])[n]);
    for (int source = 1; source < g.sources; ++source)
      sum =
          combined(g.operation, sum, converted<Sum>(static_cast<const Stored*>(g.from[source])[n]));
    if (g.operation == margay::collectives::kAverage) sum /= static_cast<Sum>(g.sources);
    const Stored result = converted<Stored>(sum);
    for (int target = 0; target < g.targets; ++target)
      static_cast<Stored*>(g.to[target])[n] = result;
  }
}

}  // namespace

#define MARGAY_REDUCE(name, Stored, Sum)                                                           \
  extern "C" __global__ __launch_bounds__(kThreads) void margay_reduce_##name(ReduceArguments g) { \
    reduce<Stored, Sum>(g);                                                                        \
  }

MARGAY_REDUCE(i8, signed char, int)
MARGAY_REDUCE(u8, unsigned char, unsigned)
MARGAY_REDUCE(i32, int, int)
MARGAY_REDUCE(u32, unsigned, unsigned)
MARGAY_REDUCE(i64, long, long)
MARGAY_REDUCE(u64, unsigned long, unsigned long)
MARGAY_REDUCE(f16, _Float16, float)
MARGAY_REDUCE(f32, float, float)
MARGAY_REDUCE(f64, double, double)
MARGAY_REDUCE(bf16, __hip_bfloat16, float)

extern "C" __global__ __launch_bounds__(kThreads) void margay_copy_pieces(CopyArguments g) {
  struct alignas(16) Vector {
    unsigned words[4];
  };
  const char* const from = static_cast<const char*>(g.from[blockIdx.y]);
  char* const to = static_cast<char*>(g.to[blockIdx.y]);
  const long bytes = g.bytes[blockIdx.y];
  const long thread = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x;
  const long stride = static_cast<long>(gridDim.x) * kThreads;
  const bool aligned =
      ((reinterpret_cast<unsigned long>(from) | reinterpret_cast<unsigned long>(to)) & 15) == 0;
  const long vectors = aligned ? bytes / 16 : 0;
  for (long n = thread; n < vectors; n += stride)
    reinterpret_cast<Vector*>(to)[n] = reinterpret_cast<const Vector*>(from)[n];
  for (long n = vectors * 16 + thread; n < bytes; n += stride) to[n] = from[n];
}
