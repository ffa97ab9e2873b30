// Two GEMM kernels written as production libraries write theirs, and what a multiply-add of them
// costs the virtual device:
//
//   registers   A and B straight from global memory into registers, which are double-buffered; sums
//               in AccVGPRs; v_mfma_f32_32x32x8_bf16 in inline assembly
//   direct      A and B straight from global memory into LDS, double-buffered; blocks of 256 x 256
//               whose sums fill all 256 AccVGPRs of a wave; v_mfma_f32_16x16x16_bf16
//
// C = A B^T, A and B of bf16, row-major, n x n. Prints "NAME ns=..." for each: host nanoseconds for
// 4096 multiply-adds (one v_mfma_f32_16x16x16_bf16) and host thread. Exits 1 if a sum is wrong.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Bf16x4 = __attribute__((ext_vector_type(4))) short;
using Quad = __attribute__((ext_vector_type(4))) unsigned;
using F32x4 = __attribute__((ext_vector_type(4))) float;
using F32x16 = __attribute__((ext_vector_type(16))) float;

/// The two instructions' operands in 16 bytes of a row: k = 0..3 and 4..7 of what the lane has
/// read.
struct Pieces {
  Bf16x4 half[2];
};
static __device__ Pieces pieces(Quad q) { return __builtin_bit_cast(Pieces, q); }

// ---- registers ---------------------------------------------------------------------------------

/// A wave has 64 x 64 of C; a workgroup of four waves 128 x 128.
__global__ __launch_bounds__(256, 1) void registers(const short* a, const short* b, float* c,
                                                    int n) {
  const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
  const int row0 = blockIdx.y * 128 + wave / 2 * 64, col0 = blockIdx.x * 128 + wave % 2 * 64;
  // Lanes 0 to 31 read k = 0..7 of their rows, the others k = 8..15.
  const auto from = [&](const short* x, int first, int tile) {
    return x + static_cast<size_t>(first + tile * 32 + lane % 32) * n + lane / 32 * 8;
  };
  const short* const at[4] = {from(a, row0, 0), from(a, row0, 1), from(b, col0, 0),
                              from(b, col0, 1)};
  Quad buffer[2][4];
  F32x16 sum[2][2] = {};
  const auto load = [&](int which, int k) {
#pragma unroll
    for (int x = 0; x < 4; ++x) buffer[which][x] = *reinterpret_cast<const Quad*>(at[x] + k);
  };
  const auto multiply = [&](int which) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          __asm__ volatile("v_mfma_f32_32x32x8_bf16 %0, %1, %2, %0"
                           : "+a"(sum[i][j])
                           : "v"(pieces(buffer[which][i]).half[half]),
                             "v"(pieces(buffer[which][2 + j]).half[half]));
  };
  load(0, 0);
  for (int k = 0; k < n; k += 32) {
    load(1, k + 16);
    multiply(0);
    if (k + 32 < n) load(0, k + 32);
    multiply(1);
  }
  __asm__ volatile("s_nop 15\n\ts_nop 15" ::: "memory");  // results of the last ones
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int e = 0; e < 16; ++e) {
        const int row = row0 + i * 32 + e / 4 * 8 + lane / 32 * 4 + e % 4;
        c[static_cast<size_t>(row) * n + col0 + j * 32 + lane % 32] = sum[i][j][e];
      }
}

// ---- direct ------------------------------------------------------------------------------------

constexpr int kBlock = 256, kStep = 32;  // rows of a block, k of a step: 64 bytes of a row

using Resource = __attribute__((ext_vector_type(4))) int;
using LdsPointer = __attribute__((address_space(3))) void*;
/// 4 bytes of each lane; `to` is the same in all lanes.
__device__ void load_to_lds(Resource, LdsPointer to, int size, int offset, int uniform_offset,
                            int constant_offset,
                            int policy) __asm("llvm.amdgcn.raw.buffer.load.lds");

/// Copies 256 rows of 64 bytes into LDS, 256 bytes with each instruction of a wave.
static __device__ void to_lds(const short* x, size_t first, int k, int n, short* lds) {
  const int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const auto address = reinterpret_cast<uint64_t>(x + first * n + k);
  const Resource resource = {static_cast<int>(address), static_cast<int>(address >> 32), 0x7fffffff,
                             0x00020000};
#pragma unroll
  for (int part = 0; part < 16; ++part) {
    const int rows = (part * 4 + wave) * 4;
    load_to_lds(resource, (LdsPointer)(lds + rows * kStep), 4,
                ((rows + lane / 16) * n + lane % 16 * 2) * 2, 0, 0, 0);
  }
}

/// A wave has 128 x 128 of C.
__global__ __launch_bounds__(256, 1) void direct(const short* a, const short* b, float* c, int n) {
  __shared__ __attribute__((aligned(16))) short lds[2][2][kBlock * kStep];
  const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
  const size_t row0 = blockIdx.y * kBlock, col0 = blockIdx.x * kBlock;
  F32x4 sum[8][8] = {};
  const auto fill = [&](int which, int k) {
    to_lds(a, row0, k, n, lds[which][0]);
    to_lds(b, col0, k, n, lds[which][1]);
  };
  const auto read = [&](int which, int operand, int tile) {
    const int row = (operand == 0 ? wave / 2 : wave % 2) * 128 + tile * 16 + lane % 16;
    return pieces(
        *reinterpret_cast<const Quad*>(&lds[which][operand][row * kStep + lane / 16 * 8]));
  };
  fill(0, 0);
  for (int k = 0, which = 0; k < n; k += kStep, which ^= 1) {
    __asm__ volatile("s_waitcnt vmcnt(0)" ::: "memory");
    __syncthreads();
    if (k + kStep < n) fill(which ^ 1, k + kStep);
    Pieces of_b[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) of_b[j] = read(which, 1, j);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const Pieces of_a = read(which, 0, i);
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          __asm__ volatile("v_mfma_f32_16x16x16_bf16 %0, %1, %2, %0"
                           : "+a"(sum[i][j])
                           : "v"(of_a.half[half]), "v"(of_b[j].half[half]));
    }
  }
  __asm__ volatile("s_nop 15\n\ts_nop 15" ::: "memory");
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const size_t row = row0 + wave / 2 * 128 + i * 16 + lane / 16 * 4 + e;
        c[row * n + col0 + wave % 2 * 128 + j * 16 + lane % 16] = sum[i][j][e];
      }
}

// ---- The host ----------------------------------------------------------------------------------

struct Buffers {
  short *a = nullptr, *b = nullptr;
  float* c = nullptr;
};

/// Multiples of 1/8, whose sums are exact in f32 in any order.
static float value(short bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(static_cast<uint16_t>(bits)) << 16);
}
static bool is_right(const Buffers& x, int n) {
  for (int at = 0; at < 4096; ++at) {
    const size_t row = static_cast<size_t>(at) * 7919 % n,
                 col = static_cast<size_t>(at) * 104729 % n;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += value(x.a[row * n + k]) * value(x.b[col * n + k]);
    if (x.c[row * n + col] != sum) {
      std::printf("C(%zu, %zu) is %g, not %g\n", row, col, x.c[row * n + col], sum);
      return false;
    }
  }
  return true;
}

template <typename Kernel>
static bool measure(const char* name, Kernel kernel, const Buffers& x, int n, int block,
                    int threads, int runs) {
  double least = 1e30;
  for (int run = 0; run < runs; ++run) {
    std::fill_n(x.c, static_cast<size_t>(n) * n, -1.0f);
    const auto begin = std::chrono::steady_clock::now();
    kernel<<<dim3(n / block, n / block), 256>>>(x.a, x.b, x.c, n);
    if (hipDeviceSynchronize() != hipSuccess) return false;
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%s ns=%.1f\n", name,
              least * 1e9 * threads / (static_cast<double>(n) * n * n / 4096));
  return is_right(x, n);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: production SIZE THREADS RUNS   (SIZE: a multiple of 256)\n");
    return 2;
  }
  const int n = std::atoi(argv[1]), threads = std::atoi(argv[2]), runs = std::atoi(argv[3]);
  Buffers x;
  const size_t count = static_cast<size_t>(n) * n;
  if (n < kBlock || n % kBlock != 0 || threads < 1 || runs < 1 ||
      hipMallocManaged(&x.a, count * 2) != hipSuccess ||
      hipMallocManaged(&x.b, count * 2) != hipSuccess ||
      hipMallocManaged(&x.c, count * 4) != hipSuccess)
    return 1;
  uint32_t random = 1;
  for (short* values : {x.a, x.b})
    for (size_t i = 0; i < count; ++i) {
      random = random * 1664525 + 1013904223;
      const float v = static_cast<float>(static_cast<int>(random >> 28) - 8) / 8;
      values[i] = static_cast<short>(std::bit_cast<uint32_t>(v) >> 16);
    }
  return measure("registers", registers, x, n, 128, threads, runs) &&
                 measure("direct", direct, x, n, kBlock, threads, runs)
             ? 0
             : 1;
}
