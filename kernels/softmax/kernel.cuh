// Softmax of rows: one wave or four waves keep a row in registers, or eight waves read it twice.
//
// A naive vector holds element 64 w + L in lane L, so a wave reads 64 neighbours at a time, and the
// library's max() and sum() leave the result in all lanes. Beyond the end of a row bounded() gives
// zeros; right_fill() turns them into minus infinity, which affects neither the maximum nor the
// sum.
#pragma once

#include "kittens.cuh"
#include "plan.h"

namespace margay_softmax {

template <typename T>
struct Globals {
  kittens::gl<T, -1, -1, -1, -1> x, y;
};

using Part = kittens::rv_fl<kPart>;
constexpr float kHidden = -__builtin_inff();

/// x = e^(x - shift).
KITTENS_DEVICE void exponentials(Part& x, float shift) {
  using namespace kittens;
  constexpr float kLog2E = 1.44269504f;
  sub(x, x, shift);
  mul(x, x, kLog2E);
  exp2(x, x);
}

/// The summary of some elements of a row: the largest, and the sum of e^(element - largest).
struct Known {
  float largest = kHidden;
  float sum = 0;

  KITTENS_MEMBER void join(const Known& other) {
    const float both = __builtin_fmaxf(largest, other.largest);
    // Only minus infinities so far: their difference would be NaN.
    const float shift = both == kHidden ? 0 : both;
    sum = sum * __expf(largest - shift) + other.sum * __expf(other.largest - shift);
    largest = both;
  }
};

/// Puts e^(x - largest) into x.
KITTENS_DEVICE Known weigh(Part& x) {
  Known part;
  kittens::max(part.largest, x);
  exponentials(x, part.largest == kHidden ? 0 : part.largest);
  kittens::sum(part.sum, x);
  return part;
}

/// Combines the waves' summaries, with the result in all waves. `lds` is used once: no second
/// barrier.
template <int kWaves>
KITTENS_DEVICE Known of_all_waves(const Known& mine, float2 (&lds)[kWaves]) {
  if (kittens::laneid() == 0) lds[kittens::warpid()] = {mine.largest, mine.sum};
  __syncthreads();
  Known all;
#pragma unroll
  for (const float2& wave : lds) all.join({wave.x, wave.y});
  return all;
}

/// Part `at.c` of a row; minus infinity beyond its end.
template <typename T>
KITTENS_DEVICE void load_part(Part& x, const Globals<T>& g, const kittens::coord<Part>& at) {
  load(x, bounded(g.x), at);
  right_fill(x, x, g.x.cols() - at.c * kPart, kHidden);
}

template <typename T>
KITTENS_DEVICE void softmax_in_one_wave(const Globals<T>& g) {
  using namespace kittens;
  const int row = blockIdx.x * kShortRows + warpid();
  if (row >= g.x.rows()) return;
  Part x;
  load_part(x, g, {0, 0, row, 0});
  mul(x, x, 1 / weigh(x).sum);
  store(bounded(g.y), x, {0, 0, row, 0});
}

template <typename T>
KITTENS_DEVICE void softmax_in_four_waves(const Globals<T>& g) {
  using namespace kittens;
  __shared__ float2 lds[kMedium / kPart];
  const coord<Part> at = {0, 0, static_cast<int>(blockIdx.x), warpid()};
  Part x;
  load_part(x, g, at);
  const Known mine = weigh(x), all = of_all_waves(mine, lds);
  mul(x, x, __expf(mine.largest - all.largest) / all.sum);
  store(bounded(g.y), x, at);
}

template <typename T>
KITTENS_DEVICE void softmax_of_long_row(const Globals<T>& g) {
  using namespace kittens;
  constexpr int kWaves = kLongThreads / WARP_THREADS;
  __shared__ float2 lds[kWaves];
  const int row = blockIdx.x;
  const int parts = (g.x.cols() + kPart - 1) / kPart;
  Part x;
  Known mine;
  for (int part = warpid(); part < parts; part += kWaves) {
    load_part(x, g, {0, 0, row, part});
    mine.join(weigh(x));
  }
  const Known all = of_all_waves(mine, lds);
  for (int part = warpid(); part < parts; part += kWaves) {
    load(x, bounded(g.x), {0, 0, row, part});
    exponentials(x, all.largest);
    mul(x, x, 1 / all.sum);
    store(bounded(g.y), x, {0, 0, row, part});
  }
}

}  // namespace margay_softmax
