// Accesses outside what they are allowed to touch, and a launch that never runs.
#include <cassert>

#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 64;

// global_load_dword; broken: the last lane's address is `in` plus its whole size.
__global__ void read_next(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[threadIdx.x + 1];  // BUG read
}

// global_store_short; broken: the last lane's address is `out` plus its whole size.
__global__ void write_next(const unsigned* in, std::uint16_t* out) {
  out[threadIdx.x + 1] = static_cast<std::uint16_t>(in[threadIdx.x]);  // BUG write
}

// global_load_dwordx4 whose last lane starts inside the array and ends behind it.
using Uint4 = unsigned __attribute__((ext_vector_type(4), aligned(4)));
__global__ void read_four(const unsigned* in, unsigned* out) {
  const Uint4 four = *reinterpret_cast<const Uint4*>(in + threadIdx.x);  // BUG straddle
  out[threadIdx.x] = four.x + four.w;
}

__global__ void copy(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG copy
}

// global_atomic_add at an address that is no multiple of 4.
__global__ void count(unsigned char* counters, unsigned offset) {
  asm volatile("global_atomic_add %0, %1, off\n s_waitcnt vmcnt(0)"  // BUG misaligned
               ::"v"(counters + offset),
               "v"(1)
               : "memory");
}

// scratch_store_dword at an unchecked index.
constexpr unsigned kEntries = 256;
__global__ void permute(const unsigned* in, unsigned* out) {
  unsigned table[kEntries];
  for (unsigned i = 0; i < kEntries; ++i) table[i] = 0;
  for (unsigned i = 0; i < kEntries; ++i) table[in[i]] = i + 1;  // BUG scratch
  unsigned sum = 0;
  for (unsigned i = 0; i < kEntries; ++i) sum += table[i] * (i + 1);
  out[threadIdx.x] = sum;
}

// A recursion that goes deeper than the stack: there is no way back, and no end.
__device__ __attribute__((noinline)) unsigned down(unsigned depth, const unsigned* in) {
  volatile unsigned frame[4];
  for (unsigned i = 0; i < 4; ++i) frame[i] = in[i];  // BUG recursion
  if (depth == 0) return frame[0];
  return down(depth - 1, in) + frame[depth % 4];
}
__global__ void recurse(const unsigned* in, unsigned* out, unsigned depth) {
  out[threadIdx.x] = down(depth, in);
}

__global__ void reverse_in_lds(const unsigned* in, unsigned* out) {
  __shared__ unsigned padding[4];
  extern __shared__ unsigned tile[];
  if (threadIdx.x < 4) padding[threadIdx.x] = in[threadIdx.x];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] =
      tile[kThreads - 1 - threadIdx.x] + padding[threadIdx.x % 4] - in[threadIdx.x % 4];
}

bool run_read(bool broken) {
  const DeviceArray<unsigned> in(ramp(kThreads + (broken ? 0 : 1), 3u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  read_next<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return (i + 1) * 3; });
}

bool run_write(bool broken) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u));
  const DeviceArray<std::uint16_t> out(kThreads + (broken ? 0 : 1), 0);
  write_next<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i == 0 ? 0 : (i - 1) * 3; });
}

bool run_straddle(bool broken) {
  const DeviceArray<unsigned> in(ramp(kThreads + (broken ? 2 : 3), 3u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  read_four<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i * 3 + (i + 3) * 3; });
}

bool run_copy(bool broken) {
  DeviceArray<unsigned> in(ramp(kThreads, 3u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  const unsigned* pointer = in.get();
  if (broken) in.free();
  copy<<<1, kThreads>>>(pointer, out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i * 3; });
}

// The last thing of the code object: a device reads on to the end of the page, which is zeros here.
__device__ unsigned last[kThreads];
bool run_code_object(bool broken) {
  unsigned* pointer = nullptr;
  expect(hipGetSymbolAddress(reinterpret_cast<void**>(&pointer), HIP_SYMBOL(last)));
  const DeviceArray<unsigned> out(kThreads, 1u);
  copy<<<1, kThreads>>>(pointer + (broken ? kThreads : 0), out.get());
  finish();
  return !failed && matches(out.host(), [](std::size_t) { return 0u; });
}

bool run_misaligned(bool broken) {
  const DeviceArray<unsigned char> counters(16, 0);
  count<<<1, kThreads>>>(counters.get(), broken ? 6 : 8);
  finish();
  return counters.host()[8] == kThreads;
}

bool run_scratch(bool broken) {
  // A permutation; one index of the broken one is far behind the lane's scratch.
  std::vector<unsigned> order(kEntries);
  for (unsigned i = 0; i < kEntries; ++i) order[i] = i * 5 % kEntries;
  if (broken) order[7] = 4 * kEntries;
  const DeviceArray<unsigned> in(order);
  const DeviceArray<unsigned> out(kThreads, 0u);
  permute<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t) {
    unsigned sum = 0;
    for (unsigned i = 0; i < kEntries; ++i) sum += (i + 1) * (i * 5 % kEntries + 1);
    return sum;
  });
}

bool run_recursion(bool broken) {
  const DeviceArray<unsigned> in(ramp(4, 0u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  const unsigned depth = broken ? ~0u : 10;
  recurse<<<1, kThreads>>>(in.get(), out.get(), depth);
  if (broken) return hipDeviceSynchronize() == hipSuccess;
  finish();
  return matches(out.host(), [](std::size_t) { return 0u; });
}

// s_trap; and what assert() calls.
__global__ void trap_at(const unsigned* in, unsigned* out, unsigned limit) {
  if (in[threadIdx.x] > limit) __builtin_trap();  // BUG trap
  out[threadIdx.x] = in[threadIdx.x];
}
__global__ void assert_that(const unsigned* in, unsigned* out, unsigned limit) {
  assert(in[threadIdx.x] <= limit);
  out[threadIdx.x] = in[threadIdx.x];
}

bool run_stopped(void (*kernel)(const unsigned*, unsigned*, unsigned), bool broken) {
  const DeviceArray<unsigned> in(ramp(kThreads, 1u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  kernel<<<3, kThreads>>>(in.get(), out.get(), broken ? kThreads - 2 : kThreads);
  if (broken) return hipDeviceSynchronize() == hipSuccess;
  finish();
  return matches(out.host(), [](std::size_t i) { return i; });
}

bool run_leak(bool broken) {
  unsigned* forgotten = nullptr;
  expect(hipMalloc(reinterpret_cast<void**>(&forgotten), 4000));
  const bool right = run_copy(false);
  if (!broken) expect(hipFree(forgotten));
  return right;
}

// Static and dynamic LDS together: 16 bytes more than a workgroup can have. The launch is refused,
// and the error is not queried.
bool run_launch(bool broken) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  reverse_in_lds<<<1, kThreads, broken ? 65536 : 65520>>>(in.get(), out.get());
  return matches(out.host(), [](std::size_t i) { return (kThreads - 1 - i) * 3; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"read-broken", [] { return run_read(true); }},
                   {"read-fixed", [] { return run_read(false); }},
                   {"write-broken", [] { return run_write(true); }},
                   {"write-fixed", [] { return run_write(false); }},
                   {"straddle-broken", [] { return run_straddle(true); }},
                   {"straddle-fixed", [] { return run_straddle(false); }},
                   {"freed-broken", [] { return run_copy(true); }},
                   {"freed-fixed", [] { return run_copy(false); }},
                   {"code-object-broken", [] { return run_code_object(true); }},
                   {"code-object-fixed", [] { return run_code_object(false); }},
                   {"misaligned-broken", [] { return run_misaligned(true); }},
                   {"misaligned-fixed", [] { return run_misaligned(false); }},
                   {"scratch-broken", [] { return run_scratch(true); }},
                   {"scratch-fixed", [] { return run_scratch(false); }},
                   {"recursion-broken", [] { return run_recursion(true); }},
                   {"recursion-fixed", [] { return run_recursion(false); }},
                   {"trap-broken", [] { return run_stopped(trap_at, true); }},
                   {"trap-fixed", [] { return run_stopped(trap_at, false); }},
                   {"assert-broken", [] { return run_stopped(assert_that, true); }},
                   {"assert-fixed", [] { return run_stopped(assert_that, false); }},
                   {"leak-broken", [] { return run_leak(true); }},
                   {"leak-fixed", [] { return run_leak(false); }},
                   {"launch-broken", [] { return run_launch(true); }},
                   {"launch-fixed", [] { return run_launch(false); }}});
}
