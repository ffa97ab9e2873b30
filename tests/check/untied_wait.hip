// Loads in inline asm whose wait is another asm statement. The compiler counts neither; only
// operands declare that the registers are not valid before the wait.
#include "check_program.h"

using namespace check_program;

namespace {

using Float4 = float __attribute__((ext_vector_type(4)));

__device__ Float4 issue_global(const Float4* address) {
  Float4 value;
  asm volatile("global_load_dwordx4 %0, %1, off" : "=v"(value) : "v"(address));  // BUG global load
  return value;
}

__device__ float issue_lds(std::uint32_t address) {
  float value;
  asm volatile("ds_read_b32 %0, %1" : "=v"(value) : "v"(address) : "memory");  // BUG lds load
  return value;
}

// broken: a wait that names no register. Nothing keeps the uses of the value behind it.
template <bool kBroken>
__device__ void wait_global(Float4& value) {
  if constexpr (kBroken) {
    asm volatile("s_waitcnt vmcnt(0)");
  } else {
    asm volatile("s_waitcnt vmcnt(0)" : "+v"(value));
  }
}

// A pipeline through registers. broken, in the loop: global_load_dwordx4 v[4:7], v_mov_b64 of
// v[4:5], v_mov_b64 of v[6:7], s_waitcnt vmcnt(0). fixed: the copies follow the wait.
template <bool kBroken>
__global__ void copied(const Float4* in, Float4* out, unsigned count) {
  const unsigned lane = threadIdx.x;
  Float4 current = issue_global(in + lane);
  wait_global<kBroken>(current);
  Float4 sum = {};
  for (unsigned i = 1; i < count; ++i) {
    Float4 next = issue_global(in + i * 64 + lane);
    sum += current;
    wait_global<kBroken>(next);
    current = next;
  }
  out[lane] = sum + current;
}

/// Keeps what computes `value` in front of the volatile asm that follows. clang 19 puts it there by
/// itself, where the wait is not tied; clang 22 does not in kernels as small as these.
template <typename T>
__device__ void computed_here(T& value) {
  asm volatile("" : "+v"(value));
}

// broken: global_load_dwordx4 x2, v_pk_add_f32 x2, s_waitcnt vmcnt(0).
template <bool kBroken>
__global__ void used(const Float4* in, Float4* out, unsigned count) {
  Float4 a = issue_global(in + threadIdx.x);
  Float4 b = issue_global(in + (count - 1) * 64 + threadIdx.x);
  if constexpr (!kBroken) asm volatile("s_waitcnt vmcnt(0)" : "+v"(a), "+v"(b));
  Float4 sum = a + b;  // BUG used
  computed_here(sum);
  if constexpr (kBroken) asm volatile("s_waitcnt vmcnt(0)");
  out[threadIdx.x] = sum;
}

// broken: ds_read_b32 x2, v_add_f32, s_waitcnt lgkmcnt(0).
template <bool kBroken>
__global__ void lds(const Float4* in, Float4* out, unsigned) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x].x;
  __syncthreads();
  float a = issue_lds(lds_address(tile + 63 - threadIdx.x));
  float b = issue_lds(lds_address(tile + (threadIdx.x ^ 1)));
  if constexpr (!kBroken) asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(a), "+v"(b));
  float sum = a + b;  // BUG lds
  computed_here(sum);
  if constexpr (kBroken) asm volatile("s_waitcnt lgkmcnt(0)");
  out[threadIdx.x] = Float4{sum, sum, sum, sum};
}

// More values in flight than registers. broken: global_load_dwordx4 v[0:3], scratch_store_dwordx4
// of v[0:3], v[0:1] is given the next address, and the one s_waitcnt vmcnt(0) comes at the end.
// fixed: a wait for each value before it can be spilled.
constexpr int kSpilled = 20;
template <bool kBroken>
__global__ __attribute__((amdgpu_waves_per_eu(8, 8))) void spilled(const Float4* in, Float4* out,
                                                                   unsigned) {
  Float4 values[kSpilled];
#pragma unroll
  for (int i = 0; i < kSpilled; ++i) {
    values[i] = issue_global(in + i * 64 + threadIdx.x);
    if constexpr (!kBroken) wait_global<kBroken>(values[i]);
  }
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#pragma unroll
  for (int i = 0; i < kSpilled; ++i) out[i * 64 + threadIdx.x] = values[i];
}

// A load whose result is unused: the compiler sees a dead output and reuses its register. broken:
// global_load_dword vN, v_mul_u32_u24 vN, s_waitcnt vmcnt(0): the data of the load arrive on top of
// the new value. fixed: the wait comes first and takes the register.
__device__ float product(unsigned a, unsigned b) {
  unsigned value;
  asm volatile("v_mul_u32_u24 %0, %1, %2" : "=v"(value) : "v"(a), "v"(b));  // BUG dead value
  return static_cast<float>(value);
}

template <bool kBroken>
__global__ void dead_output(const Float4* in, Float4* out, unsigned count) {
  const unsigned lane = threadIdx.x;
  float touched;
  asm volatile("global_load_dword %0, %1, off"  // BUG dead load
               : "=v"(touched)
               : "v"(in + 64 + lane));
  if constexpr (!kBroken) asm volatile("s_waitcnt vmcnt(0)" : "+v"(touched));
  Float4 result;
  for (unsigned i = 0; i < 4; ++i) result[i] = product(lane + i, count);
  asm volatile("s_waitcnt vmcnt(0)" : "+v"(result));
  out[lane] = result;
}

using Kernel = void (*)(const Float4*, Float4*, unsigned);

float value_of(std::size_t i) { return static_cast<float>(i * 3 % 4096); }

// Runs the kernel on kSpilled rows of 64 values; wanted(i) is the result's element i.
template <typename Wanted>
bool run(Kernel kernel, std::size_t results, Wanted wanted) {
  std::vector<Float4> values(kSpilled * 64);
  for (std::size_t i = 0; i < values.size() * 4; ++i) values[i / 4][i % 4] = value_of(i);
  const DeviceArray<Float4> in(values);
  const DeviceArray<Float4> out(results, Float4{});
  kernel<<<1, 64>>>(in.get(), out.get(), kSpilled);
  finish();
  const std::vector<Float4> got = out.host();
  for (std::size_t i = 0; i < results * 4; ++i) {
    if (got[i / 4][i % 4] != wanted(i)) return false;
  }
  return true;
}

bool run_copied(Kernel kernel) {
  return run(kernel, 64, [](std::size_t i) {
    float sum = 0;
    for (std::size_t row = 0; row < kSpilled; ++row) sum += value_of(row * 256 + i);
    return sum;
  });
}

bool run_used(Kernel kernel) {
  return run(kernel, 64,
             [](std::size_t i) { return value_of(i) + value_of((kSpilled - 1) * 256 + i); });
}

bool run_lds(Kernel kernel) {
  return run(kernel, 64,
             [](std::size_t i) { return value_of((63 - i / 4) * 4) + value_of((i / 4 ^ 1) * 4); });
}

bool run_spilled(Kernel kernel) { return run(kernel, kSpilled * 64, value_of); }

bool run_dead_output(Kernel kernel) {
  return run(kernel, 64,
             [](std::size_t i) { return static_cast<float>((i / 4 + i % 4) * kSpilled); });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"copied-broken", [] { return run_copied(copied<true>); }},
                   {"copied-fixed", [] { return run_copied(copied<false>); }},
                   {"used-broken", [] { return run_used(used<true>); }},
                   {"used-fixed", [] { return run_used(used<false>); }},
                   {"lds-broken", [] { return run_lds(lds<true>); }},
                   {"lds-fixed", [] { return run_lds(lds<false>); }},
                   {"spilled-broken", [] { return run_spilled(spilled<true>); }},
                   {"spilled-fixed", [] { return run_spilled(spilled<false>); }},
                   {"dead-output-broken", [] { return run_dead_output(dead_output<true>); }},
                   {"dead-output-fixed", [] { return run_dead_output(dead_output<false>); }}});
}
