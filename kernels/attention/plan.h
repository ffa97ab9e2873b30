// Which attention kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (attention.h) and for those that load the code object
// themselves.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../common/plan.h"

namespace margay_attention {

/// How a tensor's four dimensions follow each other in memory; dim is always the last.
enum class Layout {
  kBatchSequenceHeads,  // batch x sequence x heads x dim
  kBatchHeadsSequence,  // batch x heads x sequence x dim
};

/// The layout of each tensor.
struct Layouts {
  Layout q, k, v, o;
  constexpr Layouts(Layout all) : Layouts(all, all, all, all) {}  // NOLINT: a layout of them all
  constexpr Layouts(Layout q, Layout k, Layout v, Layout o) : q(q), k(k), v(v), o(o) {}
};

/// o = softmax(scale q k^T) v for each batch and head; all bf16, sums in float. Head h of q reads
/// head h / (heads / kv_heads) of k and v.
struct Problem {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  void* lse =
      nullptr;  // float, batch x heads x q_len: the logsumexp of the scores; null: not computed
  std::int64_t batch = 0, heads = 0, kv_heads = 0;
  std::int64_t q_len = 0, kv_len = 0;
  std::int64_t dim = 0;
  float scale = 0;  // 0: 1 / sqrt(dim)
  /// Query i sees the keys up to i + kv_len - q_len: the last query sees them all (the diagonal
  /// ends bottom right, as in FlashAttention since 2.1). A query that sees none gives a row of
  /// zeros and a logsumexp of minus infinity.
  bool causal = false;
  Layouts layout = Layout::kBatchSequenceHeads;
};

using margay_kernels::Tensor;

/// The kernels' parameter. Rows of q, k, v, o run along the sequence; a row holds one head (depth
/// is the heads) or all of them (depth is 1). lse is batch x heads x 1 x q_len, or has no address.
struct Arguments {
  Tensor q, k, v, o, lse;
  float scale;
};
static_assert(sizeof(Arguments) == 128 && offsetof(Arguments, scale) == 120);

constexpr int kBlockQ = 128;  // queries of a workgroup
constexpr int kBlockKv = 64;  // keys and values in LDS at a time
constexpr int kThreads = 256;

using Plan = margay_kernels::Plan<Arguments>;

/// By dim, then by causal.
inline constexpr margay_kernels::Kernel kKernels[2][2] = {
    {{"attention_bf16_d64", kThreads}, {"attention_bf16_d64_causal", kThreads}},
    {{"attention_bf16_d128", kThreads}, {"attention_bf16_d128_causal", kThreads}}};

/// Why no kernel runs a problem of these numbers, wherever its tensors are; empty if one does.
inline std::string refuse_extents(const Problem& p) {
  using margay_kernels::text;
  if (p.batch < 0 || p.heads < 0 || p.kv_heads < 0 || p.q_len < 0 || p.kv_len < 0) {
    return "batch, heads and lengths must not be negative";
  }
  if (p.dim != 64 && p.dim != 128)
    return text("q: its last dimension is ", p.dim, "; the kernels have dim 64 and 128");
  if (!(p.scale >= 0) || std::isinf(p.scale)) {
    return text("scale: expected a positive number, or 0 for 1 / sqrt(dim), got ", p.scale);
  }
  constexpr std::int64_t kMaxLength = 0x7fffffff - kBlockQ;
  // A block's rows are addressed with 32-bit byte offsets.
  constexpr std::int64_t kMaxRow = (std::int64_t{1} << 31) / (2 * kBlockQ);
  if (p.q_len > kMaxLength || p.kv_len > kMaxLength)
    return text("lengths must not exceed ", kMaxLength);
  if (p.batch > 0x7fffffff) return "batch must be below 2^31";
  if (p.heads > kMaxRow / p.dim) return text("heads times dim must not exceed ", kMaxRow);
  if (p.batch == 0 || p.heads == 0 || p.q_len == 0) return {};
  if (p.kv_heads == 0 || p.heads % p.kv_heads != 0)
    return text("k: has ", p.kv_heads, " heads, which does not divide q's ", p.heads);
  constexpr std::int64_t kMaxBlocks = margay_kernels::kMaxWorkItems / kThreads;
  if (p.q_len > kMaxBlocks / p.heads / p.batch * kBlockQ)
    return text("q: has too many blocks of ", kBlockQ, " queries for one launch");
  return {};
}

inline std::string refuse_memory(const Problem& p) {
  using margay_kernels::aligned;
  if (p.q == nullptr || p.o == nullptr) return "q or o is a null pointer";
  if (p.kv_len > 0 && (p.k == nullptr || p.v == nullptr)) return "k or v is a null pointer";
  if (!aligned(p.q, 16) || !aligned(p.k, 16) || !aligned(p.v, 16) || !aligned(p.o, 16)) {
    return "q, k, v and o must be aligned to 16 bytes";
  }
  if (!aligned(p.lse, 4)) return "lse must be aligned to 4 bytes";
  return {};
}

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = refuse_extents(p);
  if (!result.refusal.empty() || p.batch == 0 || p.heads == 0 || p.q_len == 0) return result;
  result.refusal = refuse_memory(p);
  if (!result.refusal.empty()) return result;
  result.use(kKernels[p.dim == 128][p.causal]);
  result.grid_x =
      static_cast<unsigned>(margay_kernels::ceil_div(p.q_len, kBlockQ) * p.heads * p.batch);
  const auto batch = static_cast<std::int32_t>(p.batch), heads = static_cast<std::int32_t>(p.heads),
             kv_heads = static_cast<std::int32_t>(p.kv_heads),
             q_len = static_cast<std::int32_t>(p.q_len),
             kv_len = static_cast<std::int32_t>(p.kv_len), dim = static_cast<std::int32_t>(p.dim);
  const auto tensor = [&](const void* data, Layout layout, std::int32_t count, std::int32_t rows) {
    return layout == Layout::kBatchSequenceHeads ? Tensor{batch, 1, rows, count * dim, data}
                                                 : Tensor{batch, count, rows, dim, data};
  };
  result.arguments = {tensor(p.q, p.layout.q, heads, q_len),
                      tensor(p.k, p.layout.k, kv_heads, kv_len),
                      tensor(p.v, p.layout.v, kv_heads, kv_len),
                      tensor(p.o, p.layout.o, heads, q_len),
                      {batch, heads, 1, q_len, p.lse},
                      p.scale > 0 ? p.scale : 1 / std::sqrt(static_cast<float>(p.dim))};
  return result;
}

}  // namespace margay_attention
