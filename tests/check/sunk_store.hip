// LDS stores that a bare barrier does not publish: either nothing waits for them, or they are
// behind the barrier. (clang 19 keeps C++ stores before a __builtin_amdgcn_s_barrier that follows
// them, but puts no wait between; what a scheduler that moves them makes is written in asm.)
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 128;  // wave 0 produces, wave 1 consumes
constexpr unsigned kBlocks = 32;    // all alike: a bug of order shows in some, if not in all

// broken: ds_write_b32, s_barrier, ds_read_b32; gfx942's s_barrier does not wait for LDS.
// fixed (__syncthreads): ds_write_b32, s_waitcnt lgkmcnt(0), s_barrier, ds_read_b32.
template <bool kBroken>
__global__ void unwaited(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned lane = threadIdx.x % 64;
  const unsigned value = in[lane];
  if (wave_index() == 0) tile[lane] = 0;
  __syncthreads();
  if (wave_index() == 0) tile[lane] = value;  // BUG unwaited write
  if constexpr (kBroken) {
    __builtin_amdgcn_s_barrier();
  } else {
    __syncthreads();
  }
  if (wave_index() == 1) out[blockIdx.x * 64 + lane] = tile[lane];  // BUG unwaited read
}

// broken, in wave 0: s_barrier, ds_write_b32, s_waitcnt lgkmcnt(0).
// fixed, in wave 0: ds_write_b32, s_waitcnt lgkmcnt(0), s_barrier.
template <bool kBroken>
__global__ void sunk(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned lane = threadIdx.x % 64;
  const unsigned value = in[lane];
  if (wave_index() == 0) tile[lane] = 0;
  __syncthreads();
  if constexpr (kBroken) bare_barrier();
  if (wave_index() == 0) {
    asm volatile("ds_write_b32 %0, %1\n s_waitcnt lgkmcnt(0)"  // BUG sunk write
                 ::"v"(lds_address(tile + lane)),
                 "v"(value)
                 : "memory");
  }
  if constexpr (!kBroken) bare_barrier();
  if (wave_index() == 1) out[blockIdx.x * 64 + lane] = tile[lane];  // BUG sunk read
}

bool run(void (*kernel)(const unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(ramp(64, 5u, 3u));
  const DeviceArray<unsigned> out(kBlocks * 64, 0u);
  kernel<<<kBlocks, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i % 64 * 5 + 3; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"unwaited-broken", [] { return run(unwaited<true>); }},
                   {"unwaited-fixed", [] { return run(unwaited<false>); }},
                   {"sunk-broken", [] { return run(sunk<true>); }},
                   {"sunk-fixed", [] { return run(sunk<false>); }}});
}
