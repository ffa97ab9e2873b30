// Waves that meet in global memory without an order between them.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 128;  // two waves
constexpr unsigned kBlocks = 32;    // all alike: a bug of order shows in some, if not in all

// broken: global_store_dword by wave 0, global_load_dword of the same bytes by wave 1.
// fixed: s_waitcnt vmcnt(0) and s_barrier between.
template <bool kBroken>
__global__ void in_workgroup(unsigned* data, unsigned* out) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x % 64;
  if (wave_index() == 0) data[i] = i * 3 + 1;  // BUG workgroup write
  if constexpr (!kBroken) {
    __threadfence();
    __syncthreads();
  }
  if (wave_index() == 1) out[i] = data[i];  // BUG workgroup read
}

// broken: every workgroup adds to the sum with a load and a store. fixed: global_atomic_add.
template <bool kBroken>
__global__ void between_workgroups(unsigned* sum) {
  if (threadIdx.x != 0) return;
  if constexpr (kBroken) {
    *sum = *sum + blockIdx.x + 1;  // BUG sum
  } else {
    atomicAdd(sum, blockIdx.x + 1);
  }
}

// broken: the counter is atomic, but no fence makes the sum next to it arrive first: nothing waits
// for the store, and the caches of another die need not see it.
__device__ unsigned arrived;
__device__ unsigned sums[kBlocks];
template <bool kBroken>
__global__ void last_block_adds(unsigned* out) {
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = blockIdx.x + 1;  // BUG fence write
  if constexpr (!kBroken) __threadfence();
  if (atomicAdd(&arrived, 1u) != gridDim.x - 1) return;
  if constexpr (!kBroken) __threadfence();
  unsigned sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i)
    sum += __builtin_nontemporal_load(&sums[i]);  // BUG fence read
  *out = sum;
  arrived = 0;
}

// broken: two workgroups write the same tile of the result, with different values.
template <bool kBroken>
__global__ void same_tile(unsigned* out) {
  const unsigned tile = kBroken ? blockIdx.x / 2 : blockIdx.x;
  out[tile * kThreads + threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;  // BUG tile
}

// A workgroup with very many runs of bytes that do not join, and as many barriers: the checker must
// not look at all of them at each (with 12288 steps that took minutes).
constexpr unsigned kSteps = 12288;
__global__ void many_steps(unsigned* out) {
#pragma unroll 1
  for (unsigned step = 0; step < kSteps; ++step) {
    out[4 * (step * kThreads + threadIdx.x)] = step;
    __syncthreads();
  }
}

bool run_many_steps() {
  const DeviceArray<unsigned> out(std::size_t{4} * kSteps * kThreads, 0u);
  many_steps<<<1, kThreads>>>(out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i % 4 == 0 ? i / (4 * kThreads) : 0; });
}

bool run_workgroup(void (*kernel)(unsigned*, unsigned*)) {
  const DeviceArray<unsigned> data(kBlocks * 64, 0u);
  const DeviceArray<unsigned> out(kBlocks * 64, 0u);
  kernel<<<kBlocks, kThreads>>>(data.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i * 3 + 1; });
}

bool run_sum(void (*kernel)(unsigned*)) {
  const DeviceArray<unsigned> sum(1, 0u);
  kernel<<<16, kThreads>>>(sum.get());
  finish();
  return sum.host()[0] == 16 * 17 / 2;
}

bool run_fence(void (*kernel)(unsigned*)) {
  const DeviceArray<unsigned> out(1, 0u);
  kernel<<<kBlocks, 64>>>(out.get());
  finish();
  return matches(out.host(), [](std::size_t) { return kBlocks * (kBlocks + 1) / 2; });
}

bool run_tile(void (*kernel)(unsigned*)) {
  const DeviceArray<unsigned> out(8 * kThreads, 0u);
  kernel<<<8, kThreads>>>(out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i / kThreads * 1000 + i % kThreads; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"fence-broken", [] { return run_fence(last_block_adds<true>); }},
                   {"fence-fixed", [] { return run_fence(last_block_adds<false>); }},
                   {"workgroup-broken", [] { return run_workgroup(in_workgroup<true>); }},
                   {"workgroup-fixed", [] { return run_workgroup(in_workgroup<false>); }},
                   {"many-steps", run_many_steps},
                   {"sum-broken", [] { return run_sum(between_workgroups<true>); }},
                   {"sum-fixed", [] { return run_sum(between_workgroups<false>); }},
                   {"tile-broken", [] { return run_tile(same_tile<true>); }},
                   {"tile-fixed", [] { return run_tile(same_tile<false>); }}});
}
