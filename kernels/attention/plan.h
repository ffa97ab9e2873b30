// Which attention kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (attention.h) and for those that load the code object
// themselves.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace margay_attention {

/// How a tensor's four dimensions follow each other in memory; dim is always the last.
enum class Layout {
  kBatchSequenceHeads,  // batch x sequence x heads x dim
  kBatchHeadsSequence,  // batch x heads x sequence x dim
};

/// o = softmax(scale q k^T) v for each batch and head; all bf16, sums in float. Head h of q reads
/// head h / (heads / kv_heads) of k and v.
struct Problem {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  void* lse = nullptr;  // float, batch x heads x q_len: the scores' logsumexp; null: not wanted
  std::int64_t batch = 0, heads = 0, kv_heads = 0;
  std::int64_t q_len = 0, kv_len = 0;
  std::int64_t dim = 0;
  float scale = 0;  // 0: 1 / sqrt(dim)
  /// Query i sees the keys up to i + kv_len - q_len: the last query sees them all (the diagonal
  /// ends bottom right, as in FlashAttention since 2.1). A query that sees none gives a row of
  /// zeros and a logsumexp of minus infinity.
  bool causal = false;
  Layout layout = Layout::kBatchSequenceHeads;
};

/// Four dimensions and an address, as kittens::gl lies in memory.
struct Tensor {
  std::int32_t batch, depth, rows, cols;
  const void* data;
};
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

/// A plan is a launch, or a refusal that says why. Nothing is launched when grid_x is 0: the result
/// has no elements.
struct Plan {
  const char* refusal = nullptr;
  const char* kernel = nullptr;
  unsigned grid_x = 0;
  unsigned block_x = kThreads;
  unsigned dynamic_lds = 0;
  Arguments arguments = {};
};

namespace plan_detail {
constexpr std::int64_t kMaxLength = 0x7fffffff - kBlockQ;
/// A block's rows are addressed with 32-bit byte offsets.
constexpr std::int64_t kMaxRow = (std::int64_t{1} << 31) / (2 * kBlockQ);
constexpr std::int64_t kMaxBatch = 0x7fffffff;

inline bool aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

inline std::int64_t blocks(const Problem& p) {
  return (p.q_len + kBlockQ - 1) / kBlockQ * p.heads * p.batch;
}

inline const char* refusal(const Problem& p) {
  if (p.batch < 0 || p.heads < 0 || p.kv_heads < 0 || p.q_len < 0 || p.kv_len < 0) {
    return "batch, heads and lengths must not be negative";
  }
  if (p.dim != 64 && p.dim != 128) return "dim must be 64 or 128";
  if (!(p.scale >= 0) || std::isinf(p.scale)) {
    return "scale must be a positive number, or 0 for 1 / sqrt(dim)";
  }
  if (p.q_len > kMaxLength || p.kv_len > kMaxLength) return "lengths must be below 2^31 - 128";
  if (p.batch > kMaxBatch) return "batch must be below 2^31";
  if (p.heads * p.dim > kMaxRow) return "heads times dim must not exceed 8388608";
  if (p.batch == 0 || p.heads == 0 || p.q_len == 0) return nullptr;
  if (p.kv_heads == 0 || p.heads % p.kv_heads != 0) return "kv_heads must divide heads";
  if (p.q == nullptr || p.o == nullptr) return "q or o is a null pointer";
  if (p.kv_len > 0 && (p.k == nullptr || p.v == nullptr)) return "k or v is a null pointer";
  if (!aligned(p.q, 16) || !aligned(p.k, 16) || !aligned(p.v, 16) || !aligned(p.o, 16)) {
    return "q, k, v and o must be aligned to 16 bytes";
  }
  if (!aligned(p.lse, 4)) return "lse must be aligned to 4 bytes";
  // A launch has at most 2^32 - 1 work-items per dimension (HIP programming guide).
  constexpr std::int64_t kMaxBlocks = 0xffffffffLL / kThreads;
  if (p.q_len > kMaxBlocks / p.heads / p.batch * kBlockQ) {
    return "there are too many blocks of 128 queries for one launch";
  }
  return nullptr;
}

inline Tensor tensor(const Problem& p, const void* data, std::int64_t heads, std::int64_t length) {
  const auto batch = static_cast<std::int32_t>(p.batch);
  const auto rows = static_cast<std::int32_t>(length);
  const auto dim = static_cast<std::int32_t>(p.dim);
  const auto count = static_cast<std::int32_t>(heads);
  if (p.layout == Layout::kBatchSequenceHeads) return {batch, 1, rows, count * dim, data};
  return {batch, count, rows, dim, data};
}
}  // namespace plan_detail

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = plan_detail::refusal(p);
  const std::int64_t blocks = result.refusal == nullptr ? plan_detail::blocks(p) : 0;
  if (blocks == 0) return result;
  static constexpr const char* kNames[2][2] = {
      {"attention_bf16_d64", "attention_bf16_d64_causal"},
      {"attention_bf16_d128", "attention_bf16_d128_causal"}};
  result.kernel = kNames[p.dim == 128][p.causal];
  result.grid_x = static_cast<unsigned>(blocks);
  const Tensor lse = {static_cast<std::int32_t>(p.batch), static_cast<std::int32_t>(p.heads), 1,
                      static_cast<std::int32_t>(p.q_len), p.lse};
  result.arguments = {plan_detail::tensor(p, p.q, p.heads, p.q_len),
                      plan_detail::tensor(p, p.k, p.kv_heads, p.kv_len),
                      plan_detail::tensor(p, p.v, p.kv_heads, p.kv_len),
                      plan_detail::tensor(p, p.o, p.heads, p.q_len),
                      lse,
                      p.scale > 0 ? p.scale : 1 / std::sqrt(static_cast<float>(p.dim))};
  return result;
}

}  // namespace margay_attention
