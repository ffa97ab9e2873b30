// Flat accesses that go to LDS: lgkmcnt(0) before a barrier proves them complete there, vmcnt(0)
// does not. Compilers use flat accesses wherever a pointer may be one to LDS or to memory.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;

enum class Wait { lgkm, vm };

template <Wait kWait>
__device__ void wait() {
  if constexpr (kWait == Wait::lgkm)
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  else
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
}

// fixed: flat_store_dword to LDS, s_waitcnt lgkmcnt(0), s_barrier, ds_read_b32 of another wave's.
// broken: s_waitcnt vmcnt(0).
template <Wait kWait>
__global__ void stores(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  const unsigned value = in[threadIdx.x];
  unsigned* const to = tile + threadIdx.x;
  asm volatile("flat_store_dword %0, %1" ::"v"(to), "v"(value) : "memory");  // BUG store write
  wait<kWait>();
  bare_barrier();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];  // BUG store read
}

// fixed: flat_load_dword from LDS, s_waitcnt lgkmcnt(0), s_barrier, ds_write_b32 over another
// wave's; the register is waited for behind it. broken: s_waitcnt vmcnt(0).
template <Wait kWait>
__global__ void loads(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  unsigned value;
  const unsigned* const from = tile + kThreads - 1 - threadIdx.x;
  asm volatile("flat_load_dword %0, %1" : "=&v"(value) : "v"(from) : "memory");  // BUG load read
  wait<kWait>();
  bare_barrier();
  tile[threadIdx.x] = 7;  // BUG load write
  asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)" : "+v"(value)::"memory");
  out[threadIdx.x] = value + tile[threadIdx.x] - 7;
}

bool run(void (*kernel)(const unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u, 1u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  kernel<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return (kThreads - 1 - i) * 3 + 1; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"store-broken", [] { return run(stores<Wait::vm>); }},
                   {"store-fixed", [] { return run(stores<Wait::lgkm>); }},
                   {"load-broken", [] { return run(loads<Wait::vm>); }},
                   {"load-fixed", [] { return run(loads<Wait::lgkm>); }}});
}
