// Layernorm of a row that one to eight waves keep in registers, as floats, 1024 elements each.
//
// The mean is subtracted before the squares are summed: sum(s^2) - n mean^2 would cancel. A naive
// vector holds element 64 w + L in lane L; beyond the end of the row bounded() reads zeros, which
// do not affect the sum, and after the mean is subtracted right_fill() restores the zeros.
#pragma once

#include "kittens.cuh"
#include "plan.h"

namespace margay_layernorm {

using Matrix = kittens::gl<kittens::bf16, -1, -1, -1, -1>;

/// The arguments as types of kittens.
struct Globals {
  Matrix x, residual, weight, bias, y, sum;
  float eps;
};
static_assert(sizeof(Globals) == sizeof(Arguments));

using Part = kittens::rv_fl<kPart>;

/// The sum of the waves' values, in all waves. `parts` is used once: no second barrier.
template <int kWaves>
KITTENS_DEVICE float sum_of_waves(float mine, float (&parts)[kWaves]) {
  if constexpr (kWaves == 1) return mine;
  if (kittens::laneid() == 0) parts[kittens::warpid()] = mine;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (const float part : parts) total += part;
  return total;
}

template <int kWaves>
KITTENS_DEVICE void layernorm(const Globals& g) {
  using namespace kittens;
  __shared__ float totals[kWaves];
  __shared__ float squares[kWaves];
  const coord<Part> at = {0, 0, static_cast<int>(blockIdx.x), warpid()};
  const coord<Part> first_row = {0, 0, 0, warpid()};
  const int cols = g.x.cols();

  Part s, other;
  load(s, bounded(g.x), at);
  if (g.residual.raw_ptr != nullptr) {
    load(other, bounded(g.residual), at);
    add(s, s, other);
  }
  if (g.sum.raw_ptr != nullptr) store(bounded(g.sum), s, at);

  float total;
  sum(total, s);
  sub(s, s, sum_of_waves(total, totals) / cols);
  right_fill(s, s, cols - warpid() * kPart);
  mul(other, s, s);
  sum(total, other);
  const float variance = sum_of_waves(total, squares) / cols;
  mul(s, s, 1 / __builtin_sqrtf(variance + g.eps));

  if (g.weight.raw_ptr != nullptr) {
    load(other, bounded(g.weight), first_row);
    mul(s, s, other);
  }
  if (g.bias.raw_ptr != nullptr) {
    load(other, bounded(g.bias), first_row);
    add(s, s, other);
  }
  store(bounded(g.y), s, at);
}

}  // namespace margay_layernorm
