// Kernels with inlined calls, arguments of several kinds and initialised globals. The tests
// look up lines by the marker comments, so lines may be added above them.
#include "hip_min.h"

__device__ int counter = 42;
__device__ int table[4] = {1, 2, 3, 4};
__device__ int* counter_address = &counter;  // needs a relocation
__device__ void* table_end = table + 4;      // the same, with an addend
__device__ float zeroed[1000];

struct Pair {
  float first;
  double second;
};

template <typename T>
__device__ __attribute__((always_inline)) T scaled(const T* value, T factor) {
  return *value * factor;  // MARK: scaled
}

__device__ __attribute__((always_inline)) float combine(const float* in, unsigned i) {
  return scaled(in + i, 3.0f) + scaled(in + i + 1, 5.0f);  // MARK: combine
}

extern "C" __global__ void saxpy(float* out, const float* in, Pair pair, char tag, unsigned n) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
               __builtin_amdgcn_workitem_id_x();
  if (i < n) out[i] = combine(in, i) + pair.first + tag;  // MARK: saxpy
}

template <int kRows>
__global__ void __launch_bounds__(256) tiled(int* out, long count) {
  __shared__ int rows[kRows];
  unsigned lane = __builtin_amdgcn_workitem_id_x();
  rows[lane] = counter_address[lane] + table[lane & 3];
  __builtin_amdgcn_s_barrier();
  if (lane < count) out[lane] = rows[kRows - 1 - lane];  // MARK: tiled
}

template __global__ void tiled<256>(int*, long);

// Reads the hidden arguments at an unknown place, so that the compiler must keep them all.
extern "C" __global__ void hidden(long* out, unsigned i) {
  *out = ((const __attribute__((address_space(4))) long*)__builtin_amdgcn_implicitarg_ptr())[i];
}
