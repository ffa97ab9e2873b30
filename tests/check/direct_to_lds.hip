// Loads that go from global memory straight to LDS, published by a barrier. vmcnt alone says when
// their data is in LDS; a barrier before the wait publishes the place, not the data.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 128;  // two waves

// Old contents that differ from new ones, and nothing left for the compiler to reorder.
__device__ void clear(unsigned* tile) {
  tile[threadIdx.x] = 0;
  __syncthreads();
}

// broken: global_load_lds_dword, s_barrier, s_waitcnt vmcnt(0), ds_read_b32.
// fixed: global_load_lds_dword, s_waitcnt vmcnt(0), s_barrier, ds_read_b32.
template <bool kBroken>
__device__ void publish() {
  if constexpr (kBroken) {
    bare_barrier();
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  } else {
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    bare_barrier();
  }
}

template <bool kBroken>
__global__ void global_form(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  clear(tile);
  // M0 holds where the wave's data go; lane i's dword goes 4 * i further. (clang 19's builtin for
  // this instruction crashes it for some addresses.)
  asm volatile("s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_dword %1, off"  // BUG global load
               ::"s"(lds_address(tile + 64 * wave_index())),
               "v"(in + threadIdx.x)
               : "memory");
  publish<kBroken>();
  out[threadIdx.x] = tile[threadIdx.x ^ 64];  // BUG global read
}

// A wave reads what it has loaded itself: no barrier is needed, the wait is. broken: none.
template <bool kBroken>
__global__ void own_form(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  clear(tile);
  asm volatile("s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_dword %1, off"  // BUG own load
               ::"s"(lds_address(tile + 64 * wave_index())),
               "v"(in + threadIdx.x)
               : "memory");
  if constexpr (!kBroken) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  out[threadIdx.x ^ 64] = tile[threadIdx.x];  // BUG own read
}

// Both waves load to the same place. fixed: the same data, which is a note. broken: each its own.
template <bool kBroken>
__global__ void same_place(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned lane = threadIdx.x % 64;
  asm volatile("s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_dword %1, off"  // BUG place load
               ::"s"(lds_address(tile)),
               "v"(in + (kBroken ? threadIdx.x : lane))
               : "memory");
  publish<false>();
  out[threadIdx.x] = tile[lane];
}

using Resource = std::int32_t __attribute__((ext_vector_type(4)));
extern "C" __device__ void raw_buffer_load_lds(Resource resource,
                                               __attribute__((address_space(3))) void* lds,
                                               int size, int voffset, int soffset, int offset,
                                               int aux) __asm("llvm.amdgcn.raw.buffer.load.lds");

template <bool kBroken>
__global__ void buffer_form(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  clear(tile);
  const auto address = reinterpret_cast<std::uint64_t>(in);
  const Resource resource = {static_cast<std::int32_t>(address),
                             static_cast<std::int32_t>(address >> 32), kThreads * 4, 0x00027000};
  using Lds = __attribute__((address_space(3))) void*;
  raw_buffer_load_lds(resource, (Lds)(tile + 64 * wave_index()), 4, threadIdx.x * 4, 0, 0, 0);
  publish<kBroken>();
  out[threadIdx.x] = tile[threadIdx.x ^ 64];  // BUG buffer read
}

bool run(void (*kernel)(const unsigned*, unsigned*), bool same_place = false) {
  const DeviceArray<unsigned> in(ramp(kThreads, 7u, 1u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  kernel<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [=](std::size_t i) { return (same_place ? i % 64 : i ^ 64) * 7 + 1; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"global-broken", [] { return run(global_form<true>); }},
                   {"global-fixed", [] { return run(global_form<false>); }},
                   {"own-broken", [] { return run(own_form<true>); }},
                   {"own-fixed", [] { return run(own_form<false>); }},
                   {"buffer-broken", [] { return run(buffer_form<true>); }},
                   {"place-broken", [] { return run(same_place<true>, true); }},
                   {"place-fixed", [] { return run(same_place<false>, true); }},
                   {"buffer-fixed", [] { return run(buffer_form<false>); }}});
}
