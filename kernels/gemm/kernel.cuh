// The GEMM kernel: block 256x256, K in steps of 64, eight waves of 128x64 each.
//
// One LDS buffer per operand (64 KiB together, all a workgroup can have); the next step's chunks
// are in flight to registers while the waves compute:
//
//   fetch(k+1) -> compute(k) -> barrier -> put(k+1) -> barrier -> ...
//
// The first barrier separates the last read of the tiles from their refill, the second the refill
// from the first read. __syncthreads() waits for this wave's LDS accesses before it arrives, and
// does not wait for the fetches.
//
// The accumulators hold C^T: with B as the left operand of the MFMA a lane ends up with four
// neighbours of a row of C instead of a column, so C is stored 16 bytes at a time.
#pragma once

#include "epilogue.cuh"
#include "panel.cuh"

namespace margay_gemm {

constexpr int kWavesM = 2;
constexpr int kWavesN = 4;
constexpr int kWaveM = kBlockM / kWavesM;
constexpr int kWaveN = kBlockN / kWavesN;
constexpr int kSlice = 16;  // the k of one MFMA

/// Order of the blocks: runs of 32 ids on one die, and within them bands four blocks high, so that
/// the blocks that run together on a die share rows of A and columns of B in its L2.
KITTENS_DEVICE kittens::block_place block_of_workgroup(int m_blocks, int n_blocks) {
  constexpr int kRun = 32;
  constexpr int kBand = 4;
  const int id =
      kittens::chiplet_transform_chunked(blockIdx.x, m_blocks * n_blocks, kittens::NUM_XCDS, kRun);
  return kittens::band_order(id, m_blocks, n_blocks, kBand);
}

template <bool kTransposeB, bool kWhole, typename Out>
KITTENS_DEVICE void gemm(const Arguments& args) {
  using namespace kittens;
  __shared__ Tile a_tile;
  __shared__ Tile b_tile;

  const block_place block =
      block_of_workgroup(ceil_div(args.m, kBlockM), ceil_div(args.n, kBlockN));
  const int first_m = block.row * kBlockM;
  const int first_n = block.col * kBlockN;
  const int wave_m = warpid() / kWavesN;
  const int wave_n = warpid() % kWavesN;

  using BPanel = std::conditional_t<kTransposeB, KMajorPanel<kWhole>, NMajorPanel<kWhole>>;
  KMajorPanel<kWhole> a_panel(args.a, first_m, args.m - first_m, args.lda);
  BPanel b_panel(args.b, first_n, args.n - first_n, args.ldb);

  rt_fl<kWaveN, kWaveM, col_l> c_transposed;
  zero(c_transposed);

  const auto fetch = [&](int step) {
    const int k_left = args.k - step * kStepK;
    if (k_left >= kStepK) {
      a_panel.template fetch<false>(k_left);
      b_panel.template fetch<false>(k_left);
    } else {
      a_panel.template fetch<true>(k_left);
      b_panel.template fetch<true>(k_left);
    }
  };
  const auto compute = [&] {
#pragma unroll
    for (int slice = 0; slice < kStepK / kSlice; ++slice) {
      rt_bf<kWaveM, kSlice> a;
      rt_bf<kWaveN, kSlice> b;
      load(a, subtile_inplace<kWaveM, kSlice>(a_tile, {wave_m, slice}));
      load(b, subtile_inplace<kWaveN, kSlice>(b_tile, {wave_n, slice}));
      mma_ABt(c_transposed, b, a, c_transposed);
    }
  };

  const int steps = ceil_div(args.k, kStepK);
  if (steps > 0) {
    fetch(0);
    a_panel.put(a_tile);
    b_panel.put(b_tile);
    __syncthreads();
    for (int step = 1; step < steps; ++step) {
      // Element-wise reads keep one register per element until they arrive: too many in addition to
      // the accumulators and operands, so they are not overlapped.
      if constexpr (kWhole) fetch(step);
      compute();
      __syncthreads();
      if constexpr (!kWhole) fetch(step);
      a_panel.put(a_tile);
      b_panel.put(b_tile);
      __syncthreads();
    }
    compute();
  }

  write_result<Out>(args, c_transposed, first_m + wave_m * kWaveM, first_n + wave_n * kWaveN);
}

}  // namespace margay_gemm
