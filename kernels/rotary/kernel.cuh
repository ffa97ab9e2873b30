// Rotary embedding: a wave keeps cos and sin of 16 positions and goes over eight heads with them.
//
// The two halves of a head are two tiles side by side, so the elements of a pair are at the same
// place of two register tiles: the rotation is four products, tile by tile.
#pragma once

#include "kittens.cuh"
#include "plan.h"

namespace margay_rotary {

using Matrix = kittens::gl<kittens::bf16, -1, -1, -1, -1>;

/// The arguments as types of kittens.
struct Globals {
  Matrix x, cos, sin, y;
};
static_assert(sizeof(Globals) == sizeof(Arguments));

template <int kDim>
KITTENS_DEVICE void rotary(const Globals& g) {
  using namespace kittens;
  constexpr int kWaves = kThreads / WARP_THREADS;
  using Half = rt_fl<kBlockRows / kWaves, kDim / 2>;

  const int band = blockIdx.x * kWaves + warpid();
  Half cosines, sines;
  load(cosines, bounded<kDim / 2>(g.cos), {0, 0, band, 0});
  load(sines, bounded<kDim / 2>(g.sin), {0, 0, band, 0});

  const int per_row = g.x.cols() / kDim;
  const int heads = g.x.depth() * per_row;
  const int first = blockIdx.y * kHeadsPerBlock;
  const int end = first + kHeadsPerBlock < heads ? first + kHeadsPerBlock : heads;
  for (int head = first; head < end; ++head) {
    const coord<Half> low = {static_cast<int>(blockIdx.z), head / per_row, band,
                             head % per_row * 2};
    const coord<Half> high = {low.b, low.d, low.r, low.c + 1};
    Half x1, x2, y, crossed;
    load(x1, bounded<kDim / 2>(g.x), low);
    load(x2, bounded<kDim / 2>(g.x), high);
    mul(y, x1, cosines);
    mul(crossed, x2, sines);
    sub(y, y, crossed);
    store(bounded<kDim / 2>(g.y), y, low);
    mul(y, x2, cosines);
    mul(crossed, x1, sines);
    add(y, y, crossed);
    store(bounded<kDim / 2>(g.y), y, high);
  }
}

}  // namespace margay_rotary
