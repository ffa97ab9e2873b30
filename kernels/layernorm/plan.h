// Which layernorm kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (layernorm.h) and for those that load the code object
// themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../common/plan.h"

namespace margay_layernorm {

/// With s = x + residual, in float and not rounded: y = (s - mean(s)) / sqrt(var(s) + eps) * weight
/// + bias along each row, and s itself, rounded. All bf16, row-major without gaps. Rows of residual
/// and sum are those of x. y and sum may be x and residual.
struct Problem {
  const void* x = nullptr;
  const void* residual = nullptr;  // null: zero
  const void* weight = nullptr;    // cols elements; null: one
  const void* bias = nullptr;      // cols elements; null: zero
  void* y = nullptr;
  void* sum = nullptr;  // null: not computed
  std::int64_t rows = 0, cols = 0;
  float eps = 1e-5f;
};

using margay_kernels::Tensor;

/// The kernels' parameter: 1 x 1 x rows x cols, weight and bias with one row.
struct Arguments {
  Tensor x, residual, weight, bias, y, sum;
  float eps;
};
static_assert(sizeof(Arguments) == 152 && offsetof(Arguments, eps) == 144);

/// A row is kept in the registers of 1, 2, 4 or 8 waves, with this many elements in each.
constexpr int kPart = 1024;
constexpr int kMaxWaves = 8;
constexpr int kMaxCols = kMaxWaves * kPart;
constexpr unsigned kWaveThreads = 64;

using Plan = margay_kernels::Plan<Arguments>;

/// By the most columns that a row may have.
inline constexpr margay_kernels::Kernel kKernels[] = {{"layernorm_bf16_1024", kWaveThreads},
                                                      {"layernorm_bf16_2048", 2 * kWaveThreads},
                                                      {"layernorm_bf16_4096", 4 * kWaveThreads},
                                                      {"layernorm_bf16_8192", 8 * kWaveThreads}};

/// Why no kernel runs a problem of these numbers, wherever its tensors are; empty if one does.
inline std::string refuse_extents(const Problem& p) {
  using margay_kernels::text;
  if (p.rows < 0 || p.cols < 0) return "rows and columns must not be negative";
  if (p.cols > kMaxCols)
    return text("x: its rows have ", p.cols, " elements; the kernel's limit is ", kMaxCols);
  if (p.rows > margay_kernels::kMaxWorkItems / (kMaxWaves * kWaveThreads))
    return text("x: its ", p.rows, " rows are too many for one launch");
  if (!(p.eps >= 0)) return text("eps: must not be negative, got ", p.eps);
  return {};
}

inline std::string refuse_memory(const Problem& p) {
  if (p.x == nullptr || p.y == nullptr) return "x or y is a null pointer";
  if (p.y == p.sum) return "y and sum must not be the same";
  for (const void* pointer : {p.x, p.residual, p.weight, p.bias, static_cast<const void*>(p.y),
                              static_cast<const void*>(p.sum)}) {
    if (!margay_kernels::aligned(pointer, 2)) return "a tensor is not aligned to its elements";
  }
  return {};
}

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = refuse_extents(p);
  if (!result.refusal.empty() || p.rows == 0 || p.cols == 0) return result;
  result.refusal = refuse_memory(p);
  if (!result.refusal.empty()) return result;
  int size = 0;
  while ((kPart << size) < p.cols) ++size;
  result.use(kKernels[size]);
  result.grid_x = static_cast<unsigned>(p.rows);
  const auto rows = static_cast<std::int32_t>(p.rows), cols = static_cast<std::int32_t>(p.cols);
  const auto matrix = [&](const void* data) { return Tensor{1, 1, rows, cols, data}; };
  const auto vector = [&](const void* data) { return Tensor{1, 1, 1, cols, data}; };
  result.arguments = {matrix(p.x),    matrix(p.residual), vector(p.weight),
                      vector(p.bias), matrix(p.y),        matrix(p.sum),
                      p.eps};
  return result;
}

}  // namespace margay_layernorm
