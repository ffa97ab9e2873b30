// Level 4: two buffers in LDS, tic and toc. While the waves compute from one, they fill the other.
//
// With one buffer every step has two barriers: the readers wait for the writers, then the writers
// for the readers. With two, one barrier does both: behind it the filled buffer may be read and the
// read one refilled. The steps are half as deep, so that two buffers take no more LDS than one did.
#include "../ladder.cuh"

namespace level04 {

using namespace kittens;

constexpr int kBlockM = 128, kBlockN = 128, kStepK = 32;
constexpr int kWaves = 4, kThreads = kWaves * WARP_THREADS;
constexpr int kWaveM = 64, kWaveN = 64;
using G = group<kWaves>;

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level04(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared[2];
  __shared__ st_bf<kBlockN, kStepK> b_shared[2];

  rt_bf<kWaveM, kStepK> a;
  rt_bf<kWaveN, kStepK> b;
  rt_fl<kWaveM, kWaveN, col_l> c;
  zero(c);

  const int row = blockIdx.y, col = blockIdx.x;
  const int wave_row = warpid() / 2, wave_col = warpid() % 2;
  const int steps = g.a.cols() / kStepK;

  G::load(a_shared[0], g.a, {0, 0, row, 0});
  G::load(b_shared[0], g.b, {0, 0, col, 0});
  __syncthreads();
  for (int step = 0, tic = 0; step < steps; ++step, tic ^= 1) {
    if (step + 1 < steps) {
      G::load(a_shared[tic ^ 1], g.a, {0, 0, row, step + 1});
      G::load(b_shared[tic ^ 1], g.b, {0, 0, col, step + 1});
    }
    load(a, subtile_inplace<kWaveM, kStepK>(a_shared[tic], {wave_row, 0}));
    load(b, subtile_inplace<kWaveN, kStepK>(b_shared[tic], {wave_col, 0}));
    mma_ABt(c, a, b, c);
    __syncthreads();
  }
  store(g.c, c, {0, 0, 2 * row + wave_row, 2 * col + wave_col});
}

}  // namespace level04
