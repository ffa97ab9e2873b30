// Which rotary kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (rotary.h) and for those that load the code object
// themselves.
#pragma once

#include <cstdint>
#include <string>

#include "../common/plan.h"

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

using margay_kernels::Tensor;

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

using Plan = margay_kernels::Plan<Arguments>;

/// By dim.
inline constexpr margay_kernels::Kernel kKernels[] = {{"rotary_bf16_d64", kThreads},
                                                      {"rotary_bf16_d128", kThreads}};

/// Why no kernel runs a problem of these extents, wherever its tensors are; empty if one does.
inline std::string refuse_extents(const Problem& p) {
  using margay_kernels::text;
  if (p.batch < 0 || p.heads < 0 || p.length < 0) {
    return "batch, heads and length must not be negative";
  }
  if (p.position < 0) return text("position: must not be negative, got ", p.position);
  if (p.dim != 64 && p.dim != 128)
    return text("x: its last dimension is ", p.dim, "; the kernels have dim 64 and 128");
  // A launch has, in y and z, at most 65535 workgroups.
  constexpr std::int64_t kMaxWorkgroups = 65535;
  // Of a table no more fits into an address space of 2^48 bytes.
  constexpr std::int64_t kMaxTableRows = (std::int64_t{1} << 48) / 64;
  constexpr std::int64_t kMaxLength = (1 << 24) * std::int64_t{kBlockRows} - 1;
  constexpr std::int64_t kMaxHeads = kMaxWorkgroups * kHeadsPerBlock;
  // A block's rows are addressed with 32-bit byte offsets.
  constexpr std::int64_t kMaxRow = (std::int64_t{1} << 31) / (2 * kBlockRows);
  if (p.length > kMaxLength) return text("x: its length must not exceed ", kMaxLength);
  if (p.batch > kMaxWorkgroups) return text("x: its batch must not exceed ", kMaxWorkgroups);
  if (p.heads > kMaxHeads) return text("x: its heads must not exceed ", kMaxHeads);
  if (p.heads > kMaxRow / p.dim) return text("x: heads times dim must not exceed ", kMaxRow);
  if (p.batch == 0 || p.heads == 0 || p.length == 0) return {};
  if (p.table_rows < 0 || p.table_rows > kMaxTableRows)
    return text("tables: cannot have ", p.table_rows, " positions");
  if (p.position > p.table_rows)
    return text("tables: only ", p.table_rows, " positions; x needs those from ", p.position,
                " on");
  if (p.length > p.table_rows - p.position)
    return text("tables: only ", p.table_rows, " positions; x needs those from ", p.position,
                " to ", p.position + p.length - 1);
  return {};
}

inline std::string refuse_memory(const Problem& p) {
  if (p.x == nullptr || p.y == nullptr) return "x or y is a null pointer";
  if (p.cos == nullptr || p.sin == nullptr) return "cos or sin is a null pointer";
  for (const void* pointer : {p.x, p.cos, p.sin, static_cast<const void*>(p.y)}) {
    if (!margay_kernels::aligned(pointer, 16)) {
      return "x, y, cos and sin must be aligned to 16 bytes";
    }
  }
  return {};
}

inline Plan plan(const Problem& p) {
  using margay_kernels::ceil_div;
  Plan result;
  result.refusal = refuse_extents(p);
  if (!result.refusal.empty() || p.batch == 0 || p.heads == 0 || p.length == 0) return result;
  result.refusal = refuse_memory(p);
  if (!result.refusal.empty()) return result;
  const auto batch = static_cast<std::int32_t>(p.batch), heads = static_cast<std::int32_t>(p.heads),
             rows = static_cast<std::int32_t>(p.length), dim = static_cast<std::int32_t>(p.dim);
  result.use(kKernels[p.dim == 128]);
  result.grid_x = static_cast<unsigned>(ceil_div(rows, kBlockRows));
  result.grid_y = static_cast<unsigned>(ceil_div(heads, kHeadsPerBlock));
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
