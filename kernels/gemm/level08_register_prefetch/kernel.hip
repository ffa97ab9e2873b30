// Level 8: a block of 256x256, with the next step's tiles in flight to registers while this one's
// are used.
//
// load(st, gl) holds its wave until the tile is in LDS. Split in two, its first half issues the
// loads into a buffer of registers, before the arithmetic, and its second half writes the buffer to
// LDS, after it: the latency is hidden. One LDS buffer is enough, with two barriers around the
// refill. A wave keeps two accumulators of 64x64: 128 registers, half of what each of two waves on
// a SIMD can have. So each operand that is read from LDS feeds more MFMA instructions than with
// one.
#include "../ladder.cuh"

namespace level08 {

using namespace kittens;

constexpr int kBlockM = 256, kBlockN = 256, kStepK = 32, kSlice = 16;
constexpr int kWaves = 8, kThreads = kWaves * WARP_THREADS;
constexpr int kTile = 64;
constexpr int kChunks = kBlockM * kStepK * sizeof(bf16) / sizeof(float4) / kThreads;  // per thread

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level08(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared;
  __shared__ st_bf<kBlockN, kStepK> b_shared;
  float4 a_next[kChunks], b_next[kChunks];

  rt_bf<kTile, kSlice> a, b;
  rt_fl<kTile, kTile, col_l> c[2];
#pragma unroll  // an array of tiles stays in registers if all its indices are constants
  for (auto& part : c) zero(part);

  const int row = blockIdx.y, col = blockIdx.x;
  const int wave_row = warpid() / 2, wave_col = warpid() % 2;

  const auto fetch = [&](int step) {
    load_global_to_register_buffer<2, true, kThreads>(a_next, kChunks, g.a, {0, 0, row, step},
                                                      a_shared);
    load_global_to_register_buffer<2, true, kThreads>(b_next, kChunks, g.b, {0, 0, col, step},
                                                      b_shared);
  };
  const auto put = [&] {
    store_register_buffer_to_shared<kThreads>(a_shared, a_next);
    store_register_buffer_to_shared<kThreads>(b_shared, b_next);
  };
  const auto compute = [&] {
#pragma unroll
    for (int slice = 0; slice < kStepK / kSlice; ++slice) {
      load(a, subtile_inplace<kTile, kSlice>(a_shared, {wave_row, slice}));
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        load(b, subtile_inplace<kTile, kSlice>(b_shared, {wave_col + 2 * i, slice}));
        mma_ABt(c[i], a, b, c[i]);
      }
    }
  };

  fetch(0);
  put();
  __syncthreads();
  const int steps = g.a.cols() / kStepK;
  for (int step = 1; step < steps; ++step) {
    fetch(step);
    __builtin_amdgcn_sched_barrier(0);  // else the compiler may issue a load late
    compute();
    __syncthreads();  // waits for the reads of the tiles, not for the fetch
    put();
    __syncthreads();
  }
  compute();
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    store(g.c, c[i], {0, 0, 4 * row + wave_row, 4 * col + wave_col + 2 * i});
  }
}

}  // namespace level08
