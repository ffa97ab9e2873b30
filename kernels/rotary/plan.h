// Which rotary kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (rotary.h) and for those that load the code object
// themselves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay_rotary {

/// How a tensor's four dimensions follow each other in memory; dim is always the last.
enum class Layout {
  kBatchSequenceHeads,  // batch x sequence x heads x dim
  kBatchHeadsSequence,  // batch x heads x sequence x dim
};

/// Rotates the pairs (x[i], x[i + dim/2]) of every head by the angle of position and i (the
/// half-split form, as in GPT-NeoX and Llama):
///
///   y[i]         = x[i] cos[p][i] - x[i + dim/2] sin[p][i]
///   y[i + dim/2] = x[i + dim/2] cos[p][i] + x[i] sin[p][i]      p = position + place in x
///
/// All bf16, computed in float. cos and sin are table_rows x dim/2, row-major. y may be x.
struct Problem {
  const void* x = nullptr;
  const void* cos = nullptr;
  const void* sin = nullptr;
  void* y = nullptr;
  std::int64_t batch = 0, heads = 0, length = 0, dim = 0;
  std::int64_t table_rows = 0;
  std::int64_t position = 0;  // of the first row of x: not 0 when earlier ones are in a cache
  Layout layout = Layout::kBatchSequenceHeads;
};

/// Four dimensions and an address, as kittens::gl lies in memory.
struct Tensor {
  std::int32_t batch, depth, rows, cols;
  const void* data;
};
/// The kernels' parameter. Rows of x and y run along the sequence; a row holds one head (depth is
/// the heads) or all of them (depth is 1). cos and sin are 1 x 1 x length x dim/2: the rows from
/// the first position on.
struct Arguments {
  Tensor x, cos, sin, y;
};
static_assert(sizeof(Arguments) == 96);

constexpr int kBlockRows = 64;     // positions of a workgroup
constexpr int kHeadsPerBlock = 8;  // which reads their cos and sin once
constexpr unsigned kThreads = 256;

/// A plan is a launch, or a refusal that says why. Nothing is launched when grid_x is 0: the result
/// has no elements.
struct Plan {
  const char* refusal = nullptr;
  const char* kernel = nullptr;
  unsigned grid_x = 0, grid_y = 1, grid_z = 1;
  unsigned block_x = kThreads;
  unsigned dynamic_lds = 0;
  Arguments arguments = {};
};

namespace plan_detail {
/// A block's rows are addressed with 32-bit byte offsets.
constexpr std::int64_t kMaxRow = (std::int64_t{1} << 31) / (2 * kBlockRows);

inline const char* refusal(const Problem& p) {
  if (p.batch < 0 || p.heads < 0 || p.length < 0 || p.position < 0) {
    return "batch, heads, length and position must not be negative";
  }
  if (p.dim != 64 && p.dim != 128) return "dim must be 64 or 128";
  // A launch has at most 2^32 - 1 work-items per dimension and, in y and z, 65535 workgroups.
  if (p.length > (1 << 24) * std::int64_t{kBlockRows} - 1) return "length must be below 2^30";
  if (p.batch > 65535) return "batch must not exceed 65535";
  if (p.heads > 65535 * kHeadsPerBlock) return "heads must not exceed 524280";
  if (p.heads * p.dim > kMaxRow) return "heads times dim must not exceed 16777216";
  if (p.batch == 0 || p.heads == 0 || p.length == 0) return nullptr;
  if (p.length > p.table_rows - p.position) {
    return "the tables need a row for every position: position + length of them";
  }
  if (p.x == nullptr || p.y == nullptr) return "x or y is a null pointer";
  if (p.cos == nullptr || p.sin == nullptr) return "cos or sin is a null pointer";
  for (const void* pointer : {p.x, p.cos, p.sin, static_cast<const void*>(p.y)}) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0) {
      return "x, y, cos and sin must be aligned to 16 bytes";
    }
  }
  return nullptr;
}
}  // namespace plan_detail

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = plan_detail::refusal(p);
  if (result.refusal != nullptr || p.batch == 0 || p.heads == 0 || p.length == 0) return result;
  const auto batch = static_cast<std::int32_t>(p.batch), heads = static_cast<std::int32_t>(p.heads),
             rows = static_cast<std::int32_t>(p.length), dim = static_cast<std::int32_t>(p.dim);
  result.kernel = p.dim == 64 ? "rotary_bf16_d64" : "rotary_bf16_d128";
  result.grid_x = static_cast<unsigned>((rows + kBlockRows - 1) / kBlockRows);
  result.grid_y = static_cast<unsigned>((heads + kHeadsPerBlock - 1) / kHeadsPerBlock);
  result.grid_z = static_cast<unsigned>(batch);
  const auto tensor = [&](const void* data) {
    return p.layout == Layout::kBatchSequenceHeads ? Tensor{batch, 1, rows, heads * dim, data}
                                                   : Tensor{batch, heads, rows, dim, data};
  };
  const auto table = [&](const void* data) {
    const auto* first = static_cast<const char*>(data) + p.position * p.dim;  // dim/2 of 2 bytes
    return Tensor{1, 1, rows, dim / 2, first};
  };
  result.arguments = {tensor(p.x), table(p.cos), table(p.sin), tensor(p.y)};
  return result;
}

}  // namespace margay_rotary
