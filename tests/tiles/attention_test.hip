// The attention kernels against softmax(scale q k^T) v in double, from the rounded inputs.
//
// What may differ: each weight is rounded to bf16 before it is multiplied with V, and so is each
// output (2^-8 relative each); sums and exponentials are in float, a hundred times finer. q, k and
// v are between NaNs, which a kernel that reads too much adds to its sums, and o between marks.
#include <cmath>
#include <limits>
#include <random>

#include "attention/attention.h"
#include "profiled.h"

namespace {

using kittens::bf16;
using margay_attention::Layout;
using margay_attention::Problem;
using tile_test::as;
using tile_test::as_float;
using tile_test::Buffer;

struct Shape {
  int batch, heads, kv_heads, q_len, kv_len, dim;
  bool causal = false;
  Layout layout = Layout::kBatchSequenceHeads;
  float scale = 0;
};

constexpr int kGuard = 512;
constexpr float kMark = -77;

/// A tensor of one layout, between guards.
struct Tensor {
  int heads, length, dim;
  Layout layout;

  size_t size(int batch) const { return static_cast<size_t>(batch) * heads * length * dim; }
  size_t index(int b, int h, int i, int d) const {
    const size_t row = layout == Layout::kBatchSequenceHeads
                           ? (static_cast<size_t>(b) * length + i) * heads + h
                           : (static_cast<size_t>(b) * heads + h) * length + i;
    return kGuard + row * dim + d;
  }
};

std::vector<bf16> random_values(size_t count, float range, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-range, range);
  std::vector<bf16> values(count + 2 * kGuard, as<bf16>(std::numeric_limits<float>::quiet_NaN()));
  for (size_t i = 0; i < count; ++i) values[kGuard + i] = as<bf16>(uniform(random));
  return values;
}

struct Case {
  Shape shape;
  Tensor q_place, kv_place;
  std::vector<bf16> q, k, v;
  Buffer<bf16> q_device, k_device, v_device, o_device;
  Buffer<float> lse_device;

  explicit Case(const Shape& s)
      : shape(s),
        q_place{s.heads, s.q_len, s.dim, s.layout},
        kv_place{s.kv_heads, s.kv_len, s.dim, s.layout},
        q(random_values(q_place.size(s.batch), 2, 1)),
        k(random_values(kv_place.size(s.batch), 2, 2)),
        v(random_values(kv_place.size(s.batch), 1, 3)),
        q_device(q),
        k_device(k),
        v_device(v),
        o_device(std::vector<bf16>(q.size(), as<bf16>(kMark))),
        lse_device(std::vector<float>(lse_count() + 2 * kGuard, kMark)) {}

  size_t lse_count() const { return static_cast<size_t>(shape.batch) * shape.heads * shape.q_len; }

  Problem problem() const {
    Problem p;
    p.q = q_device.get() + kGuard;
    p.k = k_device.get() + kGuard;
    p.v = v_device.get() + kGuard;
    p.o = o_device.get() + kGuard;
    p.lse = lse_device.get() + kGuard;
    p.batch = shape.batch;
    p.heads = shape.heads;
    p.kv_heads = shape.kv_heads;
    p.q_len = shape.q_len;
    p.kv_len = shape.kv_len;
    p.dim = shape.dim;
    p.causal = shape.causal;
    p.layout = shape.layout;
    p.scale = shape.scale;
    return p;
  }

  /// Compares one row of o and its logsumexp.
  void expect_row(const std::vector<bf16>& o, float lse, int b, int h, int i) const {
    const int kv_head = h / (shape.heads / shape.kv_heads);
    const double scale = shape.scale > 0 ? shape.scale : 1 / std::sqrt(shape.dim);
    const int seen =
        shape.causal ? std::min(shape.kv_len, i + shape.kv_len - shape.q_len + 1) : shape.kv_len;
    std::vector<double> scores(std::max(seen, 0));
    double largest = -INFINITY, magnitude = 0;
    for (int j = 0; j < seen; ++j) {
      double product = 0, sizes = 0;
      for (int d = 0; d < shape.dim; ++d) {
        const double term = double{as_float(q[q_place.index(b, h, i, d)])} *
                            as_float(k[kv_place.index(b, kv_head, j, d)]);
        product += term;
        sizes += std::abs(term);
      }
      scores[j] = scale * product;
      largest = std::max(largest, scores[j]);
      magnitude = std::max(magnitude, scale * sizes);
    }
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - largest);
    const double want_lse = seen > 0 ? largest + std::log(sum) : -INFINITY;
    if (seen > 0) {
      ASSERT_NEAR(lse, want_lse, 0x1p-20 * (1 + magnitude));
    } else {
      ASSERT_EQ(lse, want_lse);
    }
    for (int d = 0; d < shape.dim; ++d) {
      double want = 0, sizes = 0;
      for (int j = 0; j < seen; ++j) {
        const double value = as_float(v[kv_place.index(b, kv_head, j, d)]);
        want += scores[j] * value;
        sizes += scores[j] * std::abs(value);
      }
      if (seen > 0) want /= sum, sizes /= sum;
      const double got = as_float(o[q_place.index(b, h, i, d)]);
      ASSERT_NEAR(got, want, 0x1p-8 * (sizes + std::abs(want)) + 0x1p-15 * (1 + magnitude) * sizes)
          << "dim " << d;
    }
  }

  void expect_right() const {
    SCOPED_TRACE(std::to_string(shape.batch) + " x " + std::to_string(shape.heads) + "/" +
                 std::to_string(shape.kv_heads) + " heads, " + std::to_string(shape.q_len) + " x " +
                 std::to_string(shape.kv_len) + ", dim " + std::to_string(shape.dim) +
                 (shape.causal ? ", causal" : ""));
    ASSERT_EQ(margay_attention::attention_bf16(problem()), hipSuccess);
    const auto o = o_device.read();
    const auto lse = lse_device.read();
    for (int i = 0; i < kGuard; ++i) {
      ASSERT_EQ(as_float(o[i]), kMark) << "before o";
      ASSERT_EQ(as_float(o[o.size() - 1 - i]), kMark) << "behind o";
      ASSERT_EQ(lse[i], kMark) << "before lse";
      ASSERT_EQ(lse[lse.size() - 1 - i], kMark) << "behind lse";
    }
    for (int b = 0; b < shape.batch; ++b) {
      for (int h = 0; h < shape.heads; ++h) {
        for (int i = 0; i < shape.q_len; ++i) {
          SCOPED_TRACE("batch " + std::to_string(b) + ", head " + std::to_string(h) + ", query " +
                       std::to_string(i));
          const size_t at = (static_cast<size_t>(b) * shape.heads + h) * shape.q_len + i;
          expect_row(o, lse[kGuard + at], b, h, i);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
};

void check(const Shape& shape) { Case(shape).expect_right(); }

TEST(Attention, WholeBlocks) {
  check({1, 1, 1, 128, 64, 64});
  check({1, 2, 2, 256, 192, 64});
  check({1, 1, 1, 128, 128, 128});
}
TEST(Attention, AnyLength) {
  check({1, 1, 1, 1, 1, 64});
  check({1, 2, 2, 127, 65, 64});
  check({1, 1, 1, 130, 63, 128});
  check({1, 1, 1, 33, 200, 128});
}
TEST(Attention, Causal) {
  check({1, 1, 1, 128, 128, 64, true});
  check({1, 2, 2, 200, 200, 128, true});
}
TEST(Attention, TheDiagonalEndsBottomRight) {
  check({1, 1, 1, 70, 200, 64, true});
  check({1, 1, 1, 1, 130, 128, true});
}
TEST(Attention, AQueryThatSeesNoKeyGivesZeros) {
  check({1, 1, 1, 200, 70, 64, true});
  check({1, 1, 1, 300, 1, 128, true});
  check({1, 2, 2, 20, 0, 64});
  check({1, 1, 1, 20, 0, 64, true});
}
TEST(Attention, SeveralQueryHeadsReadOneOfTheKeys) {
  check({2, 4, 2, 40, 100, 64});
  check({1, 6, 1, 40, 70, 128, true});
  // More than a round of the eight dies: 4 x 4 heads of keys, three query heads each.
  check({4, 12, 4, 20, 30, 64});
}
TEST(Attention, HeadsBeforeTheSequence) {
  check({2, 4, 2, 40, 100, 64, false, Layout::kBatchHeadsSequence});
  check({2, 2, 1, 140, 100, 128, true, Layout::kBatchHeadsSequence});
}
TEST(Attention, OtherScales) {
  check({1, 1, 1, 40, 100, 64, false, Layout::kBatchSequenceHeads, 1.0f});
  check({1, 1, 1, 40, 100, 64, true, Layout::kBatchSequenceHeads, 0.01f});
}

TEST(Attention, LogsumexpIsOptional) {
  const Case one({1, 1, 1, 40, 50, 64});
  Problem p = one.problem();
  p.lse = nullptr;
  ASSERT_EQ(margay_attention::attention_bf16(p), hipSuccess);
  for (const float value : one.lse_device.read()) ASSERT_EQ(value, kMark);
  const auto without = one.o_device.read();
  one.expect_right();
  const auto with = one.o_device.read();
  for (size_t i = 0; i < with.size(); ++i) ASSERT_EQ(as_float(without[i]), as_float(with[i]));
}

/// A scale that leaves one key per query: the output is that key's value, and nothing overflows.
TEST(Attention, LargeScores) {
  const Case one({1, 1, 1, 64, 200, 64, false, Layout::kBatchSequenceHeads, 300.0f});
  one.expect_right();
}

/// What a launch of whole blocks does, by counts that follow from its blocks and steps.
void check_cost(int dim) {
  SCOPED_TRACE("dim " + std::to_string(dim));
  const int length = 256, heads = 2;
  const Case one({1, heads, heads, length, length, dim});
  Problem p = one.problem();
  p.lse = nullptr;
  const auto profile =
      tile_test::counts_of([&] { EXPECT_EQ(margay_attention::attention_bf16(p), hipSuccess); });
  const double blocks = heads * length / 128.0, waves = 4 * blocks, steps = length / 64.0;
  EXPECT_EQ(profile["SQ_WAVES"], waves);
  // Two products of 2 length^2 dim operations each.
  EXPECT_EQ(profile["mfma_flops"], heads * 4.0 * length * length * dim);
  EXPECT_EQ(profile["scratch_bytes"], 0);
  // Per wave: Q once, in 8 bytes per lane; then of each tile of K and V a quarter, in 16 bytes.
  EXPECT_EQ(profile["SQ_INSTS_VMEM_RD"],
            waves * (32.0 * dim / 4 / 64 + steps * 2 * (64.0 * dim / 8 / 256)));
  EXPECT_EQ(profile["SQ_INSTS_VMEM_WR"], waves * 32.0 * dim / 8 / 64);
  // Two writes of 8 bytes per chunk; each wave reads all of both tiles, 8 bytes per lane. The
  // shuffles of the two reductions are LDS instructions that are no accesses.
  const double accesses = waves * steps * 2 * (2 * (64.0 * dim / 8 / 256) + 64.0 * dim / 4 / 64);
  EXPECT_EQ(profile["lds_bank_conflicts"], 0);
  EXPECT_GE(profile["SQ_LDS_IDX_ACTIVE"], 4 * accesses);
}
TEST(AttentionCost, FollowsFromTheTiling) {
  check_cost(64);
  check_cost(128);
}

TEST(AttentionPlan, RefusesWithAReason) {
  alignas(16) static float memory[64];
  Problem good;
  good.q = good.k = good.v = good.o = memory;
  good.batch = good.heads = good.kv_heads = good.q_len = good.kv_len = 1;
  good.dim = 64;
  ASSERT_EQ(margay_attention::plan(good).refusal, "");
  const auto refusal = [&](auto change) {
    Problem bad = good;
    change(bad);
    EXPECT_EQ(margay_attention::attention_bf16(bad), hipErrorInvalidValue);
    return margay_attention::plan(bad).refusal;
  };
  EXPECT_EQ(refusal([](Problem& p) { p.batch = -1; }),
            "batch, heads and lengths must not be negative");
  EXPECT_EQ(refusal([](Problem& p) { p.dim = 96; }),
            "q: its last dimension is 96; the kernels have dim 64 and 128");
  EXPECT_EQ(refusal([](Problem& p) { p.scale = -1; }),
            "scale: expected a positive number, or 0 for 1 / sqrt(dim), got -1");
  EXPECT_EQ(refusal([](Problem& p) { p.scale = NAN; }),
            "scale: expected a positive number, or 0 for 1 / sqrt(dim), got nan");
  EXPECT_EQ(refusal([](Problem& p) { p.kv_len = 1LL << 31; }),
            "lengths must not exceed 2147483519");
  EXPECT_EQ(refusal([](Problem& p) { p.batch = 1LL << 31; }), "batch must be below 2^31");
  EXPECT_EQ(refusal([](Problem& p) { p.heads = 131073; }),
            "heads times dim must not exceed 8388608");
  EXPECT_EQ(refusal([](Problem& p) { p.heads = 3, p.kv_heads = 2; }),
            "k: has 2 heads, which does not divide q's 3");
  EXPECT_EQ(refusal([](Problem& p) { p.kv_heads = 0; }),
            "k: has 0 heads, which does not divide q's 1");
  EXPECT_EQ(refusal([](Problem& p) { p.o = nullptr; }), "q or o is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.v = nullptr; }), "k or v is a null pointer");
  EXPECT_EQ(refusal([](Problem& p) { p.k = memory + 1; }),
            "q, k, v and o must be aligned to 16 bytes");
  EXPECT_EQ(refusal([](Problem& p) { p.lse = reinterpret_cast<char*>(memory) + 2; }),
            "lse must be aligned to 4 bytes");
  EXPECT_EQ(refusal([](Problem& p) { p.batch = 1 << 25; }),
            "q: has too many blocks of 128 queries for one launch");
}
TEST(AttentionPlan, AnEmptyResultLaunchesNothing) {
  Problem empty;
  empty.dim = 64;
  EXPECT_EQ(margay_attention::plan(empty).refusal, "");
  EXPECT_EQ(margay_attention::plan(empty).grid_x, 0u);
  EXPECT_EQ(margay_attention::attention_bf16(empty), hipSuccess);
}

}  // namespace
