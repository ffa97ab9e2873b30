// Which softmax kernel runs a problem, and with which grid and arguments. Plain C++: for programs
// that launch through HIP's C++ interface (softmax.h) and for those that load the code object
// themselves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay_softmax {

enum class Type { kBf16, kFloat };

/// y = softmax(x) along the rows of a row-major matrix without gaps; y may be x. Computed in float.
/// A row of which every element is minus infinity, or one plus infinity or NaN, gives NaN.
struct Problem {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t rows = 0, cols = 0;
  Type type = Type::kFloat;
};

/// Four dimensions and an address, as kittens::gl lies in memory.
struct Tensor {
  std::int32_t batch, depth, rows, cols;
  const void* data;
};
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
  // A part's first column must fit an int, and a row's bytes a buffer's range.
  if (p.cols > 0x3fffffff - 8 * kMedium) return "columns must be below 2^30 - 32768";
  // A launch has at most 2^32 - 1 work-items per dimension (HIP programming guide).
  const std::int64_t most = 0xffffffffLL / (p.cols > kMedium ? kLongThreads : kThreads) *
                            (p.cols > kPart ? 1 : kShortRows);
  if (p.rows > most) return "there are too many rows for one launch";
  if (p.rows == 0 || p.cols == 0) return nullptr;
  if (p.x == nullptr || p.y == nullptr) return "x or y is a null pointer";
  const std::uintptr_t size = p.type == Type::kFloat ? 4 : 2;
  if ((reinterpret_cast<std::uintptr_t>(p.x) | reinterpret_cast<std::uintptr_t>(p.y)) % size != 0) {
    return "x and y must be aligned to their elements";
  }
  return nullptr;
}
}  // namespace plan_detail

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = plan_detail::refusal(p);
  if (result.refusal != nullptr || p.rows == 0 || p.cols == 0) return result;
  static constexpr const char* kNames[2][3] = {
      {"softmax_bf16_1024", "softmax_bf16_4096", "softmax_bf16_long"},
      {"softmax_f32_1024", "softmax_f32_4096", "softmax_f32_long"}};
  const int size = p.cols <= kPart ? 0 : (p.cols <= kMedium ? 1 : 2);
  result.kernel = kNames[p.type == Type::kFloat][size];
  result.block_x = size == 2 ? kLongThreads : kThreads;
  const int per_workgroup = size == 0 ? kShortRows : 1;
  result.grid_x = static_cast<unsigned>((p.rows + per_workgroup - 1) / per_workgroup);
  const auto rows = static_cast<std::int32_t>(p.rows), cols = static_cast<std::int32_t>(p.cols);
  result.arguments = {{1, 1, rows, cols, p.x}, {1, 1, rows, cols, p.y}};
  return result;
}

}  // namespace margay_softmax
