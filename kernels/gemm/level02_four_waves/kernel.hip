// Level 2: four waves share a 128x128 block of C = A B; each makes a 64x64 quarter of it.
//
// A group loads the block's tiles once, and every byte of them is read by two waves: half the
// traffic from memory for the same arithmetic. The price is that waves must wait for each other:
// one barrier before the tiles are read (all parts have arrived) and one after (no wave needs them
// any more), because neither load() nor store() contains one.
#include "../ladder.cuh"

namespace level02 {

using namespace kittens;

constexpr int kBlockM = 128, kBlockN = 128, kStepK = 64;
constexpr int kWaves = 4, kThreads = kWaves * WARP_THREADS;
constexpr int kWaveM = 64, kWaveN = 64;
using G = group<kWaves>;

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level02(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared;
  __shared__ st_bf<kStepK, kBlockN> b_shared;

  rt_bf<kWaveM, kStepK, row_l> a;
  rt_bf<kStepK, kWaveN, col_l> b;
  rt_fl<kWaveM, kWaveN, col_l> c;
  zero(c);

  const int row = blockIdx.y, col = blockIdx.x;
  const int wave_row = warpid() / 2, wave_col = warpid() % 2;
  const int steps = g.a.cols() / kStepK;
  for (int step = 0; step < steps; ++step) {
    G::load(a_shared, g.a, {0, 0, row, step});
    G::load(b_shared, g.b, {0, 0, step, col});
    __syncthreads();
    load(a, subtile_inplace<kWaveM, kStepK>(a_shared, {wave_row, 0}));
    load(b, subtile_inplace<kStepK, kWaveN>(b_shared, {0, wave_col}));
    mma_AB(c, a, b, c);
    __syncthreads();
  }
  // Tiles of 64x64 now, so two to a block.
  store(g.c, c, {0, 0, 2 * row + wave_row, 2 * col + wave_col});
}

}  // namespace level02
