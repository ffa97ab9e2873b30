// Kernels of turns_test.cpp: effects of the order in which the waves of a workgroup run.
#include <hip/hip_runtime.h>

namespace {
/// Arithmetic that takes some time and leaves x as it is.
__device__ unsigned pass_time(unsigned x, int instructions) {
  for (int n = 0; n < instructions; ++n) asm volatile("v_add_u32 %0, %0, 0" : "+v"(x));
  return x;
}
}  // namespace

// A tile in LDS, stored, read by all waves, computed with, and rewritten, with one barrier a step:
// behind the stores. That the reads of a step are over before the next step's stores is left to the
// waves running in step.
template <int kCompute>
__device__ void rewrite_tile(const unsigned* in, unsigned* out, int steps) {
  __shared__ unsigned tile[512];
  const unsigned n = blockDim.x, self = threadIdx.x;
  unsigned sum = 0, next = in[self];
  for (int step = 0; step < steps; ++step) {
    tile[self] = next;
    asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
    const unsigned mine = tile[n - 1 - self];  // another wave's
    next = in[static_cast<unsigned>(step + 1) * n + self];
    sum = sum * 3 + pass_time(mine, kCompute);
    asm volatile("" ::: "memory");
  }
  out[self] = sum;
}
extern "C" __global__ void rewrite_at_once(const unsigned* in, unsigned* out, int steps) {
  rewrite_tile<2>(in, out, steps);
}
extern "C" __global__ void rewrite_later(const unsigned* in, unsigned* out, int steps) {
  rewrite_tile<150>(in, out, steps);
}

// Two tiles: the one that is stored was read a step ago, and there is no barrier at all between a
// step's reads and the stores into the same tile but the one of the step in between.
extern "C" __global__ void double_buffer(const unsigned* in, unsigned* out, int steps) {
  __shared__ unsigned tiles[2][512];
  const unsigned n = blockDim.x, self = threadIdx.x;
  unsigned sum = 0;
  tiles[0][self] = in[self];
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const unsigned mine = tiles[step & 1][n - 1 - self];
    const unsigned next = in[static_cast<unsigned>(step + 1) * n + self];
    tiles[(step + 1) & 1][self] = next;
    asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
    // The neighbour's part of the tile that the next step's stores go to, late.
    const unsigned late = tiles[step & 1][(self + 64) % n];
    sum = sum * 3 + pass_time(mine, 40) + late;
  }
  out[self] = sum;
}

// The same by direct loads: the rows of the next tile land where waves read this one.
extern "C" __global__ void rewrite_by_direct_loads(const unsigned* in, unsigned* out, int steps) {
  __shared__ unsigned tile[512];
  const unsigned n = blockDim.x, self = threadIdx.x;
  unsigned sum = 0;
  for (int step = 0; step < steps; ++step) {
    const unsigned* const from = in + static_cast<unsigned>(step) * n + self;
    const unsigned base = __builtin_amdgcn_readfirstlane(self & ~63u) * 4;
    asm volatile(
        "s_mov_b32 m0, %1\n s_nop 0\n global_load_lds_dword %0, off\n s_waitcnt vmcnt(0)\n "
        "s_barrier" ::"v"(from),
        "s"(base)
        : "memory");
    const unsigned mine = tile[n - 1 - self];
    sum = sum * 3 + pass_time(mine, 2);
    asm volatile("s_nop 0" ::: "memory");
  }
  if (steps < 0) tile[self] = sum;
  out[self] = sum;
}

// A wave polls LDS while the others compute: not one instruction in a million is its own.
extern "C" __global__ void poll_lds(unsigned* out, int compute) {
  __shared__ volatile unsigned flag;
  __shared__ volatile unsigned looked;
  if (threadIdx.x == 0) {
    flag = 0;
    looked = 0;
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    unsigned looks = 0;
    while (flag == 0) ++looks;
    if (threadIdx.x == 0) looked = looks;
  } else {
    const unsigned x = pass_time(threadIdx.x, compute);
    if (x == 64) flag = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = looked;
}

// Loops over barriers forever.
extern "C" __global__ void endless_barriers() {
  __shared__ volatile unsigned word;
  word = 0;
  while (word == 0) __syncthreads();
}

// Waits for another workgroup in a loop over barriers: one lane looks and hands on what it saw.
template <bool kAtomic>
__device__ void grid_barrier(int* arrived, int workgroups) {
  __shared__ int seen;
  if (threadIdx.x == 0)
    __hip_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
  do {
    __syncthreads();
    if (threadIdx.x == 0)
      seen = kAtomic
                 ? __hip_atomic_fetch_add(arrived, 0, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)
                 : __hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    __syncthreads();
  } while (seen < workgroups);
}
extern "C" __global__ void wait_for_all(int* arrived, int workgroups) {
  grid_barrier<false>(arrived, workgroups);
}
extern "C" __global__ void wait_for_all_by_atomics(int* arrived, int workgroups) {
  grid_barrier<true>(arrived, workgroups);
}

// Reads the same words in each of many steps: that is work.
extern "C" __global__ void many_steps(const unsigned* table, unsigned* out, int steps) {
  __shared__ unsigned shared[128];
  unsigned x = threadIdx.x;
  for (int step = 0; step < steps; ++step) {
    shared[threadIdx.x] = x;
    __syncthreads();
    x = x * table[threadIdx.x] + shared[(threadIdx.x + 1) % 128];
    __syncthreads();
  }
  out[threadIdx.x] = x;
}

// Takes a given time, with no foreseeable end.
extern "C" __global__ void count_to(unsigned long long last, unsigned long long* out) {
  unsigned long long n = 0;
  while (n < last) {
    ++n;
    *reinterpret_cast<volatile unsigned long long*>(out + threadIdx.x) = n;
  }
}
