// A tile loop over one LDS buffer without the barrier between reading a tile and writing the next.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kTiles = 6;

// broken, per iteration: ds_write_b32, s_waitcnt, s_barrier, ds_read_b32 (another wave's), and
// back. fixed: one more s_barrier before the branch back.
template <bool kBroken>
__global__ void sum_reversed(const unsigned* in, unsigned* out, unsigned tiles) {
  __shared__ unsigned tile[kThreads];
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned t = 0; t < tiles; ++t) {
    tile[threadIdx.x] = in[t * kThreads + threadIdx.x];  // BUG write
    __syncthreads();
    sum += tile[kThreads - 1 - threadIdx.x] * (t + 1);  // BUG read
    if constexpr (!kBroken) __syncthreads();
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
    for (unsigned t = 0; t < kTiles; ++t) {
      sum += ((t * kThreads + kThreads - 1 - static_cast<unsigned>(i)) * 11 + 5) * (t + 1);
    }
    return sum;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"broken", [] { return run(sum_reversed<true>); }},
                   {"fixed", [] { return run(sum_reversed<false>); }}});
}
