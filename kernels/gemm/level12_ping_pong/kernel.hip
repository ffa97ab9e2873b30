// Level 12: ping-pong. The two halves of the waves take turns: while one half reads its operands
// from LDS, the other, on the same four SIMDs, does nothing but MFMA. Then they swap roles.
//
// Every wave goes through the same phases, and a barrier ends each:
//     read, multiply, read, multiply, put (the next tiles into LDS), fetch (those after the next)
// Half 1 meets one more barrier before its first phase, so it is always one phase behind. That also
// makes the refill safe: when half 0 puts, half 1 has read; when half 0 reads again, half 1 has
// put.
// __syncthreads() at the end of a phase waits for the wave's LDS accesses, not for its fetches. The
// priority lets MFMA go first where both halves have an instruction ready.
#include "../ladder.cuh"

namespace level12 {

using namespace kittens;

constexpr int kBlockM = 256, kBlockN = 256, kStepK = 64, kSlice = 32;
constexpr int kWaves = 8, kThreads = kWaves * WARP_THREADS;
constexpr int kWaveM = 128, kWaveN = 64;
constexpr int kXcdChunk = 32, kBand = 4;
constexpr int kChunks = kBlockM * kStepK * sizeof(bf16) / sizeof(float4) / kThreads;  // per thread

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level12(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared;
  __shared__ st_bf<kBlockN, kStepK> b_shared;
  float4 a_next[kChunks], b_next[kChunks];

  rt_bf<kWaveM, kSlice> a;
  rt_bf<kWaveN, kSlice> b;
  rt_fl<kWaveM, kWaveN, col_l> c;
  zero(c);

  const int rows = g.c.rows() / kBlockM, cols = g.c.cols() / kBlockN;
  const int id = chiplet_transform_chunked(blockIdx.x, rows * cols, NUM_XCDS, kXcdChunk);
  const auto [row, col] = band_order(id, rows, cols, kBand);
  const int half = warpid() / 4, wave_col = warpid() % 4;
  const int steps = g.a.cols() / kStepK;

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
  const auto end_phase = [] {
    __builtin_amdgcn_sched_barrier(0);  // no instruction moves into another phase
    __syncthreads();
    __builtin_amdgcn_sched_barrier(0);
  };

  fetch(0);
  put();
  if (steps > 1) fetch(1);
  end_phase();
  if (half == 1) end_phase();
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int slice = 0; slice < kStepK / kSlice; ++slice) {
      load(a, subtile_inplace<kWaveM, kSlice>(a_shared, {half, slice}));
      load(b, subtile_inplace<kWaveN, kSlice>(b_shared, {wave_col, slice}));
      end_phase();
      __builtin_amdgcn_s_setprio(1);
      mma_ABt(c, a, b, c);
      __builtin_amdgcn_s_setprio(0);
      end_phase();
    }
    if (step + 1 < steps) put();
    end_phase();
    if (step + 2 < steps) fetch(step + 2);
    end_phase();
  }
  if (half == 0) end_phase();
  store(g.c, c, {0, 0, 2 * row + half, 4 * col + wave_col});
}

}  // namespace level12
