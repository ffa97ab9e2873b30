// Grouped GEMM: every group of rows of x is multiplied by its own matrix, y[rows] = x[rows] w[g]^T.
//
// The groups are ragged and known in device memory only, as in a mixture of experts: group g has
// the rows offsets[g] .. offsets[g + 1] - 1. The host launches the largest number of workgroups
// that can be needed; each walks over the offsets to find its block.
//
// A group is a view of x and y (row_range), made in the kernel. bounded() ends loads and stores at
// the edges of the view, so a block that hangs over its group neither reads nor writes the next
// one's rows.
#pragma once

#include "grouped_gemm.h"
#include "kittens.cuh"

namespace margay_grouped_gemm {

constexpr int kStepK = 64, kSlice = 16, kWaveTile = 64;
constexpr int kWaves = kThreads / kittens::WARP_THREADS;

struct Place {
  int group;      // -1: no block is left for this workgroup
  int block;      // of the group's rows
  int first_row;  // of the group
  int rows;
};

/// The number-th block of rows, counted through all groups.
KITTENS_DEVICE Place place_of(int number, const int* offsets, int groups) {
  for (int group = 0; group < groups; ++group) {
    const int first = offsets[group], rows = offsets[group + 1] - first;
    const int blocks = kittens::ceil_div(rows, kBlockM);
    if (number < blocks) return {group, number, first, rows};
    number -= blocks;
  }
  return {-1, 0, 0, 0};
}

KITTENS_DEVICE void grouped_gemm(const Globals& g) {
  using namespace kittens;
  using Workgroup = group<kWaves>;
  __shared__ st_bf<kBlockM, kStepK> x_shared;
  __shared__ st_bf<kBlockN, kStepK> w_shared;

  const Place place = place_of(blockIdx.y, g.offsets, g.w.depth());
  if (place.group < 0) return;
  const auto x = g.x.row_range(place.first_row, place.rows);
  const auto y = g.y.row_range(place.first_row, place.rows);
  const int col = blockIdx.x;
  const int wave_row = warpid() / 2, wave_col = warpid() % 2;

  rt_bf<kWaveTile, kSlice> a, b;
  rt_fl<kWaveTile, kWaveTile, col_l> sum;
  zero(sum);
  for (int step = 0; step < ceil_div(x.cols(), kStepK); ++step) {
    Workgroup::load(x_shared, bounded<8>(x), {place.block, step});
    Workgroup::load(w_shared, bounded<8>(g.w), {0, place.group, col, step});
    __syncthreads();
#pragma unroll
    for (int slice = 0; slice < kStepK / kSlice; ++slice) {
      load(a, subtile_inplace<kWaveTile, kSlice>(x_shared, {wave_row, slice}));
      load(b, subtile_inplace<kWaveTile, kSlice>(w_shared, {wave_col, slice}));
      mma_ABt(sum, a, b, sum);
    }
    __syncthreads();
  }
  store(bounded(y), sum, {2 * place.block + wave_row, 2 * col + wave_col});
}

}  // namespace margay_grouped_gemm
