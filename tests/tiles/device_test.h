// What the tile tests share: device buffers, element values that are exact in every type, and the
// documented place of an element in the lanes, written a second time on purpose.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kittens.cuh"

namespace tile_test {

inline void check(hipError_t status, const char* what) {
  if (status != hipSuccess) {
    ADD_FAILURE() << what << ": " << hipGetErrorString(status);
  }
}

/// Device memory for `count` elements, freed at the end.
template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    check(hipMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "hipMalloc");
  }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    check(hipMemcpy(data_, host.data(), count_ * sizeof(T), hipMemcpyHostToDevice), "hipMemcpy");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { check(hipFree(data_), "hipFree"); }

  T* get() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    check(hipGetLastError(), "launch");
    check(hipDeviceSynchronize(), "kernel");
    check(hipMemcpy(host.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
    return host;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

template <typename T>
__host__ __device__ inline float as_float(T value) {
  return kittens::base_types::convertor<float, T>::convert(value);
}
template <typename T>
__host__ __device__ inline T as(float value) {
  return kittens::base_types::convertor<T, float>::convert(value);
}

/// A small integer for matrix element (r, c): exact in bf16 and half. 251 is prime, so neighbouring
/// rows, columns, chunks and tiles all differ.
__host__ __device__ inline float value_at(int r, int c) {
  return static_cast<float>((r * 31 + c * 17) % 251 - 125);
}

template <typename T>
std::vector<T> matrix(int rows, int cols) {
  std::vector<T> result(static_cast<size_t>(rows) * cols);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c)
      result[static_cast<size_t>(r) * cols + c] = as<T>(value_at(r, c));
  }
  return result;
}

/// The documented base tiles, written a second time: how many lanes are across, how many elements
/// along, and how many neighbours of these a lane holds together.
struct BaseShape {
  int across, along, run;
  constexpr int per_lane() const { return across * along / 64; }
};
template <typename T, typename Shape>
__host__ __device__ constexpr BaseShape base_shape() {
  const bool large = std::is_same_v<Shape, kittens::rt_32x32_s>;
  if (sizeof(T) == 8) return {16, 16, 1};
  if (sizeof(T) == 1) return large ? BaseShape{32, 32, 8} : BaseShape{16, 32, 8};
  return large ? BaseShape{32, 32, 4} : BaseShape{16, 16, 4};
}

/// Row and column in a base tile of element e of lane L, from the MFMA's operand tables: 16-bit
/// 16x16 is row L%16, columns 4(L/16)+e; the 32x32 result is row 8(e/4) + 4(L/32) + e%4, column
/// L%32.
template <typename T, typename Layout, typename Shape>
__host__ __device__ inline void place_of(int lane, int e, int& row, int& col) {
  constexpr BaseShape base = base_shape<T, Shape>();
  const int lanes_along = 64 / base.across;
  const int across = lane % base.across;
  const int along =
      e / base.run * base.run * lanes_along + lane / base.across * base.run + e % base.run;
  const bool is_row = std::is_same_v<Layout, kittens::ducks::rt_layout::row>;
  row = is_row ? across : along;
  col = is_row ? along : across;
}
template <typename RT>
struct TileFacts {
  static constexpr BaseShape base = base_shape<typename RT::T, typename RT::shape>();
  static constexpr bool is_row = std::is_same_v<typename RT::layout, kittens::row_l>;
  static constexpr int rows = is_row ? base.across : base.along;
  static constexpr int cols = is_row ? base.along : base.across;
  static constexpr int per_lane = base.across * base.along / 64;
  /// Row and column in the whole tile.
  static __host__ __device__ void place(int i, int j, int lane, int e, int& row, int& col) {
    place_of<typename RT::T, typename RT::layout, typename RT::shape>(lane, e, row, col);
    row += i * rows;
    col += j * cols;
  }
};

/// Element e of a lane's part of a base tile, by the order of its storage.
template <typename Base>
__device__ inline typename Base::T& element_of(Base& tile, int e) {
  return reinterpret_cast<typename Base::T*>(&tile.data[0])[e];
}

/// Writes a register tile lane by lane: out[((i * width + j) * 64 + lane) * per_lane + e].
template <typename RT>
__device__ inline void dump(RT& tile, float* out) {
  constexpr int count = TileFacts<RT>::per_lane;
  const int lane = threadIdx.x % 64;
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
#pragma unroll
      for (int e = 0; e < count; ++e) {
        out[((i * RT::width + j) * 64 + lane) * count + e] =
            as_float(element_of(tile.tiles[i][j], e));
      }
    }
  }
}

/// Fills a register tile with value(row, column), by the documented places.
template <typename RT, typename F>
__device__ inline void fill_with(RT& tile, F&& value) {
  const int lane = threadIdx.x % 64;
#pragma unroll
  for (int i = 0; i < RT::height; ++i) {
#pragma unroll
    for (int j = 0; j < RT::width; ++j) {
#pragma unroll
      for (int e = 0; e < TileFacts<RT>::per_lane; ++e) {
        int row, col;
        TileFacts<RT>::place(i, j, lane, e, row, col);
        element_of(tile.tiles[i][j], e) = as<typename RT::T>(value(row, col));
      }
    }
  }
}
template <typename RT>
__device__ inline void fill(RT& tile, int row0 = 0, int col0 = 0) {
  fill_with(tile, [=](int row, int col) { return value_at(row0 + row, col0 + col); });
}

/// Checks a dump against value(row, col).
template <typename RT, typename F>
void expect_tile(const std::vector<float>& dumped, F&& value, const std::string& what) {
  constexpr int count = TileFacts<RT>::per_lane;
  ASSERT_EQ(dumped.size(), static_cast<size_t>(RT::num_elements)) << what;
  for (int i = 0; i < RT::height; ++i) {
    for (int j = 0; j < RT::width; ++j) {
      for (int lane = 0; lane < 64; ++lane) {
        for (int e = 0; e < count; ++e) {
          int row, col;
          TileFacts<RT>::place(i, j, lane, e, row, col);
          ASSERT_EQ(dumped[((i * RT::width + j) * 64 + lane) * count + e], value(row, col))
              << what << ": row " << row << ", column " << col << " (tile " << i << "," << j
              << ", lane " << lane << ", element " << e << ")";
        }
      }
    }
  }
}

template <typename T>
using Global = kittens::gl<T, -1, -1, -1, -1>;

/// A two-dimensional tensor.
template <typename T>
Global<T> tensor(const Buffer<T>& buffer, int rows, int cols, int depth = 1, int batch = 1) {
  return Global<T>(buffer.get(), batch, depth, rows, cols);
}

}  // namespace tile_test
