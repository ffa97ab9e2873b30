// Views into tensors, strides, tensors made in a kernel, and masks of bytes.
#include "profiled.h"

namespace {

using namespace kittens;
using namespace tile_test;

using Strided = gl<float, -1, -1, -1, -1, strided>;
using Bytes = gl<uint8_t, 1, 1, -1, -1>;

// A contiguous tensor pays for no stride.
static_assert(sizeof(gl<float, -1, -1, -1, -1>) == 24);
static_assert(sizeof(gl<bf16, 1, 1, 64, 64>) == 8);

constexpr int kRows = 80, kCols = 96;

/// Copies one tile of `from` to `to`, by registers, shared memory or straight to shared memory.
enum class Way { registers, shared, direct };
template <Way way, typename T, typename From, typename To>
__device__ void copy_tile(const From& from, const To& to) {
  if constexpr (way == Way::registers) {
    rt<T, 32, 32> tile;
    load(tile, from, {0, 0});
    store(to, tile, {0, 0});
  } else {
    __shared__ st<T, 32, 32> tile;
    if constexpr (way == Way::direct) {
      load_direct(tile, from, {0, 0});
      direct_loads_done();
    } else {
      load(tile, from, {0, 0});
    }
    __syncthreads();
    store(to, tile, {0, 0});
  }
}

template <Way way>
__global__ void copy_views(Global<float> src, Global<float> dst) {
  copy_tile<way, float>(src.view({0, 0, 7, 12}, 32, 32),
                        dst.view(coord<st_fl<32, 32>>{1, 2}, 32, 32));
}
template <Way way>
void check_views() {
  Buffer<float> src(matrix<float>(kRows, kCols));
  Buffer<float> dst(std::vector<float>(kRows * kCols, -1));
  copy_views<way><<<1, 64>>>(tensor(src, kRows, kCols), tensor(dst, kRows, kCols));
  const auto got = dst.read();
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      const bool inside = r >= 32 && r < 64 && c >= 64;
      ASSERT_EQ(got[r * kCols + c], inside ? value_at(r - 32 + 7, c - 64 + 12) : -1)
          << r << "," << c;
    }
  }
}
TEST(View, ByElementsAndByTiles) {
  check_views<Way::registers>();
  check_views<Way::shared>();
  check_views<Way::direct>();
}

/// A view ends at its own bounds, not at its tensor's.
__global__ void copy_bounded_views(Global<float> src, Global<float> dst, int rows, int cols) {
  const auto from = src.view({0, 0, 3, 5}, rows, cols);
  const auto to = dst.view({0, 0, 3, 5}, rows, cols);
  for (int r = 0; r < ceil_div(rows, 32); ++r) {
    for (int c = 0; c < ceil_div(cols, 32); ++c) {
      rt_fl<32, 32> tile;
      load(tile, bounded(from), {r, c});
      add(tile, tile, 1.0f);  // elements outside read as 0 and would be written as 1
      store(bounded(to), tile, {r, c});
    }
  }
}
TEST(View, BoundedEndsAtTheView) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {33, 40}, {17, 63}, {64, 64}, {0, 5}, {5, 0}}) {
    Buffer<float> src(matrix<float>(kRows, kCols));
    Buffer<float> dst(std::vector<float>(kRows * kCols, -1));
    copy_bounded_views<<<1, 64>>>(tensor(src, kRows, kCols), tensor(dst, kRows, kCols), rows, cols);
    const auto got = dst.read();
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kCols; ++c) {
        const bool inside = r >= 3 && r < 3 + rows && c >= 5 && c < 5 + cols;
        ASSERT_EQ(got[r * kCols + c], inside ? value_at(r, c) + 1 : -1)
            << r << "," << c << " of a view of " << rows << "x" << cols;
      }
    }
  }
}

/// Rows first .. of a tensor, as they are found in memory.
__global__ void copy_row_range(Global<float> src, Global<float> dst, const int* offsets) {
  const int first = offsets[blockIdx.x], count = offsets[blockIdx.x + 1] - first;
  const auto from = src.row_range(first, count);
  static_assert(sizeof(from) == 16, "contiguous: a pointer, rows and columns");
  rt_fl<16, 96> tile;
  load(tile, bounded(from), {0, 0});
  store(bounded(dst.row_range({0, 0, first}, count)), tile, {0, 0});
}
TEST(View, RowRangesThatMemoryHolds) {
  const std::vector<int> offsets = {0, 5, 5, 21, 30};
  Buffer<float> src(matrix<float>(kRows, kCols));
  Buffer<float> dst(std::vector<float>(kRows * kCols, -1));
  Buffer<int> groups(offsets);
  copy_row_range<<<4, 64>>>(tensor(src, kRows, kCols), tensor(dst, kRows, kCols), groups.get());
  const auto got = dst.read();
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      ASSERT_EQ(got[r * kCols + c], r < 30 ? value_at(r, c) : -1) << r << "," << c;
    }
  }
}

/// A tensor of {2, 3, 16, 32} inside larger rows, depths and batches, given from the host.
template <typename GL>
__global__ void double_in_place(GL tensor) {
  rt_fl<16, 32> tile;
  load(tile, tensor, {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), 0, 0});
  add(tile, tile, tile);
  store(tensor, tile, {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), 0, 0});
}
TEST(View, StridesOfEveryAxis) {
  constexpr int row_stride = 40, depth_stride = 17 * row_stride, batch_stride = 4 * depth_stride;
  const std::vector<float> host = matrix<float>(2 * 4 * 17, row_stride);
  Buffer<float> data(host);
  double_in_place<<<dim3(2, 3), 64>>>(
      Strided(data.get(), 2, 3, 16, 32, row_stride, depth_stride, batch_stride));
  const auto got = data.read();
  for (size_t i = 0; i < host.size(); ++i) {
    const bool inside = i % batch_stride / depth_stride < 3 && i % depth_stride / row_stride < 16 &&
                        i % row_stride < 32;
    ASSERT_EQ(got[i], host[i] * (inside ? 2 : 1)) << i;
  }
}
TEST(View, StridesFollowFromTheLeadingDimension) {
  const std::vector<float> host = matrix<float>(2 * 3 * 16, 40);
  Buffer<float> data(host);
  Strided whole(data.get(), 2, 3, 16, 32, 40);
  EXPECT_EQ(whole.stride<1>(), 16 * 40);
  EXPECT_EQ(whole.stride<0>(), 3 * 16 * 40);
  EXPECT_EQ(whole.index({1, 2, 15, 31}), (1 * 3 + 2) * 16 * 40 + 15 * 40 + 31);
  double_in_place<<<dim3(2, 3), 64>>>(whole);
  const auto got = data.read();
  for (size_t i = 0; i < host.size(); ++i) ASSERT_EQ(got[i], host[i] * (i % 40 < 32 ? 2 : 1)) << i;
}
TEST(View, OfSeveralBatchesAndOfAView) {
  Buffer<float> data(size_t{2} * 3 * kRows * kCols);
  const Global<float> whole(data.get(), 2, 3, kRows, kCols);
  const auto part = whole.view({0, 1, 8, 4}, 2, 2, 32, 64);
  EXPECT_EQ(part.raw_ptr - data.get(), (1 * kRows + 8) * kCols + 4);
  EXPECT_EQ(part.index({1, 1, 2, 3}), 3 * kRows * kCols + kRows * kCols + 2 * kCols + 3);
  const auto inner = part.view({1, 0, 2, 3}, 16, 16);
  EXPECT_EQ(inner.raw_ptr - data.get(), ((3 + 1) * kRows + 8 + 2) * kCols + 4 + 3);
  EXPECT_EQ(inner.stride<2>(), kCols);
  const auto rows = part.row_range({1, 1, 5}, 4);
  EXPECT_EQ(rows.raw_ptr - data.get(), ((3 + 2) * kRows + 8 + 5) * kCols + 4);
  EXPECT_EQ(rows.rows(), 4);
  EXPECT_EQ(rows.cols(), 64);
  EXPECT_EQ(rows.stride<2>(), kCols);
}

/// Vectors of a view.
__global__ void copy_vectors(Global<float> src, Global<float> dst) {
  const auto from = src.view({0, 0, 2, 16}, 4, 64);
  const auto to = dst.view({0, 0, 2, 16}, 4, 64);
  rv_fl<32> vec;
  load(vec, from, {1, 1});
  store(to, vec, {1, 1});
  __shared__ sv_fl<32> shared;
  load(shared, from, {3, 0});
  __syncthreads();
  store(to, shared, {3, 0});
}
TEST(View, Vectors) {
  Buffer<float> src(matrix<float>(8, kCols));
  Buffer<float> dst(std::vector<float>(8 * kCols, -1));
  copy_vectors<<<1, 64>>>(tensor(src, 8, kCols), tensor(dst, 8, kCols));
  const auto got = dst.read();
  for (int r = 0; r < 8; ++r) {
    for (int c = 0; c < kCols; ++c) {
      const bool inside = (r == 3 && c >= 48 && c < 80) || (r == 5 && c >= 16 && c < 48);
      ASSERT_EQ(got[r * kCols + c], inside ? value_at(r, c) : -1) << r << "," << c;
    }
  }
}

/// A vector far along one long row: its offset does not fit in 32 bits.
__global__ void copy_far_vector(Global<float> data, float* out, int index) {
  rv_fl<64> vec;
  load(vec, data, {0, index});
  store(Global<float>(out, 1, 1, 1, 64), vec, {0, 0});
}
TEST(View, VectorBeyondFourGibibytes) {
  const int index = (1 << 24) + 1;  // vectors of 64 floats
  const size_t first = size_t{64} * index;
  Buffer<float> data(first + 64);
  const auto tail = matrix<float>(1, 64);
  check(hipMemcpy(data.get() + first, tail.data(), 64 * sizeof(float), hipMemcpyHostToDevice),
        "hipMemcpy");
  Buffer<float> out(64);
  copy_far_vector<<<1, 64>>>(Global<float>(data.get(), 1, 1, 1, static_cast<int>(first + 64)),
                             out.get(), index);
  const auto got = out.read();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(got[i], value_at(0, i)) << i;
}

/// The loop of a kernel whose coordinate is the same in all lanes although the compiler cannot see
/// it: right with and without uniform().
template <bool said>
__global__ void copy_by_thread_number(Global<float> src, Global<float> dst) {
  const int warp = said ? uniform(threadIdx.x / 64) : static_cast<int>(threadIdx.x / 64);
  rt_fl<16, 32> tile;
  load(tile, src, {warp, 1});
  store(dst, tile, {warp, 1});
}
TEST(View, CoordinatesFromTheThreadNumber) {
  for (const bool said : {false, true}) {
    Buffer<float> src(matrix<float>(64, 64));
    Buffer<float> dst(std::vector<float>(64 * 64, -1));
    if (said) {
      copy_by_thread_number<true><<<1, 256>>>(tensor(src, 64, 64), tensor(dst, 64, 64));
    } else {
      copy_by_thread_number<false><<<1, 256>>>(tensor(src, 64, 64), tensor(dst, 64, 64));
    }
    const auto got = dst.read();
    for (int i = 0; i < 64 * 64; ++i) {
      ASSERT_EQ(got[i], i % 64 >= 32 ? value_at(i / 64, i % 64) : -1) << i;
    }
  }
}

/// Bytes, in registers and shared memory, also past the edge.
__global__ void copy_bytes(Bytes src, Bytes dst) {
  rt_u8<32, 64> tile;
  load(tile, bounded(src), {0, 0});
  __shared__ st_u8<32, 64> shared;
  store(shared, tile);
  __syncthreads();
  rt_u8<32, 64> again;
  load(again, shared);
  store(bounded(dst), again, {0, 0});
}
TEST(View, Bytes) {
  constexpr int rows = 30, cols = 61;
  std::vector<uint8_t> host(rows * cols);
  for (int i = 0; i < rows * cols; ++i) host[i] = i * 7 % 256;
  Buffer<uint8_t> src(host), dst(rows * cols);
  copy_bytes<<<1, 64>>>(Bytes(src.get(), nullptr, nullptr, rows, cols),
                        Bytes(dst.get(), nullptr, nullptr, rows, cols));
  EXPECT_EQ(dst.read(), host);
}

/// Bytes become numbers of any type, 0 to 255.
__global__ void convert_bytes(Bytes src, Global<float> dst) {
  rt_fl<16, 32> tile;
  load(tile, src, {0, 0});
  store(dst, tile, {0, 0});
}
TEST(View, BytesAsNumbers) {
  std::vector<uint8_t> host(16 * 32);
  for (int i = 0; i < 16 * 32; ++i) host[i] = static_cast<uint8_t>(i);
  Buffer<uint8_t> src(host);
  Buffer<float> dst(16 * 32);
  convert_bytes<<<1, 64>>>(Bytes(src.get(), nullptr, nullptr, 16, 32), tensor(dst, 16, 32));
  const auto got = dst.read();
  for (int i = 0; i < 16 * 32; ++i) ASSERT_EQ(got[i], i % 256) << i;
}

}  // namespace
