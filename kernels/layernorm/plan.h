// Which layernorm kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (layernorm.h) and for those that load the code object
// themselves.
#pragma once

#include <cstddef>
#include <cstdint>

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
  void* sum = nullptr;  // null: not wanted
  std::int64_t rows = 0, cols = 0;
  float eps = 1e-5f;
};

/// Four dimensions and an address, as kittens::gl lies in memory.
struct Tensor {
  std::int32_t batch, depth, rows, cols;
  const void* data;
};
/// The kernels' parameter: 1 x 1 x rows x cols, weight and bias with one row.
struct Arguments {
  Tensor x, residual, weight, bias, y, sum;
  float eps;
};
static_assert(sizeof(Arguments) == 152 && offsetof(Arguments, eps) == 144);

/// A row is kept in the registers of 1, 2, 4 or 8 waves, so many elements in each.
constexpr int kPart = 1024;
constexpr int kMaxWaves = 8;
constexpr int kMaxCols = kMaxWaves * kPart;
constexpr unsigned kWaveThreads = 64;

/// A plan is a launch, or a refusal that says why. Nothing is launched when grid_x is 0: the result
/// has no elements.
struct Plan {
  const char* refusal = nullptr;
  const char* kernel = nullptr;
  unsigned grid_x = 0;
  unsigned block_x = 0;
  unsigned dynamic_lds = 0;
  Arguments arguments = {};
};

namespace plan_detail {
inline const char* refusal(const Problem& p) {
  if (p.rows < 0 || p.cols < 0) return "rows and columns must not be negative";
  if (p.cols > kMaxCols) return "columns must not exceed 8192";
  // A launch has at most 2^32 - 1 work-items per dimension (HIP programming guide).
  if (p.rows > 0xffffffffLL / (kMaxWaves * kWaveThreads)) {
    return "there are too many rows for one launch";
  }
  if (!(p.eps >= 0)) return "eps must not be negative";
  if (p.rows == 0 || p.cols == 0) return nullptr;
  if (p.x == nullptr || p.y == nullptr) return "x or y is a null pointer";
  if (p.y == p.sum) return "y and sum must not be the same";
  for (const void* pointer : {p.x, p.residual, p.weight, p.bias, static_cast<const void*>(p.y),
                              static_cast<const void*>(p.sum)}) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % 2 != 0) {
      return "a tensor is not aligned to its elements";
    }
  }
  return nullptr;
}
}  // namespace plan_detail

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = plan_detail::refusal(p);
  if (result.refusal != nullptr || p.rows == 0 || p.cols == 0) return result;
  static constexpr const char* kNames[] = {"layernorm_bf16_1024", "layernorm_bf16_2048",
                                           "layernorm_bf16_4096", "layernorm_bf16_8192"};
  int size = 0;
  while ((kPart << size) < p.cols) ++size;
  result.kernel = kNames[size];
  result.grid_x = static_cast<unsigned>(p.rows);
  result.block_x = kWaveThreads << size;
  const auto rows = static_cast<std::int32_t>(p.rows), cols = static_cast<std::int32_t>(p.cols);
  const auto matrix = [&](const void* data) { return Tensor{1, 1, rows, cols, data}; };
  const auto vector = [&](const void* data) { return Tensor{1, 1, 1, cols, data}; };
  result.arguments = {matrix(p.x),    matrix(p.residual), vector(p.weight),
                      vector(p.bias), matrix(p.y),        matrix(p.sum),
                      p.eps};
  return result;
}

}  // namespace margay_layernorm
