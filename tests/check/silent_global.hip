// Correct programs around global memory that a checker may take for wrong: `margay check` must be
// silent on all of them.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocks = 8;
constexpr unsigned kCount = kThreads * kBlocks;

__device__ unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void atomics(const unsigned* in, unsigned* out) {
  atomicAdd(&out[in[global_index()] % 16], 1u);
  atomicMax(&out[16], in[global_index()]);
}

// Each workgroup leaves its partial sum; the one that finds the semaphore full adds them up.
__device__ unsigned semaphore;
__device__ unsigned partial[kBlocks];
__global__ void split_k(const unsigned* in, unsigned* out) {
  __shared__ unsigned sums[kThreads];
  __shared__ bool last;
  sums[threadIdx.x] = in[global_index()];
  __syncthreads();
  for (unsigned step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    last = atomicAdd(&semaphore, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x < kBlocks) out[threadIdx.x] = partial[threadIdx.x];
  if (threadIdx.x == 0) semaphore = 0;
}

// Waves of one workgroup pass data through global memory. gfx942's memory accesses of one CU run in
// order, so clang's fences put no vmcnt wait before these barriers: global_store_dword, s_barrier,
// global_load_dword, s_barrier, s_waitcnt vmcnt(0), global_store_dword.
__global__ void exchange(const unsigned* in, unsigned* out) {
  unsigned* const mine = out + blockIdx.x * kThreads;
  mine[threadIdx.x] = in[global_index()] + 1;
  __syncthreads();
  const unsigned value = mine[kThreads - 1 - threadIdx.x];
  __syncthreads();
  mine[threadIdx.x] = value;
}

// The lanes past the end have addresses past the end, and are masked.
__global__ void masked_lanes(const unsigned* in, unsigned* out, unsigned count) {
  const unsigned i = global_index();
  if (i < count) out[i] = in[i] + 1;
}

// The same with the address made by hand: unmapped in the masked lanes.
__global__ void masked_addresses(const unsigned* in, unsigned* out) {
  const unsigned i = global_index();
  const bool active = i % 3 != 0;
  const unsigned* from = active ? in + i : reinterpret_cast<const unsigned*>(0x10ull + i);
  if (active) {
    unsigned value;
    asm volatile("global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)" : "=v"(value) : "v"(from));
    out[i] = value;
  }
}

// Neighbouring bytes of one dword, written by different waves and workgroups.
__global__ void bytes(const unsigned* in, std::uint8_t* out) {
  const unsigned i = threadIdx.x % 64 * (kBlocks * 4) + blockIdx.x * 4 + threadIdx.x / 64;
  out[i] = static_cast<std::uint8_t>(in[i]);
}

// Every workgroup writes the same values to the same place. A note at most.
__global__ void same_value(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[threadIdx.x] * 2;
}

// Halves of a register loaded apart and packed.
using Half2 = _Float16 __attribute__((ext_vector_type(2)));
__global__ void halves(const _Float16* in, Half2* out) {
  const unsigned i = global_index();
  out[i] = Half2{in[i], in[kCount - 1 - i]} * Half2{2, 4};
}

// global_load_short_d16_hi into a register that is otherwise unused.
__global__ void upper_half_only(const std::uint16_t* in, std::uint16_t* out) {
  const unsigned i = global_index();
  unsigned value;
  asm volatile(
      "global_load_short_d16_hi %0, %1, off\n"
      "s_waitcnt vmcnt(0)\n"
      "global_store_short_d16_hi %2, %0, off\n"
      "s_waitcnt vmcnt(0)"
      : "=&v"(value)
      : "v"(in + i), "v"(out + i)
      : "memory");
}

// Written by one launch, read by the next; initialised by hipMemset.
__global__ void add_one(unsigned* data) { data[kCount - 1 - global_index()] += 1; }

__device__ unsigned table[4] = {5, 6, 7, 8};
__constant__ unsigned constants[4] = {10, 20, 30, 40};
__device__ unsigned zeros[4];
__global__ void variables(const unsigned* in, unsigned* out) {
  const unsigned i = global_index();
  out[i] = in[i] + table[i % 4] + constants[(i + 1) % 4] + zeros[i % 4];
}

unsigned same(std::size_t i) { return static_cast<unsigned>(i); }

using Kernel = void (*)(const unsigned*, unsigned*);
template <typename Wanted>
bool run(Kernel kernel, std::size_t results, Wanted wanted) {
  const DeviceArray<unsigned> in(ramp(kCount));  // in[i] == i
  const DeviceArray<unsigned> out(results, 0u);
  kernel<<<kBlocks, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), wanted);
}

bool run_masked_lanes() {
  constexpr unsigned count = kCount - 37;
  const DeviceArray<unsigned> in(ramp(count));
  const DeviceArray<unsigned> out(count, 0u);
  masked_lanes<<<kBlocks, kThreads>>>(in.get(), out.get(), count);
  finish();
  return matches(out.host(), [](std::size_t i) { return i + 1; });
}

bool run_bytes() {
  const DeviceArray<unsigned> in(ramp(kCount));
  const DeviceArray<std::uint8_t> out(kCount);
  bytes<<<kBlocks, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), same);
}

bool run_halves() {
  const DeviceArray<_Float16> in(ramp<_Float16>(kCount));
  const DeviceArray<Half2> out(kCount);
  halves<<<kBlocks, kThreads>>>(in.get(), out.get());
  finish();
  const std::vector<Half2> got = out.host();
  for (std::size_t i = 0; i < kCount; ++i) {
    if (got[i].x != static_cast<_Float16>(2 * i)) return false;
    if (got[i].y != static_cast<_Float16>(4 * (kCount - 1 - i))) return false;
  }
  return true;
}

bool run_upper_half_only() {
  const DeviceArray<std::uint16_t> in(ramp<std::uint16_t>(kCount));
  const DeviceArray<std::uint16_t> out(kCount);
  upper_half_only<<<kBlocks, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), same);
}

bool run_launches() {
  const DeviceArray<unsigned> data(kCount);
  expect(hipMemset(data.get(), 0, kCount * sizeof(unsigned)));
  for (int i = 0; i < 3; ++i) add_one<<<kBlocks, kThreads>>>(data.get());
  finish();
  return matches(data.host(), [](std::size_t) { return 3; });
}

// Managed memory: the host writes and reads it without a call.
bool run_managed() {
  unsigned* data = nullptr;
  expect(hipMallocManaged(&data, kCount * sizeof(unsigned)));
  for (unsigned i = 0; i < kCount; ++i) data[i] = i;
  add_one<<<kBlocks, kThreads>>>(data);
  finish();
  bool right = true;
  for (unsigned i = 0; i < kCount; ++i) right &= data[i] == i + 1;
  expect(hipFree(data));
  return right;
}

// Pinned host memory, written by the host before the launch.
bool run_pinned() {
  unsigned* data = nullptr;
  expect(hipHostMalloc(reinterpret_cast<void**>(&data), kCount * sizeof(unsigned), 0));
  for (unsigned i = 0; i < kCount; ++i) data[i] = i;
  add_one<<<kBlocks, kThreads>>>(data);
  finish();
  bool right = true;
  for (unsigned i = 0; i < kCount; ++i) right &= data[i] == i + 1;
  expect(hipHostFree(data));
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"atomics",
        [] {
          return run(atomics, 17, [](std::size_t i) { return i < 16 ? kCount / 16 : kCount - 1; });
        }},
       {"split-k",
        [] {
          return run(split_k, kBlocks, [](std::size_t i) {
            const std::size_t first = i * kThreads;
            return kThreads * first + kThreads * (kThreads - 1) / 2;
          });
        }},
       {"exchange",
        [] {
          return run(exchange, kCount, [](std::size_t i) {
            return i / kThreads * kThreads + kThreads - 1 - i % kThreads + 1;
          });
        }},
       {"masked-lanes", run_masked_lanes},
       {"masked-addresses",
        [] {
          return run(masked_addresses, kCount, [](std::size_t i) { return i % 3 == 0 ? 0 : i; });
        }},
       {"bytes", run_bytes},
       {"same-value",
        [] { return run(same_value, kThreads, [](std::size_t i) { return 2 * i; }); }},
       {"halves", run_halves},
       {"upper-half-only", run_upper_half_only},
       {"launches", run_launches},
       {"variables",
        [] {
          return run(variables, kCount,
                     [](std::size_t i) { return i + 5 + i % 4 + (i + 1) % 4 * 10 + 10; });
        }},
       {"managed", run_managed},
       {"pinned", run_pinned}});
}
