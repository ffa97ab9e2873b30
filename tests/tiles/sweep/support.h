// Sweeps over element types, layouts, base shapes and sizes: what they share.
//
// A case is one operation on one type and size. Kernels do several operations each, to compile in
// reasonable time; each result is compared by itself, element by element, with a reference computed
// on the host in double.
#pragma once

#include <cmath>

#include "device_test.h"

namespace tile_test {

using namespace kittens;

template <typename T>
const char* name_of() {
  if (std::is_same_v<T, float>) return "float";
  if (std::is_same_v<T, bf16>) return "bf16";
  if (std::is_same_v<T, half>) return "half";
  if (std::is_same_v<T, double>) return "double";
  if (std::is_same_v<T, int>) return "int";
  if (std::is_same_v<T, int8_t>) return "int8";
  if (std::is_same_v<T, fp8e4m3>) return "fp8e4m3";
  return "fp8e5m2";
}
template <typename T>
constexpr bool is_whole = std::is_same_v<T, int> || std::is_same_v<T, int8_t>;
template <typename T>
constexpr bool has_infinity = !is_whole<T> && sizeof(T) > 1;

template <typename RT>
std::string tile_name() {
  return std::string(name_of<typename RT::T>()) + " " + std::to_string(RT::rows) + "x" +
         std::to_string(RT::cols) + (TileFacts<RT>::is_row ? " row" : " col") +
         (std::is_same_v<typename RT::shape, rt_32x32_s> ? " 32x32" : " 16x16");
}

template <typename T>
__host__ __device__ inline double as_double(T value) {
  return base_types::convertor<double, T>::convert(value);
}
/// Rounds a reference to the type, once.
template <typename T>
__host__ __device__ inline T rounded(double value) {
  return base_types::convertor<T, double>::convert(value);
}

/// Half a unit in the last place, relative; 0 for integers.
template <typename T>
constexpr double half_ulp() {
  if (std::is_same_v<T, float>) return 0x1p-24;
  if (std::is_same_v<T, double>) return 0x1p-53;
  if (std::is_same_v<T, half>) return 0x1p-11;
  if (std::is_same_v<T, bf16>) return 0x1p-8;
  if (std::is_same_v<T, fp8e4m3>) return 0x1p-4;
  if (std::is_same_v<T, fp8e5m2>) return 0x1p-3;
  return 0;
}

/// A function of row and column that lives where it is passed. Hundreds are, one for each operation
/// and tile: std::function would take half of the time of compiling them.
class Element {
 public:
  template <typename F>
    requires requires(const F& f) { f(0, 0) + 0.0; }
  Element(const F& function)  // NOLINT(google-explicit-constructor)
      : function_(&function), call_([](const void* f, int r, int c) -> double {
          return (*static_cast<const F*>(f))(r, c);
        }) {}
  Element(double (*function)(int, int))  // NOLINT(google-explicit-constructor)
      : plain_(function) {}
  double operator()(int row, int column) const {
    return plain_ != nullptr ? plain_(row, column) : call_(function_, row, column);
  }

 private:
  const void* function_ = nullptr;
  double (*call_)(const void*, int, int) = nullptr;
  double (*plain_)(int, int) = nullptr;
};

/// The number of cases of one area, which a sweep must reach: a sweep that shrinks by accident
/// fails.
class Cases {
 public:
  explicit Cases(int least) : least_(least) {}
  ~Cases() {
    EXPECT_GE(count_, least_) << "fewer cases than this area has upstream";
    std::printf("             %d cases\n", count_);
  }
  /// Compares `count` elements with the reference: exactly, or within `slack` times a half ulp of
  /// the type besides its own rounding.
  template <typename T>
  __attribute__((noinline)) void expect(const std::vector<T>& got, size_t from, int rows, int cols,
                                        Element reference, const std::string& what,
                                        double slack = 0) {
    ++count_;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const T value = got[from + static_cast<size_t>(r) * cols + c];
        const double want = reference(r, c);
        const double is = as_double(value);
        const double nearest = as_double(rounded<T>(want));
        if (is == nearest || (std::isnan(is) && std::isnan(nearest))) continue;
        const double error = std::fabs(is - want);
        const double allowed = (slack + 1) * half_ulp<T>() * std::fabs(want) + 1e-9 * slack;
        ASSERT_LE(slack > 0 ? error : INFINITY, slack > 0 ? allowed : 0)
            << what << ", row " << r << ", column " << c << ": is " << is << ", should be " << want;
      }
    }
  }

 private:
  int least_;
  int count_ = 0;
};

template <typename T>
std::vector<T> filled(int rows, int cols, Element value) {
  std::vector<T> result(static_cast<size_t>(rows) * cols);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      result[static_cast<size_t>(r) * cols + c] = rounded<T>(value(r, c));
    }
  }
  return result;
}

/// Calls f.template operator()<RT>() for register tiles of 1 to `most` base tiles each way, in both
/// layouts; for both base shapes where the type has them.
template <typename T, typename L, typename S, typename F>
void for_sizes(F&& f) {
  constexpr bool row = std::is_same_v<L, row_l>;
  constexpr BaseShape base = base_shape<T, S>();
  constexpr int h = row ? base.across : base.along;
  constexpr int w = row ? base.along : base.across;
  f.template operator()<rt<T, h, w, L, S>>();
  if constexpr (base.across == 32) {
    f.template operator()<rt<T, h, 2 * w, L, S>>();
  } else {
    f.template operator()<rt<T, 2 * h, w, L, S>>();
    f.template operator()<rt<T, h, 3 * w, L, S>>();
    if constexpr (sizeof(T) == 2 || std::is_same_v<T, float>) {
      f.template operator()<rt<T, 2 * h, 2 * w, L, S>>();
    }
  }
}
template <typename T, typename F>
void for_tiles(F&& f) {
  for_sizes<T, row_l, rt_16x16_s>(f);
  for_sizes<T, col_l, rt_16x16_s>(f);
  if constexpr (sizeof(T) <= 4) {
    for_sizes<T, row_l, rt_32x32_s>(f);
    for_sizes<T, col_l, rt_32x32_s>(f);
  }
}

}  // namespace tile_test
