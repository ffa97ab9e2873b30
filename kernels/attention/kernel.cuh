// The attention kernel: 128 queries of one head, four waves with 32 queries each, keys and values
// in steps of 64.
//
// Everything is computed transposed, queries across:
//
//   S^T = K Q^T mma_ABt: K and Q both have dim along their rows, as in memory
//   P^T = softmax        down the columns, which lanes hold in runs (softmax.cuh)
//   O^T = V^T P^T        mma_AB: the accumulator S^T has the layout of its right operand (col), so
//                        P^T is a conversion to bf16 away: no shuffle, no trip through LDS
//
// V^T is read from a row-major tile by a choice of row order (values.cuh). So no tile ever changes
// its layout.
//
// One LDS buffer each for keys and values; the next tiles are in flight to registers meanwhile:
//
//   fetch(t+1) -> compute(t) -> barrier -> put(t+1) -> barrier -> ...
//
// While one workgroup waits or takes exponentials, another on the same compute unit multiplies.
#pragma once

#include "plan.h"
#include "softmax.cuh"
#include "values.cuh"

namespace margay_attention {

/// The arguments as types of kittens.
struct Globals {
  using Matrix = kittens::gl<kittens::bf16, -1, -1, -1, -1>;
  Matrix q, k, v, o;
  kittens::gl<float, -1, -1, -1, -1> lse;
  float scale;
};
static_assert(sizeof(Globals) == sizeof(Arguments));

constexpr int kWaves = kThreads / kittens::WARP_THREADS;
constexpr int kWaveQ = kBlockQ / kWaves;
constexpr int kSlice = 16;  // the k of one MFMA

/// Waves on a SIMD: what their registers allow without spills.
template <int kDim>
constexpr int kOccupancy = kDim == 64 ? 3 : 2;

/// The queries and the head that a workgroup computes. Workgroups that read the same keys and
/// values have consecutive ids, and runs of `blocks * share` ids go to one die, whose L2 then holds
/// them once.
struct Place {
  int batch, head, kv_head, block;

  KITTENS_MEMBER Place(int q_len, int heads, int kv_heads) {
    const int blocks = kittens::ceil_div(q_len, kBlockQ);
    const int share = heads / kv_heads;
    const int id = kittens::chiplet_transform_chunked(blockIdx.x, gridDim.x, kittens::NUM_XCDS,
                                                      blocks * share);
    // The last block first: under the causal mask it has the most work.
    block = blocks - 1 - id % blocks;
    head = id / blocks % heads;
    kv_head = head / share;
    batch = id / blocks / heads;
  }
};

/// Tile (row, col) of a head, in a tensor whose rows hold one head, or all of them.
template <typename T, int kDim>
KITTENS_DEVICE kittens::coord<T> head_tile(const Globals::Matrix& tensor, int batch, int head,
                                           int row, int col = 0) {
  const int per_row = tensor.cols() / kDim;
  return {batch, head / per_row, row, head % per_row * (kDim / T::cols) + col};
}

template <int kDim, bool kCausal>
KITTENS_DEVICE void attention(const Globals& g) {
  using namespace kittens;
  using Tile = st_bf<kBlockKv, kDim>;
  __shared__ Tile keys;
  __shared__ Tile values;

  const int q_len = g.q.rows();
  const int kv_len = g.k.rows();
  const Place at(q_len, g.q.depth() * (g.q.cols() / kDim), g.k.depth() * (g.k.cols() / kDim));
  const int band = at.block * kWaves + warpid();
  const int first_q = band * kWaveQ;

  using Q = rt_bf<kWaveQ, kSlice>;
  Q q[kDim / kSlice];
#pragma unroll
  for (int slice = 0; slice < kDim / kSlice; ++slice) {
    load(q[slice], bounded<kDim>(g.q), head_tile<Q, kDim>(g.q, at.batch, at.head, band, slice));
  }

  using Scores = rt_fl<kBlockKv, kWaveQ, col_l>;
  OnlineSoftmax<Scores> softmax(g.scale);
  rt_fl<kDim, kWaveQ, col_l> o;  // transposed, and its rows permuted: values.cuh
  zero(o);

  constexpr int kChunks = sizeof(Tile) / 16 / kThreads;
  float4 next_keys[kChunks], next_values[kChunks];
  const auto fetch = [&](int step) {
    load_global_to_register_buffer<2, false, kThreads>(
        next_keys, kChunks, bounded<kDim>(g.k),
        head_tile<Tile, kDim>(g.k, at.batch, at.kv_head, step), keys);
    load_global_to_register_buffer<2, false, kThreads>(
        next_values, kChunks, bounded<kDim>(g.v),
        head_tile<Tile, kDim>(g.v, at.batch, at.kv_head, step), values);
  };
  const auto put = [&] {
    store_register_buffer_to_shared<kThreads>(keys, next_keys);
    store_register_buffer_to_shared<kThreads>(values, next_values);
  };

  // Query i sees the keys up to i + shift.
  const int shift = kv_len - q_len;
  const auto compute = [&](int step) {
    const int first_kv = step * kBlockKv;
    if (kCausal && first_kv > first_q + kWaveQ - 1 + shift) return;
    Scores scores;
    zero(scores);
#pragma unroll
    for (int slice = 0; slice < kDim / kSlice; ++slice) {
      rt_bf<kBlockKv, kSlice> k;
      load(k, subtile_inplace<kBlockKv, kSlice>(keys, {0, slice}));
      mma_ABt(scores, k, q[slice], scores);
    }
    constexpr float kHidden = -__builtin_inff();
    if (first_kv + kBlockKv > kv_len) lower_fill(scores, scores, kv_len - first_kv, kHidden);
    if (kCausal && first_kv + kBlockKv - 1 > first_q + shift) {
      triu(scores, scores, first_q + shift - first_kv, kHidden);
    }
    mul_col(o, o, softmax.update(scores));
    rt_bf<kBlockKv, kWaveQ, col_l> weights;
    copy(weights, scores);
#pragma unroll
    for (int slice = 0; slice < kBlockKv / kSlice; ++slice) {
      rt_bf<kDim, kSlice> v_transposed;
      load_values<kDim>(v_transposed, values, slice);
      mma_AB(o, v_transposed, subtile_inplace<kSlice>(weights, slice), o);
    }
  };

  const int last_q = at.block * kBlockQ + kBlockQ - 1;
  const int seen = kCausal && last_q + shift + 1 < kv_len ? last_q + shift + 1 : kv_len;
  const int steps = seen > 0 ? ceil_div(seen, kBlockKv) : 0;
  if (steps > 0) {
    fetch(0);
    put();
    __syncthreads();
    for (int step = 0;; ++step) {
      const bool last = step + 1 == steps;
      if (!last) fetch(step + 1);
      compute(step);
      if (last) break;
      __syncthreads();
      put();
      __syncthreads();
    }
  }

  mul_col(o, o, softmax.inverse_sum());
  store_output(g.o, o, head_tile<rt_bf<kWaveQ, kDim>, kDim>(g.o, at.batch, at.head, band));
  if (g.lse.raw_ptr != nullptr) {
    store(bounded(g.lse), softmax.logsumexp(), {at.batch, at.head, 0, band});
  }
}

}  // namespace margay_attention
