// Online softmax: the scores of a query arrive in pieces, and the sums so far are rescaled whenever
// a larger score occurs (Milakov and Gimelshein, 2018).
//
// Scores are kept transposed, keys down and queries across. In the accumulators' col layout a lane
// then holds 4 keys out of 16 of one query: maximum and sum are mostly taken within the lane, and a
// value per query is one register. The accumulator of the output, O^T, also has queries across, so
// the same vectors scale it.
#pragma once

#include "kittens.cuh"

namespace margay_attention {

/// 2^(x scale - shift): one fused multiply-add and one v_exp_f32, which computes 2^x and not e^x.
struct exp2_of_scaled {
  template <typename T>
  static KITTENS_MEMBER T op(const T& x, const T& scale, const T& shift) {
    using namespace kittens::base_ops;
    return exp2::op(sub::op(mul::op(x, scale), shift));
  }
};

/// Zero in place of minus infinity.
struct finite {
  static KITTENS_MEMBER float op(const float& x) { return x == -__builtin_inff() ? 0.0f : x; }
};

struct inverse {
  static KITTENS_MEMBER float op(const float& x) { return x == 0 ? 0.0f : 1 / x; }
};

template <typename Scores>
struct OnlineSoftmax {
  using Vector = typename Scores::row_vec;

  float scale;     // to scores in units of log 2
  Vector largest;  // score of each query so far, not scaled
  Vector sum;      // of 2^(scale (score - largest))

  KITTENS_MEMBER explicit OnlineSoftmax(float natural_scale) : scale(natural_scale * 1.44269504f) {
    kittens::neg_infty(largest);
    kittens::zero(sum);
  }

  /// Turns scores into weights 2^(scale (score - largest)), and returns the factor by which all
  /// earlier weights shrink.
  KITTENS_MEMBER Vector update(Scores& scores) {
    using namespace kittens;
    Vector before, shift, scales;
    mul(before, largest, scale);
    col_max(largest, scores, largest);
    mul(shift, largest, scale);
    // A query that has seen no key yet: -inf - (-inf) would be NaN.
    unary_op<finite>(shift, shift);
    sub(before, before, shift);
    exp2(before, before);
    one(scales);
    mul(scales, scales, scale);
    col_map<exp2_of_scaled>(scores, scores, scales, shift);
    mul(sum, sum, before);
    col_sum(sum, scores, sum);
    return before;
  }

  /// 1 / sum; 0 for a query that saw no key.
  KITTENS_MEMBER Vector inverse_sum() const {
    Vector result;
    kittens::unary_op<inverse>(result, sum);
    return result;
  }

  /// The natural logarithm of the sum of e^score.
  KITTENS_MEMBER Vector logsumexp() const {
    using namespace kittens;
    Vector result, offset;
    log2(result, sum);
    mul(offset, largest, scale);
    add(result, result, offset);
    mul(result, result, 0.693147181f);
    return result;
  }
};

}  // namespace margay_attention
