// A pipeline with two stages in LDS: while the waves read one stage, they fill the other. With the
// wrong stage index they fill the one that is read, and a barrier between would hand over the wrong
// tile; where the barrier that ends a turn is missing, the indices are right.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256, kTiles = 6;

template <bool kBarrier>
__device__ void end_turn() {
  if constexpr (kBarrier) __syncthreads();
}

/// Which stage a turn fills and which it reads, and whether a barrier ends it.
template <unsigned kFill, unsigned kRead, bool kBarrier>
__global__ __launch_bounds__(kThreads) void pipeline(const unsigned* in, unsigned* out,
                                                     unsigned tiles) {
  __shared__ unsigned stages[2][kThreads];
  unsigned sum = 0;
  stages[0][threadIdx.x] = in[threadIdx.x];
  stages[1][threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (unsigned t = 0; t < tiles; ++t) {
    if (t + 1 < tiles)
      stages[(t + kFill) % 2][threadIdx.x] = in[(t + 1) * kThreads + threadIdx.x];  // BUG write
    sum += stages[(t + kRead) % 2][kThreads - 1 - threadIdx.x] * (t + 1);           // BUG read
    end_turn<kBarrier>();
  }
  out[threadIdx.x] = sum;
}

/// One buffer, filled and read in each turn.
__global__ __launch_bounds__(kThreads) void one_buffer(const unsigned* in, unsigned* out,
                                                       unsigned tiles) {
  __shared__ unsigned tile[kThreads];
  unsigned sum = 0;
  tile[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (unsigned t = 0; t < tiles; ++t) {
    tile[threadIdx.x] = in[t * kThreads + threadIdx.x];  // BUG fill
    sum += tile[kThreads - 1 - threadIdx.x] * (t + 1);   // BUG use
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

bool run(void (*kernel)(const unsigned*, unsigned*, unsigned)) {
  const DeviceArray<unsigned> in(ramp(kThreads * kTiles, 11u, 5u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  kernel<<<1, kThreads>>>(in.get(), out.get(), kTiles);
  finish();
  return matches(out.host(), [](std::size_t i) {
    unsigned sum = 0;
    for (unsigned t = 0; t < kTiles; ++t)
      sum += ((t * kThreads + kThreads - 1 - static_cast<unsigned>(i)) * 11 + 5) * (t + 1);
    return sum;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"fixed", [] { return run(pipeline<1, 0, true>); }},
                   {"fill-broken", [] { return run(pipeline<0, 0, true>); }},
                   {"read-broken", [] { return run(pipeline<1, 1, true>); }},
                   {"barrier-broken", [] { return run(pipeline<1, 0, false>); }},
                   {"one-buffer-broken", [] { return run(one_buffer); }}});
}
