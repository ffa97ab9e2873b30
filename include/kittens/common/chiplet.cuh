// Workgroup order for a GPU made of several dies.
#pragma once

#include "config.cuh"

namespace kittens {

/// The hardware deals consecutive workgroup ids round the dies, one each. This renumbers them so
/// that every die gets runs of `chunk` consecutive ids, whose data then meets in that die's L2.
/// Ids of the last, incomplete round stay as they are. Bijective on [0, num_workgroups).
KITTENS_HD constexpr int chiplet_transform_chunked(int workgroup_id, int num_workgroups,
                                                   int num_xcds, int chunk) {
  const int round = num_xcds * chunk;
  const int limit = num_workgroups / round * round;
  if (workgroup_id >= limit) return workgroup_id;
  const int xcd = workgroup_id % num_xcds;
  const int within_xcd = workgroup_id / num_xcds;
  return within_xcd / chunk * round + xcd * chunk + within_xcd % chunk;
}

/// Row and column of a block in the grid of blocks that cover a matrix.
struct block_place {
  int row;
  int col;
};

/// Ids go down the rows of a band of `band_rows` block rows, then on to the next column, and band
/// by band. Blocks that run at the same time then form a rectangle, and share rows of A and columns
/// of B in L2. The last band may be lower. Bijective on [0, block_rows * block_cols).
KITTENS_HD constexpr block_place band_order(int id, int block_rows, int block_cols, int band_rows) {
  const int band = id / (band_rows * block_cols);
  const int in_band = id % (band_rows * block_cols);
  const int left = block_rows - band * band_rows;
  const int height = left < band_rows ? left : band_rows;
  return {band * band_rows + in_band % height, in_band / height};
}

}  // namespace kittens
