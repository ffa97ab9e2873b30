// Correct programs whose waits and registers a checker may take for wrong: `margay check` must be
// silent on all of them.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kRows = 8;

// The three ways to say it. s_waitcnt's field: vmcnt 0 is 0x0f70, lgkmcnt 0 is 0xc07f.
__global__ void by_builtin(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  unsigned value;
  asm volatile("global_load_dword %0, %1, off" : "=v"(value) : "v"(in + threadIdx.x));
  __builtin_amdgcn_s_waitcnt(0x0f70);
  asm volatile("" : "+v"(value));
  asm volatile("ds_write_b32 %0, %1" ::"v"(lds_address(tile + threadIdx.x)), "v"(value) : "memory");
  __builtin_amdgcn_s_waitcnt(0xc07f);
  bare_barrier();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void by_asm(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  unsigned value;
  asm volatile("global_load_dword %0, %1, off" : "=v"(value) : "v"(in + threadIdx.x));
  asm volatile("s_waitcnt vmcnt(0)" : "+v"(value));
  asm volatile("ds_write_b32 %0, %1\n s_waitcnt lgkmcnt(0)\n s_barrier" ::"v"(
                   lds_address(tile + threadIdx.x)),
               "v"(value)
               : "memory");
  unsigned other;
  asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)"
               : "=v"(other)
               : "v"(lds_address(tile + kThreads - 1 - threadIdx.x))
               : "memory");
  out[threadIdx.x] = other;
}

__global__ void by_compiler(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

// Counts of all ones wait for nothing: alone they order nothing, and they harm nothing.
__global__ void all_ones(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[kThreads];
  unsigned value;
  asm volatile(
      "global_load_dword %0, %1, off\n"
      "s_waitcnt vmcnt(63) lgkmcnt(15) expcnt(7)\n"
      "s_waitcnt lgkmcnt(0)\n"
      "s_waitcnt vmcnt(0)"
      : "=v"(value)
      : "v"(in + threadIdx.x));
  tile[threadIdx.x] = value;
  asm volatile("s_waitcnt vmcnt(63) lgkmcnt(15)" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

// vmcnt(n) releases all but the youngest n, in the order of issue; stores count as well.
__global__ void partial_vmcnt(const unsigned* in, unsigned* out) {
  unsigned rows[4];
  const unsigned* from = in + threadIdx.x;
  asm volatile(
      "global_load_dword %0, %4, off\n"
      "global_load_dword %1, %4, off offset:512\n"
      "global_load_dword %2, %4, off offset:1024\n"
      "global_load_dword %3, %4, off offset:1536\n"
      "s_waitcnt vmcnt(3)\n"
      "v_add_u32 %0, 1, %0\n"
      "global_store_dword %5, %0, off\n"
      "s_waitcnt vmcnt(3)\n"  // the load of %1 is the oldest of four
      "v_add_u32 %1, 1, %1\n"
      "s_waitcnt vmcnt(1)\n"  // all loads, not the store
      "v_add_u32 %2, %2, %3\n"
      : "=&v"(rows[0]), "=&v"(rows[1]), "=&v"(rows[2]), "=&v"(rows[3])
      : "v"(from), "v"(out + threadIdx.x)
      : "memory");
  out[kThreads + threadIdx.x] = rows[1] + rows[2];
}

// lgkmcnt(n) of DS instructions alone is in order too.
__global__ void partial_lgkmcnt(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[2 * kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  tile[kThreads + threadIdx.x] = in[kThreads + threadIdx.x];
  __syncthreads();
  unsigned first;
  unsigned second;
  asm volatile(
      "ds_read_b32 %0, %2\n"
      "ds_read_b32 %1, %2 offset:512\n"
      "s_waitcnt lgkmcnt(1)\n"
      "v_add_u32 %0, 1, %0\n"
      "s_waitcnt lgkmcnt(0)\n"
      : "=&v"(first), "=&v"(second)
      : "v"(lds_address(tile + kThreads - 1 - threadIdx.x))
      : "memory");
  out[threadIdx.x] = first + second;
}

// Direct-to-LDS loads, the older one used while the younger is in flight.
__global__ void partial_direct(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[2][kThreads];
  for (unsigned i = 0; i < 2; ++i) {
    asm volatile("s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_dword %1, off" ::"s"(
                     lds_address(&tile[i][64 * wave_index()])),
                 "v"(in + i * kThreads + threadIdx.x)
                 : "memory");
  }
  asm volatile("s_waitcnt vmcnt(1)" ::: "memory");
  bare_barrier();
  unsigned sum;
  asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)"
               : "=v"(sum)
               : "v"(lds_address(&tile[0][kThreads - 1 - threadIdx.x]))
               : "memory");
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  bare_barrier();
  out[threadIdx.x] = sum + tile[1][kThreads - 1 - threadIdx.x];
}

// A flat access counts on both counters; here it goes to LDS and to global memory.
__global__ void flat(const unsigned* in, unsigned* out, unsigned zero) {
  __shared__ unsigned tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const unsigned* sources[2] = {tile, in};
  const unsigned* source = sources[threadIdx.x % 2 + zero];
  unsigned value;
  asm volatile("flat_load_dword %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)"
               : "=v"(value)
               : "v"(source + (kThreads - 1 - threadIdx.x))
               : "memory");
  out[threadIdx.x] = value;
}

// A store has read its registers when the next instruction runs: they may be used again.
__global__ void store_registers(const unsigned* in, unsigned* out) {
  unsigned value = in[threadIdx.x];
  asm volatile(
      "global_store_dword %1, %0, off\n"
      "v_mov_b32 %0, 7\n"
      "global_store_dword %1, %0, off offset:512\n"
      "v_mov_b32 %0, 0"
      : "+v"(value)
      : "v"(out + threadIdx.x)
      : "memory");
}

// More live values than registers: scratch and accumulation registers take them.
__global__ __launch_bounds__(1024, 8) void spills(const unsigned* in, unsigned* out) {
  unsigned values[96];
#pragma unroll
  for (unsigned i = 0; i < 96; ++i) values[i] = in[(threadIdx.x + i * 5) % (kThreads * kRows)];
  asm volatile("" ::: "memory");
  unsigned sum = 0;
#pragma unroll
  for (unsigned i = 0; i < 96; ++i) sum += values[95 - i] * (i + 1);
#pragma unroll
  for (unsigned i = 0; i < 96; ++i) sum ^= values[i] << (i % 7);
  out[threadIdx.x] = sum;
}

// Scalar loads return in any order; the compiler waits for all of them.
__global__ void scalar(const unsigned* in, unsigned* out) {
  unsigned sum = 0;
  for (unsigned i = 0; i < kRows; ++i) sum += in[i * kThreads + blockIdx.x];
  out[threadIdx.x] = sum + threadIdx.x;
}

// A local array with a dynamic index, all of it written before it is read.
__global__ void local_array(const unsigned* in, unsigned* out) {
  unsigned table[128];
  for (unsigned i = 0; i < 128; ++i) table[(in[i] + threadIdx.x) % 128] = i;
  out[threadIdx.x] = table[(2 * threadIdx.x) % 128];
}

__attribute__((noinline)) __device__ unsigned called(unsigned a, unsigned b) { return a * 3 + b; }

// A call saves and restores registers that the caller may never have written.
__global__ void calls(const unsigned* in, unsigned* out) {
  unsigned value = in[threadIdx.x];
  for (unsigned i = 0; i < 3; ++i) value = called(value, threadIdx.x);
  out[threadIdx.x] = value;
}

// A value written in one half of EXEC and in the other, and used in both.
__global__ void both_sides(const unsigned* in, unsigned* out) {
  unsigned value;
  if (in[threadIdx.x] % 3 == 0) {
    value = in[threadIdx.x] + 5;
  } else {
    value = in[threadIdx.x + kThreads];
  }
  out[threadIdx.x] = value;
}

using Kernel = void (*)(const unsigned*, unsigned*);
void launch_flat(const unsigned* in, unsigned* out) { flat<<<1, kThreads>>>(in, out, 0); }

template <typename Wanted>
bool run(void (*launch)(const unsigned*, unsigned*), std::size_t results, Wanted wanted) {
  const DeviceArray<unsigned> in(ramp(kThreads * kRows));  // in[i] == i
  const DeviceArray<unsigned> out(results, 0u);
  launch(in.get(), out.get());
  finish();
  return matches(out.host(), wanted);
}

template <Kernel kKernel, typename Wanted>
bool run(Wanted wanted, std::size_t results = kThreads) {
  return run([](const unsigned* in, unsigned* out) { kKernel<<<1, kThreads>>>(in, out); }, results,
             wanted);
}

unsigned reversed(std::size_t i) { return kThreads - 1 - static_cast<unsigned>(i); }

unsigned spilled(std::size_t thread) {
  const auto value = [thread](unsigned i) {
    return (static_cast<unsigned>(thread) + i * 5) % (kThreads * kRows);
  };
  unsigned sum = 0;
  for (unsigned i = 0; i < 96; ++i) sum += value(95 - i) * (i + 1);
  for (unsigned i = 0; i < 96; ++i) sum ^= value(i) << (i % 7);
  return sum;
}

unsigned sum_of_rows(std::size_t i) {
  return kThreads * (kRows * (kRows - 1) / 2) + static_cast<unsigned>(i);
}

unsigned from_table(std::size_t i) {
  // table[(n + i) % 128] == n
  return (2 * static_cast<unsigned>(i) + 128 - static_cast<unsigned>(i)) % 128;
}

unsigned called_thrice(std::size_t i) {
  unsigned value = static_cast<unsigned>(i);
  for (int n = 0; n < 3; ++n) value = value * 3 + static_cast<unsigned>(i);
  return value;
}

unsigned by_vmcnt(std::size_t i) {
  const unsigned row = static_cast<unsigned>(i) % kThreads;
  return i < kThreads ? row + 1 : (row + kThreads + 1) + (2 * row + 5 * kThreads);
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"by-builtin", [] { return run<by_builtin>(reversed); }},
       {"by-asm", [] { return run<by_asm>(reversed); }},
       {"by-compiler", [] { return run<by_compiler>(reversed); }},
       {"all-ones", [] { return run<all_ones>(reversed); }},
       {"partial-vmcnt", [] { return run<partial_vmcnt>(by_vmcnt, 2 * kThreads); }},
       {"partial-lgkmcnt",
        [] {
          return run<partial_lgkmcnt>([](std::size_t i) { return 2 * reversed(i) + kThreads + 1; });
        }},
       {"partial-direct",
        [] {
          return run<partial_direct>([](std::size_t i) { return 2 * reversed(i) + kThreads; });
        }},
       {"flat", [] { return run(launch_flat, kThreads, reversed); }},
       {"store-registers",
        [] {
          return run<store_registers>([](std::size_t i) { return i < kThreads ? i : 7; },
                                      2 * kThreads);
        }},
       {"spills", [] { return run<spills>(spilled); }},
       {"scalar", [] { return run<scalar>(sum_of_rows); }},
       {"local-array", [] { return run<local_array>(from_table); }},
       {"calls", [] { return run<calls>(called_thrice); }},
       {"both-sides", [] {
          return run<both_sides>([](std::size_t i) { return i % 3 == 0 ? i + 5 : i + kThreads; });
        }}});
}
