// Level 3: C = A B^T. B is stored n x k, so that both operands have k along their rows.
//
// The matrix unit takes four neighbours in k from each lane, of A and of B. In a B stored k x n
// they are in four rows, and level 2 reads each with an LDS instruction of its own, 2 bytes at a
// time. Here they are side by side: one 8-byte read, of a tile in row layout, for A and B alike.
#include "../ladder.cuh"

namespace level03 {

using namespace kittens;

constexpr int kBlockM = 128, kBlockN = 128, kStepK = 64;
constexpr int kWaves = 4, kThreads = kWaves * WARP_THREADS;
constexpr int kWaveM = 64, kWaveN = 64;
using G = group<kWaves>;

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level03(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared;
  __shared__ st_bf<kBlockN, kStepK> b_shared;

  rt_bf<kWaveM, kStepK> a;
  rt_bf<kWaveN, kStepK> b;
  rt_fl<kWaveM, kWaveN, col_l> c;
  zero(c);

  const int row = blockIdx.y, col = blockIdx.x;
  const int wave_row = warpid() / 2, wave_col = warpid() % 2;
  const int steps = g.a.cols() / kStepK;
  for (int step = 0; step < steps; ++step) {
    G::load(a_shared, g.a, {0, 0, row, step});
    G::load(b_shared, g.b, {0, 0, col, step});
    __syncthreads();
    load(a, subtile_inplace<kWaveM, kStepK>(a_shared, {wave_row, 0}));
    load(b, subtile_inplace<kWaveN, kStepK>(b_shared, {wave_col, 0}));
    mma_ABt(c, a, b, c);
    __syncthreads();
  }
  store(g.c, c, {0, 0, 2 * row + wave_row, 2 * col + wave_col});
}

}  // namespace level03
