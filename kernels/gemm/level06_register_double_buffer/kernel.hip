// Level 6: two sets of operand registers. The LDS reads of the next slice of k are issued before
// the matrix instructions of this one, and overlap with them.
//
// No producers any more: a load from LDS is asynchronous by itself, and the compiler puts the wait
// where the registers are first used. So it is enough to use them late. The steps in LDS are cut
// into slices of 16, one MFMA deep, which keeps two sets cheap. The barrier is before the last
// slice's arithmetic: by then all reads of this buffer are done, and those of the next one can
// begin.
#include "../ladder.cuh"

namespace level06 {

using namespace kittens;

constexpr int kBlockM = 128, kBlockN = 128, kStepK = 32, kSlice = 16;
constexpr int kWaves = 4, kThreads = kWaves * WARP_THREADS;
constexpr int kWaveM = 64, kWaveN = 64;
using G = group<kWaves>;

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level06(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared[2];
  __shared__ st_bf<kBlockN, kStepK> b_shared[2];

  rt_bf<kWaveM, kSlice> a[2];
  rt_bf<kWaveN, kSlice> b[2];
  rt_fl<kWaveM, kWaveN, col_l> c;
  zero(c);

  const int row = blockIdx.y, col = blockIdx.x;
  const int wave_row = warpid() / 2, wave_col = warpid() % 2;
  const int steps = g.a.cols() / kStepK;
  const auto read = [&](int set, int buffer, int slice) {
    load(a[set], subtile_inplace<kWaveM, kSlice>(a_shared[buffer], {wave_row, slice}));
    load(b[set], subtile_inplace<kWaveN, kSlice>(b_shared[buffer], {wave_col, slice}));
    __builtin_amdgcn_sched_barrier(0);  // the compiler may not move the reads down to their use
  };

  G::load(a_shared[0], g.a, {0, 0, row, 0});
  G::load(b_shared[0], g.b, {0, 0, col, 0});
  __syncthreads();
  read(0, 0, 0);
  for (int step = 0, tic = 0; step < steps; ++step, tic ^= 1) {
    if (step + 1 < steps) {
      G::load(a_shared[tic ^ 1], g.a, {0, 0, row, step + 1});
      G::load(b_shared[tic ^ 1], g.b, {0, 0, col, step + 1});
    }
    read(1, tic, 1);
    mma_ABt(c, a[0], b[0], c);
    __builtin_amdgcn_sched_barrier(0);  // nor the barrier, which waits for the reads, up
    __syncthreads();
    if (step + 1 < steps) read(0, tic ^ 1, 0);
    mma_ABt(c, a[1], b[1], c);
  }
  store(g.c, c, {0, 0, 2 * row + wave_row, 2 * col + wave_col});
}

}  // namespace level06
