// Which softmax kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (softmax.h) and for those that load the code object
// themselves.
#pragma once

#include <cstdint>
#include <string>

#include "../common/plan.h"

namespace margay_softmax {

enum class Type { kBf16, kFloat };

/// y = softmax(x) along the rows of a row-major matrix without gaps; y may be x. Computed in float.
/// A row whose elements are all minus infinity, or one of which is plus infinity or NaN, gives NaN.
struct Problem {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t rows = 0, cols = 0;
  Type type = Type::kFloat;
};

using margay_kernels::Tensor;

/// The kernels' parameter. Both are 1 x 1 x rows x cols.
struct Arguments {
  Tensor x, y;
};
static_assert(sizeof(Arguments) == 48);

/// A wave keeps this much of a row in registers.
constexpr int kPart = 1024;
/// A row up to kPart has one wave, and a workgroup kShortRows rows. One up to kMedium has a
/// workgroup of four waves. A longer one has a workgroup of eight, and is read twice.
constexpr int kMedium = 4 * kPart;
constexpr int kShortRows = 4;
constexpr unsigned kThreads = 256;
constexpr unsigned kLongThreads = 512;

using Plan = margay_kernels::Plan<Arguments>;

/// By type, then by length.
inline constexpr margay_kernels::Kernel kKernels[2][3] = {{{"softmax_bf16_1024", kThreads},
                                                           {"softmax_bf16_4096", kThreads},
                                                           {"softmax_bf16_long", kLongThreads}},
                                                          {{"softmax_f32_1024", kThreads},
                                                           {"softmax_f32_4096", kThreads},
                                                           {"softmax_f32_long", kLongThreads}}};

/// Why no kernel runs a problem of these extents, wherever its tensors are; empty if one does.
inline std::string refuse_extents(const Problem& p) {
  using margay_kernels::text;
  if (p.rows < 0 || p.cols < 0) return "rows and columns must not be negative";
  // A part's first column must fit an int, and a row's bytes a buffer's range.
  constexpr std::int64_t kMaxCols = 0x3fffffff - 8 * kMedium;
  if (p.cols > kMaxCols)
    return text("x: its rows have ", p.cols, " elements; the kernel's limit is ", kMaxCols);
  const std::int64_t most = margay_kernels::kMaxWorkItems /
                            (p.cols > kMedium ? kLongThreads : kThreads) *
                            (p.cols > kPart ? 1 : kShortRows);
  if (p.rows > most) return text("x: its ", p.rows, " rows are too many for one launch");
  return {};
}

inline std::string refuse_memory(const Problem& p) {
  if (p.x == nullptr || p.y == nullptr) return "x or y is a null pointer";
  const std::size_t size = p.type == Type::kFloat ? 4 : 2;
  if (!margay_kernels::aligned(p.x, size) || !margay_kernels::aligned(p.y, size))
    return "x and y must be aligned to their elements";
  return {};
}

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = refuse_extents(p);
  if (!result.refusal.empty() || p.rows == 0 || p.cols == 0) return result;
  result.refusal = refuse_memory(p);
  if (!result.refusal.empty()) return result;
  const int size = p.cols <= kPart ? 0 : (p.cols <= kMedium ? 1 : 2);
  result.use(kKernels[p.type == Type::kFloat][size]);
  result.grid_x =
      static_cast<unsigned>(margay_kernels::ceil_div(p.rows, size == 0 ? kShortRows : 1));
  const auto rows = static_cast<std::int32_t>(p.rows), cols = static_cast<std::int32_t>(p.cols);
  result.arguments = {{1, 1, rows, cols, p.x}, {1, 1, rows, cols, p.y}};
  return result;
}

}  // namespace margay_softmax
