// Barriers that not all waves, or not all lanes, take the same way.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 128;  // two waves
constexpr unsigned kBlocks = 32;    // of counts_slip: a bug of order shows in some, if not in all

// broken: wave 1 takes s_cbranch to s_endpgm around the s_barrier that wave 0 waits at. The
// hardware lets wave 0 continue when wave 1 ends: no hang here, but not the intended order.
template <bool kBroken>
__global__ void others_end(const unsigned* in, unsigned* out) {
  if (wave_index() == 0) {
    out[threadIdx.x] = in[threadIdx.x] + 1;
    if constexpr (kBroken) __syncthreads();  // BUG others end
  } else {
    out[threadIdx.x] = in[threadIdx.x] + 1;
  }
  if constexpr (!kBroken) __syncthreads();
}

// A loader with a barrier of its own, called by wave 0 only. broken: wave 0 meets two barriers and
// wave 1 one, so wave 0's first pairs with wave 1's, and wave 1 reads what is not there yet.
template <bool kBroken>
__global__ void counts_slip(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned lane = threadIdx.x % 64;
  if (wave_index() == 1) tile[lane] = 0;
  __syncthreads();
  if (wave_index() == 0) {
    if constexpr (kBroken) __syncthreads();  // BUG slip barrier
    tile[lane] = in[lane];                   // BUG slip write
  }
  __syncthreads();
  if (wave_index() == 1) out[blockIdx.x * 64 + lane] = tile[lane];  // BUG slip read
}

// broken: two s_barrier, one under each half of EXEC; every wave counts two.
// fixed: one, with all lanes.
template <bool kBroken>
__global__ void divergent_lanes(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  if (in[threadIdx.x] % 2 == 0) {
    tile[threadIdx.x] = in[threadIdx.x] * 2;
    if constexpr (kBroken) __syncthreads();  // BUG divergent even
  } else {
    tile[threadIdx.x] = in[threadIdx.x] + 1;
    if constexpr (kBroken) __syncthreads();  // BUG divergent odd
  }
  if constexpr (!kBroken) __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

// broken: wave 1 waits at the barrier, wave 0 spins on a flag that wave 1 sets behind it.
// fixed: the flag is set before the barrier.
template <bool kBroken>
__global__ void spin_before_barrier(const unsigned* in, unsigned* out) {
  __shared__ unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (wave_index() == 0) {
    while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) ==
           0) {  // BUG spin
    }
    __syncthreads();
  } else {
    if (!kBroken && threadIdx.x == 64) atomicExch(&flag, 1u);
    __syncthreads();  // BUG spin barrier
    if (kBroken && threadIdx.x == 64) atomicExch(&flag, 1u);
  }
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

// One statement, seven s_barrier: only the last orders anything, and the statement stays. The one
// behind the loop can go.
__global__ void unrolled(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
#pragma unroll
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  out[threadIdx.x] = tile[0];
  __syncthreads();
}

template <typename Wanted>
bool run(void (*kernel)(const unsigned*, unsigned*), std::size_t results, Wanted wanted,
         unsigned blocks = 1) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u, 1u));
  const DeviceArray<unsigned> out(results, 0u);
  kernel<<<blocks, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), wanted);
}

unsigned plus_one(std::size_t i) { return static_cast<unsigned>(i) * 3 + 2; }
unsigned copied(std::size_t i) { return static_cast<unsigned>(i) * 3 + 1; }
unsigned total(std::size_t) { return 3 * kThreads * (kThreads - 1) / 2 + kThreads; }
unsigned by_parity(std::size_t i) {
  const unsigned value = copied(i);
  return value % 2 == 0 ? value * 2 : value + 1;
}

bool run_counts_slip(void (*kernel)(const unsigned*, unsigned*)) {
  return run(kernel, kBlocks * 64, [](std::size_t i) { return copied(i % 64); }, kBlocks);
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"others-end-broken", [] { return run(others_end<true>, kThreads, plus_one); }},
       {"others-end-fixed", [] { return run(others_end<false>, kThreads, plus_one); }},
       {"counts-slip-broken", [] { return run_counts_slip(counts_slip<true>); }},
       {"counts-slip-fixed", [] { return run_counts_slip(counts_slip<false>); }},
       {"divergent-lanes-broken", [] { return run(divergent_lanes<true>, kThreads, by_parity); }},
       {"divergent-lanes-fixed", [] { return run(divergent_lanes<false>, kThreads, by_parity); }},
       {"unrolled", [] { return run(unrolled, kThreads, total); }},
       {"deadlock-broken", [] { return run(spin_before_barrier<true>, kThreads, plus_one); }},
       {"deadlock-fixed", [] { return run(spin_before_barrier<false>, kThreads, plus_one); }}});
}
