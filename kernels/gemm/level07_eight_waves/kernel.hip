// Level 7: eight waves in two halves.
//
// A compute unit has four SIMDs, and wave w runs on SIMD w % 4: with four waves each SIMD has one,
// and idles whenever that one waits. Now each has two, one of either half. The halves divide the
// work twice: half 0 fetches A and half 1 fetches B, and half h makes the 64 rows h of the block,
// its four waves 32 columns each.
#include "../ladder.cuh"

namespace level07 {

using namespace kittens;

constexpr int kBlockM = 128, kBlockN = 128, kStepK = 32, kSlice = 16;
constexpr int kWaves = 8, kThreads = kWaves * WARP_THREADS;
constexpr int kWaveM = 64, kWaveN = 32;
using Half = group<kWaves / 2>;

extern "C" __global__ __launch_bounds__(kThreads) void gemm_level07(const ladder::Globals g) {
  __shared__ st_bf<kBlockM, kStepK> a_shared[2];
  __shared__ st_bf<kBlockN, kStepK> b_shared[2];

  rt_bf<kWaveM, kSlice> a[2];
  rt_bf<kWaveN, kSlice> b[2];
  rt_fl<kWaveM, kWaveN, col_l> c;
  zero(c);

  const int row = blockIdx.y, col = blockIdx.x;
  const int half = Half::groupid(), wave_col = Half::warpid();
  const int steps = g.a.cols() / kStepK;
  const auto fetch = [&](int buffer, int step) {
    if (half == 0) {
      Half::load(a_shared[buffer], g.a, {0, 0, row, step});
    } else {
      Half::load(b_shared[buffer], g.b, {0, 0, col, step});
    }
  };
  const auto read = [&](int set, int buffer, int slice) {
    load(a[set], subtile_inplace<kWaveM, kSlice>(a_shared[buffer], {half, slice}));
    load(b[set], subtile_inplace<kWaveN, kSlice>(b_shared[buffer], {wave_col, slice}));
    __builtin_amdgcn_sched_barrier(0);
  };

  // Otherwise the compiler loads C's address before the loop, for the case of zero iterations, and
  // the loop's first wait covers that load too.
  __builtin_assume(steps > 0);
  fetch(0, 0);
  __syncthreads();
  read(0, 0, 0);
  for (int step = 0, tic = 0; step < steps; ++step, tic ^= 1) {
    if (step + 1 < steps) fetch(tic ^ 1, step + 1);
    read(1, tic, 1);
    mma_ABt(c, a[0], b[0], c);
    __builtin_amdgcn_sched_barrier(0);
    __syncthreads();
    if (step + 1 < steps) read(0, tic ^ 1, 0);
    mma_ABt(c, a[1], b[1], c);
  }
  store(g.c, c, {0, 0, 2 * row + half, 4 * col + wave_col});
}

}  // namespace level07
