// Level 1: one wave makes a 64x64 block of C = A B.
//
// The three kinds of memory and the moves between them:
//   gl  global memory    load(st, gl)   16 bytes per lane, through registers into LDS
//   st LDS load(rt, st) into the layout that the matrix unit requires
//   rt  registers        mma_AB         64 x 64 x 64 = 64 MFMA instructions of 16x16x16
//
// A tile's layout says which lane holds which elements. mma_AB takes A in row layout (a lane has
// four neighbours of a row) and B in col layout (four neighbours of a column); the sums are in col
// layout.
#include "../ladder.cuh"

namespace level01 {

using namespace kittens;

constexpr int kBlockM = 64, kBlockN = 64, kStepK = 64;
constexpr int kThreads = WARP_THREADS;

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level01(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared;
  __shared__ st_bf<kStepK, kBlockN> b_shared;

  rt_bf<kBlockM, kStepK, row_l> a;
  rt_bf<kStepK, kBlockN, col_l> b;
  rt_fl<kBlockM, kBlockN, col_l> c;
  zero(c);

  const int row = blockIdx.y, col = blockIdx.x;
  const int steps = g.a.cols() / kStepK;
  for (int step = 0; step < steps; ++step) {
    // Coordinates {batch, depth, row, column} count tiles, not elements.
    load(a_shared, g.a, {0, 0, row, step});
    load(b_shared, g.b, {0, 0, step, col});
    // No barrier: LDS does the accesses of one wave in the order in which the wave issues them.
    load(a, a_shared);
    load(b, b_shared);
    mma_AB(c, a, b, c);
  }
  store(g.c, c, {0, 0, row, col});
}

}  // namespace level01
