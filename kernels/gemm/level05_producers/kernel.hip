// Level 5: four waves only load (producers), four only compute (consumers).
//
// In level 4 a wave that waits for global memory cannot compute meanwhile: load() returns when the
// tile is in LDS. Here the waits are the producers' and the matrix instructions the consumers', and
// the hardware runs any wave of a SIMD that can continue. All eight must reach the same barriers,
// so the roles branch around the work and never around __syncthreads().
#include "../ladder.cuh"

namespace level05 {

using namespace kittens;

constexpr int kBlockM = 128, kBlockN = 128, kStepK = 32;
constexpr int kProducers = 4, kConsumers = 4;
constexpr int kThreads = (kProducers + kConsumers) * WARP_THREADS;
constexpr int kWaveM = 64, kWaveN = 64;
using G = group<kProducers>;  // group 0 is waves 0 to 3, group 1 waves 4 to 7

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level05(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared[2];
  __shared__ st_bf<kBlockN, kStepK> b_shared[2];

  rt_bf<kWaveM, kStepK> a;
  rt_bf<kWaveN, kStepK> b;
  rt_fl<kWaveM, kWaveN, col_l> c;
  zero(c);

  const int row = blockIdx.y, col = blockIdx.x;
  const bool producer = G::groupid() == 1;
  const int wave_row = G::warpid() / 2, wave_col = G::warpid() % 2;
  const int steps = g.a.cols() / kStepK;

  if (producer) {
    G::load(a_shared[0], g.a, {0, 0, row, 0});
    G::load(b_shared[0], g.b, {0, 0, col, 0});
  }
  __syncthreads();
  for (int step = 0, tic = 0; step < steps; ++step, tic ^= 1) {
    if (producer) {
      if (step + 1 < steps) {
        G::load(a_shared[tic ^ 1], g.a, {0, 0, row, step + 1});
        G::load(b_shared[tic ^ 1], g.b, {0, 0, col, step + 1});
      }
    } else {
      load(a, subtile_inplace<kWaveM, kStepK>(a_shared[tic], {wave_row, 0}));
      load(b, subtile_inplace<kWaveN, kStepK>(b_shared[tic], {wave_col, 0}));
      mma_ABt(c, a, b, c);
    }
    __syncthreads();
  }
  if (!producer) store(g.c, c, {0, 0, 2 * row + wave_row, 2 * col + wave_col});
}

}  // namespace level05
