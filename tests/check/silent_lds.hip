// Correct programs around LDS that a checker may take for wrong: `margay check` must be silent on
// all of them.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;

// Keeps the compiler from moving memory accesses; no instruction.
__device__ void compiler_fence() { asm volatile("" ::: "memory"); }

// DS instructions of one wave run in order: ds_write_b32, ds_read_b32 of another lane's dword, with
// nothing between; then overwritten by the next round.
__global__ void same_wave_order(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  unsigned value = in[threadIdx.x];
  for (unsigned round = 0; round < 3; ++round) {
    tile[threadIdx.x] = value;
    compiler_fence();
    value = tile[threadIdx.x ^ (1u << round)] + 1;
    compiler_fence();
  }
  out[threadIdx.x] = value;
}

// ds_read2st64_b32 reads two ranges; another wave writes between them at the same time.
__global__ void read2_ranges(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[4 * 64];
  const unsigned lane = threadIdx.x % 64;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (wave_index() == 0) {
    unsigned long long both;
    asm volatile("ds_read2st64_b32 %0, %1 offset0:0 offset1:2\n s_waitcnt lgkmcnt(0)"
                 : "=v"(both)
                 : "v"(lds_address(tile + lane))
                 : "memory");
    out[lane] = static_cast<unsigned>(both) + static_cast<unsigned>(both >> 32);
  } else if (wave_index() == 1) {
    tile[64 + lane] = lane;
    out[64 + lane] = tile[64 + (lane ^ 5)];
  } else {
    // ds_write2st64_b32 to ranges on both sides of one that only wave 3 reads.
    if (wave_index() == 2) out[128 + lane] = lane;
    if (wave_index() == 3) out[192 + lane] = tile[192 + lane];
  }
}

// The halves and bytes of one dword, written by different waves and read back by each.
__global__ void parts_of_a_dword(const unsigned* in, unsigned* out) {
  __shared__ std::uint16_t halves[64][2];
  __shared__ std::uint8_t bytes[64][4];
  const unsigned lane = threadIdx.x % 64;
  const unsigned wave = wave_index();
  bytes[lane][wave] = static_cast<std::uint8_t>(in[threadIdx.x]);
  if (wave == 0) {
    halves[lane][0] = static_cast<std::uint16_t>(in[lane]);
  } else if (wave == 1) {
    // ds_write_b16_d16_hi
    asm volatile("ds_write_b16_d16_hi %0, %1 offset:2" ::"v"(lds_address(&halves[lane][0])),
                 "v"(in[lane] << 16)
                 : "memory");
  }
  compiler_fence();
  const unsigned own = bytes[lane ^ 1][wave];
  asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = own + (halves[lane][0] == halves[lane][1] ? 0 : 1000) +
                     (bytes[lane][0] == static_cast<std::uint8_t>(in[lane]) ? 0 : 2000);
}

// Lanes outside EXEC have addresses that are out of range, or other waves' own.
__global__ void masked_lanes(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  const bool active = threadIdx.x % 2 == 0;
  const std::uint32_t address =
      active ? lds_address(tile + threadIdx.x) : 0x7FFFFFF0u + threadIdx.x;
  const std::uint32_t shared = lds_address(tile + (active ? threadIdx.x + 1 : 0));
  const unsigned value = in[threadIdx.x];
  tile[threadIdx.x] = 0;
  compiler_fence();
  if (active) {
    asm volatile("ds_write_b32 %0, %2\n ds_write_b32 %1, %3\n s_waitcnt lgkmcnt(0)" ::"v"(address),
                 "v"(shared), "v"(value), "v"(value + 1)
                 : "memory");
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void atomics(const unsigned* in, unsigned* out) {
  __shared__ unsigned bins[64];
  __shared__ unsigned largest;
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] % 64], 1u);
  const unsigned before = atomicMax(&largest, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x % 64] + largest + (before > largest ? 1 : 0);
}

// Every wave writes the same value to the same place. A note at most.
__global__ void same_value(const unsigned* in, unsigned* out) {
  __shared__ unsigned shared[64];
  shared[threadIdx.x % 64] = in[threadIdx.x % 64];
  __syncthreads();
  out[threadIdx.x] = shared[63 - threadIdx.x % 64];
}

// The same, and a wave may be far ahead before another's value is in LDS (--adversarial).
__global__ void same_value_late(const unsigned* in, unsigned* out) {
  __shared__ unsigned shared[64];
  unsigned x = in[threadIdx.x % 64];
  shared[threadIdx.x % 64] = x;
#pragma unroll 1
  for (unsigned i = 0; i < 3000; ++i) x = x * 3 + 1;
  __syncthreads();
  out[threadIdx.x] = shared[63 - threadIdx.x % 64] + (x == 1 ? 1 : 0);
}

// Two buffers, one barrier per tile.
__global__ void double_buffer(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[2][kThreads];
  unsigned sum = 0;
  tile[0][threadIdx.x] = in[threadIdx.x];
#pragma unroll 1
  for (unsigned t = 0; t < 4; ++t) {
    __syncthreads();
    if (t < 3) tile[(t + 1) % 2][threadIdx.x] = in[threadIdx.x] + t + 1;
    sum += tile[t % 2][kThreads - 1 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

// Wave 0 fills, the others use: their barriers are at different places of the code.
__global__ void producer_consumer(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[2][64];
  const unsigned lane = threadIdx.x % 64;
  if (wave_index() == 0) {
#pragma unroll 1
    for (unsigned t = 0; t < 4; ++t) {
      tile[t % 2][lane] = in[lane] + t;
      __syncthreads();
    }
    __syncthreads();
    out[threadIdx.x] = 0;
  } else {
    unsigned sum = 0;
    __syncthreads();
#pragma unroll 1
    for (unsigned t = 0; t < 4; ++t) {
      sum += tile[t % 2][63 - lane];
      __syncthreads();
    }
    out[threadIdx.x] = sum;
  }
}

__global__ void reduction(const unsigned* in, unsigned* out) {
  __shared__ unsigned sums[kThreads];
  sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  out[threadIdx.x] = sums[0];
}

// Lanes that return early have ended; the barrier is for the remaining ones. Wave 3 has 8 of them.
__global__ void early_return(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  if (threadIdx.x >= 200) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[199 - threadIdx.x];
}

// The last wave of a workgroup of 200 has 8 lanes from the start.
__global__ void partial_wave(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[200];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[199 - threadIdx.x];
}

// Data published by a flag instead of a barrier: release and acquire.
__global__ void flag(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  __shared__ unsigned ready;
  const unsigned lane = threadIdx.x % 64;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (wave_index() == 1) {
    tile[lane] = in[lane];
    __threadfence_block();
    if (lane == 0) atomicExch(&ready, 1u);
  } else {
    while (__hip_atomic_load(&ready, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) {
    }
    __threadfence_block();
    out[threadIdx.x] = tile[63 - lane];
  }
}

// ds_bpermute_b32 and ds_swizzle_b32 go through the LDS hardware without touching LDS.
__global__ void permutes(const unsigned* in, unsigned* out) {
  const int value = static_cast<int>(in[threadIdx.x]);
  const int other =
      __builtin_amdgcn_ds_bpermute(static_cast<int>((threadIdx.x % 64) ^ 7) * 4, value);
  const int swapped = __builtin_amdgcn_ds_swizzle(value, 0x041F);  // lane ^ 1
  out[threadIdx.x] = static_cast<unsigned>(other + swapped);
}

// Exactly as many bytes as asked, no multiple of any granule.
__global__ void last_byte(const unsigned* in, unsigned* out) {
  extern __shared__ std::uint8_t odd[];
  odd[threadIdx.x + 1] = static_cast<std::uint8_t>(in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = odd[kThreads - threadIdx.x];
}

using Kernel = void (*)(const unsigned*, unsigned*);

template <typename Wanted>
bool run(Kernel kernel, Wanted wanted, unsigned threads = kThreads, unsigned lds = 0) {
  const DeviceArray<unsigned> in(ramp(kThreads));  // in[i] == i
  const DeviceArray<unsigned> out(kThreads, 0u);
  kernel<<<1, threads, lds>>>(in.get(), out.get());
  finish();
  return matches(out.host(), wanted);
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"same-wave-order",
        [] { return run(same_wave_order, [](std::size_t i) { return (i ^ 7) + 3; }); }},
       {"read2-ranges",
        [] {
          return run(read2_ranges, [](std::size_t i) {
            if (i < 64) return i + i + 128;
            if (i < 128) return (i - 64) ^ 5;
            return i < 192 ? i - 128 : i;
          });
        }},
       {"parts-of-a-dword",
        [] { return run(parts_of_a_dword, [](std::size_t i) { return i ^ 1; }); }},
       {"masked-lanes", [] { return run(masked_lanes, [](std::size_t i) { return i; }); }},
       {"atomics", [] { return run(atomics, [](std::size_t) { return 4 + 255; }); }},
       {"same-value-late",
        [] { return run(same_value_late, [](std::size_t i) { return 63 - i % 64; }); }},
       {"same-value", [] { return run(same_value, [](std::size_t i) { return 63 - i % 64; }); }},
       {"double-buffer",
        [] {
          return run(double_buffer, [](std::size_t i) { return (kThreads - 1 - i) * 4 + 6; });
        }},
       {"producer-consumer",
        [] {
          return run(producer_consumer,
                     [](std::size_t i) { return i < 64 ? 0 : (63 - i % 64) * 4 + 6; });
        }},
       {"reduction", [] { return run(reduction, [](std::size_t) { return 255 * 256 / 2; }); }},
       {"early-return",
        [] { return run(early_return, [](std::size_t i) { return i < 200 ? 199 - i : 0; }); }},
       {"partial-wave",
        [] { return run(partial_wave, [](std::size_t i) { return i < 200 ? 199 - i : 0; }, 200); }},
       {"flag",
        [] { return run(flag, [](std::size_t i) { return i / 64 == 1 ? 0 : 63 - i % 64; }); }},
       {"permutes", [] { return run(permutes, [](std::size_t i) { return (i ^ 7) + (i ^ 1); }); }},
       {"last-byte", [] {
          return run(
              last_byte, [](std::size_t i) { return kThreads - 1 - i; }, kThreads, kThreads + 1);
        }}});
}
