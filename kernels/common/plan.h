// What the plans of all kernels share, kernels/NAME/plan.h: how a launch and a refusal look. Plain
// C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace margay_kernels {

/// Four dimensions and an address, in the memory layout of kittens::gl.
struct Tensor {
  std::int32_t batch, depth, rows, cols;
  const void* data;
};
static_assert(sizeof(Tensor) == 24 && offsetof(Tensor, data) == 16);

/// A kernel of a code object: its symbol, and the work-items of its workgroups, in x.
struct Kernel {
  const char* name;
  unsigned block_x;
};

/// A launch, or a refusal that says why there is none. Nothing is launched when grid_x is 0: the
/// result has no elements.
template <typename Arguments>
struct Plan {
  std::string refusal;  // empty: a launch; otherwise "FIELD OF THE PROBLEM: what is wrong with it"
  const char* kernel = nullptr;
  unsigned grid_x = 0, grid_y = 1, grid_z = 1;  // workgroups
  unsigned block_x = 0;                         // work-items
  unsigned dynamic_lds = 0;                     // bytes
  Arguments arguments = {};

  void use(const Kernel& chosen) {
    kernel = chosen.name;
    block_x = chosen.block_x;
  }
};

/// Of a launch, per dimension (HIP programming guide).
constexpr std::int64_t kMaxWorkItems = 0xffffffff;

constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

inline bool aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

namespace detail {
inline void append(std::string& text, const char* part) { text += part; }
inline void append(std::string& text, std::int64_t part) { text += std::to_string(part); }
inline void append(std::string& text, int part) { text += std::to_string(part); }
inline void append(std::string& text, float part) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", static_cast<double>(part));
  text += digits;
}
}  // namespace detail

/// Words and numbers in a row, for refusals.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::string result;
  (detail::append(result, parts), ...);
  return result;
}

}  // namespace margay_kernels
