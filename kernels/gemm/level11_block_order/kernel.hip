// Level 11: which workgroup makes which block. The kernel is level 10's but for three lines.
//
// Blocks in one row of C share A, those in one column share B, and the others find in L2 what one
// of them fetched, if they run at the same time on the same die. An MI325X has eight dies (XCD),
// each with an L2 of its own, and consecutive workgroups are distributed over them in turn:
// neighbours never share. Two steps fix that:
//   - chiplet_transform_chunked gives each die runs of 32 consecutive ids;
//   - band_order lets consecutive ids go down four rows before they continue with the next column.
//     A run
//     is then 4 x 8 blocks, which need 4 panels of A and 8 of B; 32 blocks of a row need 1 + 32.
#include "../ladder.cuh"

namespace level11 {

using namespace kittens;

constexpr int kBlockM = 256, kBlockN = 256, kStepK = 64, kSlice = 16;
constexpr int kWaves = 8, kThreads = kWaves * WARP_THREADS;
constexpr int kTile = 32, kDown = 2, kAcross = 4;  // accumulators of a wave
constexpr int kXcdChunk = 32, kBand = 4;
constexpr int kChunks = kBlockM * kStepK * sizeof(bf16) / sizeof(float4) / kThreads;  // per thread

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level11(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared;
  __shared__ st_bf<kBlockN, kStepK> b_shared;
  float4 a_next[kChunks], b_next[kChunks];

  rt_bf<kTile, kSlice> a[kDown], b[2];
  rt_fl<kTile, kTile, col_l> c[kDown][kAcross];
#pragma unroll
  for (auto& line : c) {
#pragma unroll
    for (auto& part : line) zero(part);
  }

  const int rows = g.c.rows() / kBlockM, cols = g.c.cols() / kBlockN;
  const int id = chiplet_transform_chunked(blockIdx.x, rows * cols, NUM_XCDS, kXcdChunk);
  const auto [row, col] = band_order(id, rows, cols, kBand);
  const int first_row = warpid() / 2 * kDown, first_col = warpid() % 2 * kAcross;

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
  const auto read_b = [&](int j, int slice) {
    load(b[j % 2], subtile_inplace<kTile, kSlice>(b_shared, {first_col + j, slice}));
  };
  const auto compute = [&] {
#pragma unroll
    for (int slice = 0; slice < kStepK / kSlice; ++slice) {
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
        load(a[i], subtile_inplace<kTile, kSlice>(a_shared, {first_row + i, slice}));
      }
      read_b(0, slice);
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        if (j + 1 < kAcross) read_b(j + 1, slice);
        __builtin_amdgcn_sched_barrier(0);  // as in level 6: the read stays before the MFMA
#pragma unroll
        for (int i = 0; i < kDown; ++i) mma_ABt(c[i][j], a[i], b[j % 2], c[i][j]);
      }
    }
  };

  fetch(0);
  put();
  __syncthreads();
  const int steps = g.a.cols() / kStepK;
  for (int step = 1; step < steps; ++step) {
    fetch(step);
    __builtin_amdgcn_sched_barrier(0);
    compute();
    __syncthreads();
    put();
    __syncthreads();
  }
  compute();
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      store(g.c, c[i][j], {0, 0, 8 * row + first_row + i, 8 * col + first_col + j});
    }
  }
}

}  // namespace level11
