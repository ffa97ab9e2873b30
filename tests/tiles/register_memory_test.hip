// Register tiles from and to global and shared memory: every element in the documented lane, and
// what the moves cost.
#include <tuple>

#include "profiled.h"

namespace {

using namespace kittens;
using namespace tile_test;

// --- global -> register, register -> global ---

template <int axis, typename RT, typename U>
__global__ void global_to_register(Global<U> src, coord<RT> at, float* lanes) {
  RT tile;
  load<axis>(tile, src, at);
  dump(tile, lanes);
}
template <int axis, typename RT, typename U>
__global__ void register_to_global(Global<U> dst, coord<RT> at) {
  RT tile;
  fill(tile);
  store<axis>(dst, tile, at);
}

/// What a store writes for an integer |value| < 126: exact in all types.
template <typename RT, typename U>
void check_global(int extra_cols) {
  // Tile (1, 1) of a tensor whose rows need not be a multiple of anything.
  const int rows = 2 * RT::rows + 3;
  const int cols = 2 * RT::cols + extra_cols;
  const std::string what = "tensor " + std::to_string(rows) + "x" + std::to_string(cols);
  const auto host = matrix<U>(rows, cols);
  Buffer<U> data(host);
  Buffer<float> lanes(RT::num_elements);
  global_to_register<2, RT, U><<<1, 64>>>(tensor(data, rows, cols), {1, 1}, lanes.get());
  expect_tile<RT>(
      lanes.read(), [](int r, int c) { return value_at(RT::rows + r, RT::cols + c); }, what);

  Buffer<U> out(std::vector<U>(host.size(), as<U>(-77)));
  register_to_global<2, RT, U><<<1, 64>>>(tensor(out, rows, cols), {1, 1});
  const auto written = out.read();
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      const bool inside = r >= RT::rows && r < 2 * RT::rows && c >= RT::cols && c < 2 * RT::cols;
      const float want = inside ? value_at(r - RT::rows, c - RT::cols) : -77;
      ASSERT_EQ(as_float(written[static_cast<size_t>(r) * cols + c]), want)
          << what << ", row " << r << ", column " << c;
    }
  }
}

template <typename RT>
void check_global_types() {
  for (int extra : {0, 8, 5}) {
    check_global<RT, float>(extra);
    check_global<RT, bf16>(extra);
    check_global<RT, half>(extra);
  }
}

TEST(GlobalToRegister, RowLayout) {
  check_global_types<rt_fl<16, 16>>();
  check_global_types<rt_bf<32, 48>>();
  check_global_types<rt_hf<64, 16>>();
}
TEST(GlobalToRegister, ColLayout) {
  check_global_types<rt_fl<16, 16, col_l>>();
  check_global_types<rt_bf<48, 32, col_l>>();
  check_global_types<rt_hf<16, 64, col_l>>();
}

TEST(GlobalToRegister, FourDimensionsAndOtherAxes) {
  using RT = rt_fl<16, 32>;
  const int batch = 2, depth = 32, rows = 3, cols = 64;
  std::vector<float> host(batch * depth * rows * cols);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  Buffer<float> data(host);
  const auto at = [&](int b, int d, int r, int c) {
    return static_cast<float>(((b * depth + d) * rows + r) * cols + c);
  };
  Buffer<float> lanes(RT::num_elements);
  // Rows along the depth axis: tile 1 of it, in batch 1, row 2, tile column 1.
  global_to_register<1, RT, float>
      <<<1, 64>>>(tensor(data, rows, cols, depth, batch), {1, 1, 2, 1}, lanes.get());
  expect_tile<RT>(lanes.read(), [&](int r, int c) { return at(1, 16 + r, 2, 32 + c); }, "axis 1");

  Global<float> plain(data.get(), 2, 2, 48, 64);
  global_to_register<2, RT, float><<<1, 64>>>(plain, {1, 0, 2, 1}, lanes.get());
  expect_tile<RT>(
      lanes.read(),
      [&](int r, int c) { return static_cast<float>((2 * 48 + 32 + r) * 64 + 32 + c); }, "axis 2");
}

__global__ void store_at_elements(Global<float> dst) {
  rt_fl<16, 16> tile;
  fill(tile);
  store(dst, tile, coord<>(0, 0, 3, 5));
}
TEST(GlobalToRegister, PlainCoordinatesCountElements) {
  Buffer<float> out(std::vector<float>(32 * 32, -1));
  store_at_elements<<<1, 64>>>(tensor(out, 32, 32));
  const auto written = out.read();
  for (int r = 0; r < 32; ++r) {
    for (int c = 0; c < 32; ++c) {
      const bool inside = r >= 3 && r < 19 && c >= 5 && c < 21;
      ASSERT_EQ(written[r * 32 + c], inside ? value_at(r - 3, c - 5) : -1) << r << "," << c;
    }
  }
}

TEST(GlobalToRegister, TensorBeyondTwoToThe31Elements) {
  using RT = rt_bf<16, 64>;
  const int cols = 2048;
  const int rows = (1 << 20) + 16;  // 2^31 + 2^15 elements: the last tile is past a 32-bit index
  Buffer<bf16> data(static_cast<size_t>(rows) * cols);
  std::vector<bf16> tail(static_cast<size_t>(16) * cols);
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < cols; ++c) tail[r * cols + c] = as<bf16>(value_at(r, c));
  }
  check(hipMemcpy(data.get() + static_cast<size_t>(rows - 16) * cols, tail.data(),
                  tail.size() * sizeof(bf16), hipMemcpyHostToDevice),
        "hipMemcpy");
  Buffer<float> lanes(RT::num_elements);
  global_to_register<2, RT, bf16>
      <<<1, 64>>>(tensor(data, rows, cols), {rows / 16 - 1, 31}, lanes.get());
  expect_tile<RT>(lanes.read(), [&](int r, int c) { return value_at(r, 31 * 64 + c); }, "tail");
}

// --- shared <-> register ---

/// Element by element through idx, so that only the operation under test moves tiles.
template <typename ST>
__device__ void fill_shared(ST& tile) {
  for (int i = threadIdx.x; i < ST::rows * ST::cols; i += blockDim.x) {
    const int r = i / ST::cols, c = i % ST::cols;
    tile[{r, c}] = as<typename ST::T>(value_at(r, c));
  }
  __syncthreads();
}

template <typename RT, typename ST>
__global__ void shared_to_register(int2 at, float* lanes) {
  __shared__ ST shared;
  fill_shared(shared);
  RT tile;
  if constexpr (RT::rows == ST::rows && RT::cols == ST::cols) {
    load(tile, shared);
  } else {
    load(tile, subtile_inplace<RT::rows, RT::cols>(shared, at));
  }
  dump(tile, lanes);
}
template <typename RT, typename ST>
__global__ void register_to_shared(int2 at, float* elements) {
  __shared__ ST shared;
  for (int i = threadIdx.x; i < ST::num_elements; i += blockDim.x) {
    shared[i] = as<typename ST::T>(-77);
  }
  __syncthreads();
  RT tile;
  fill(tile);
  if constexpr (RT::rows == ST::rows && RT::cols == ST::cols) {
    store(shared, tile);
  } else {
    store(subtile_inplace<RT::rows, RT::cols>(shared, at), tile);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < ST::num_elements; i += blockDim.x) {
    elements[i] = as_float(shared[{i / ST::cols, i % ST::cols}]);
  }
}

template <typename RT, typename ST>
void check_shared() {
  Buffer<float> lanes(RT::num_elements);
  Buffer<float> elements(ST::num_elements);
  for (int i = 0; i < ST::rows / RT::rows; ++i) {
    for (int j = 0; j < ST::cols / RT::cols; ++j) {
      const std::string what = "subtile " + std::to_string(i) + "," + std::to_string(j) + " of " +
                               std::to_string(ST::rows) + "x" + std::to_string(ST::cols);
      const int row0 = i * RT::rows, col0 = j * RT::cols;
      shared_to_register<RT, ST><<<1, 64>>>({i, j}, lanes.get());
      expect_tile<RT>(
          lanes.read(), [&](int r, int c) { return value_at(row0 + r, col0 + c); }, what);
      register_to_shared<RT, ST><<<1, 64>>>({i, j}, elements.get());
      const auto written = elements.read();
      for (int r = 0; r < ST::rows; ++r) {
        for (int c = 0; c < ST::cols; ++c) {
          const bool inside = r >= row0 && r < row0 + RT::rows && c >= col0 && c < col0 + RT::cols;
          ASSERT_EQ(written[r * ST::cols + c], inside ? value_at(r - row0, c - col0) : -77)
              << "store to " << what << ", row " << r << ", column " << c;
        }
      }
    }
  }
}

TEST(SharedToRegister, WholeTiles) {
  check_shared<rt_bf<16, 16>, st_bf<16, 16>>();
  check_shared<rt_bf<32, 32>, st_bf<32, 32>>();
  check_shared<rt_bf<64, 64>, st_bf<64, 64>>();
  check_shared<rt_bf<32, 128>, st_bf<32, 128>>();
  check_shared<rt_bf<32, 48>, st_bf<32, 48>>();
  check_shared<rt_bf<32, 96, col_l>, st_bf<32, 96>>();
  check_shared<rt_hf<16, 80, col_l>, st_hf<16, 80>>();
  check_shared<rt_fl<32, 16>, st_fl<32, 16>>();
  check_shared<rt_fl<16, 64>, st_fl<16, 64>>();
  check_shared<rt_fl<32, 32, col_l>, st_fl<32, 32>>();
}
TEST(SharedToRegister, Subtiles) {
  check_shared<rt_bf<32, 16>, st_bf<128, 64>>();
  check_shared<rt_bf<64, 32>, st_bf<128, 128>>();
  check_shared<rt_bf<16, 32, col_l>, st_bf<64, 64>>();
  check_shared<rt_bf<16, 48>, st_bf<32, 96>>();
  check_shared<rt_fl<16, 32>, st_fl<32, 64>>();
  check_shared<rt_fl<16, 16, col_l>, st_fl<32, 48>>();
}
TEST(SharedToRegister, ConvertsTypes) {
  check_shared<rt_fl<32, 32>, st_bf<32, 32>>();
  check_shared<rt_bf<32, 32>, st_fl<32, 32>>();
  check_shared<rt_hf<16, 64, col_l>, st_fl<16, 64>>();
  check_shared<rt_fl<16, 32, col_l>, st_hf<16, 32>>();
}

// --- what they cost ---

template <typename RT, typename U>
__global__ void only_load_global(Global<U> src) {
  RT tile;
  load(tile, src, {0, 0, 1, 1});
  use(tile);
}
template <typename RT, typename U>
__global__ void only_store_global(Global<U> dst) {
  RT tile;
  produce(tile);
  store(dst, tile, {0, 0, 1, 1});
}

/// `coalescing`: a row of a base tile is 16 elements. Those of float fill a sector of 64 bytes,
/// those of two bytes half of one.
template <typename RT, typename U>
void check_global_cost() {
  SCOPED_TRACE(std::to_string(RT::rows) + "x" + std::to_string(RT::cols) + ", " +
               std::to_string(sizeof(U)) + " bytes");
  const int rows = 2 * RT::rows, cols = 2 * RT::cols;
  Buffer<U> data(static_cast<size_t>(rows) * cols);
  const bool is_row = std::is_same_v<typename RT::layout, ducks::rt_layout::row>;
  const int instructions = RT::height * RT::width * (is_row ? 1 : 4);
  const double coalescing = sizeof(U) == 4 ? 1.0 : 0.5;

  const auto load_profile =
      counts_of([&] { only_load_global<RT, U><<<1, 64>>>(tensor(data, rows, cols)); });
  EXPECT_EQ(load_profile["SQ_INSTS_VMEM_RD"], instructions);
  EXPECT_EQ(load_profile["SQ_INSTS_VMEM_WR"], 0);
  EXPECT_EQ(load_profile["requested_bytes"], RT::num_elements * sizeof(U));
  EXPECT_EQ(load_profile["coalescing"], coalescing);
  EXPECT_EQ(load_profile["lds_instructions"], 0);

  const auto store_profile =
      counts_of([&] { only_store_global<RT, U><<<1, 64>>>(tensor(data, rows, cols)); });
  EXPECT_EQ(store_profile["SQ_INSTS_VMEM_WR"], instructions);
  EXPECT_EQ(store_profile["SQ_INSTS_VMEM_RD"], 0);
  EXPECT_EQ(store_profile["requested_bytes"], RT::num_elements * sizeof(U));
  EXPECT_EQ(store_profile["coalescing"], coalescing);
}
TEST(RegisterTileCost, Global) {
  check_global_cost<rt_fl<64, 64>, float>();
  check_global_cost<rt_fl<64, 64, col_l>, float>();
  check_global_cost<rt_bf<64, 64>, bf16>();
  check_global_cost<rt_bf<32, 64, col_l>, bf16>();
  check_global_cost<rt_fl<32, 48>, half>();
}

template <typename RT, typename ST>
__global__ void only_load_shared() {
  RT tile;
  load(tile, subtile_inplace<RT::rows, RT::cols>(
                 lds_tile<ST>(), {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y)}));
  use(tile);
}
template <typename RT, typename ST>
__global__ void only_store_shared() {
  RT tile;
  produce(tile);
  store(subtile_inplace<RT::rows, RT::cols>(
            lds_tile<ST>(), {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y)}),
        tile);
}

/// Each 16x16 base tile of the shared tile by a workgroup of its own: nothing can be merged.
template <typename RT, typename ST>
void check_base_tiles() {
  SCOPED_TRACE(std::to_string(ST::rows) + "x" + std::to_string(ST::cols) + ", " +
               std::to_string(sizeof(typename ST::T)) + " bytes");
  static_assert(RT::rows == 16 && RT::cols == 16);
  const dim3 grid(ST::height, ST::width);
  const bool is_row = std::is_same_v<typename RT::layout, ducks::rt_layout::row>;
  const int tiles = ST::height * ST::width;
  const int instructions = tiles * (!is_row ? 4 : static_cast<int>(sizeof(typename ST::T)) / 2);
  for (const bool is_load : {true, false}) {
    const auto profile = counts_of([&] {
      if (is_load) {
        only_load_shared<RT, ST><<<grid, 64, sizeof(ST)>>>();
      } else {
        only_store_shared<RT, ST><<<grid, 64, sizeof(ST)>>>();
      }
    });
    EXPECT_EQ(profile["lds_bank_conflicts"], 0) << (is_load ? "load" : "store");
    EXPECT_EQ(profile["lds_instructions"], instructions) << (is_load ? "load" : "store");
    // Two cycles for up to a dword of each lane, four for two dwords.
    EXPECT_EQ(profile["SQ_LDS_IDX_ACTIVE"], instructions * (is_row ? 4 : 2));
  }
}
TEST(RegisterTileCost, BaseTilesOfSharedTilesHaveNoBankConflicts) {
  check_base_tiles<rt_bf<16, 16>, st_bf<64, 64>>();
  check_base_tiles<rt_bf<16, 16>, st_bf<128, 32>>();
  check_base_tiles<rt_bf<16, 16>, st_bf<128, 16>>();
  check_base_tiles<rt_bf<16, 16>, st_bf<32, 96>>();
  check_base_tiles<rt_hf<16, 16>, st_hf<16, 256>>();
  check_base_tiles<rt_fl<16, 16>, st_fl<64, 64>>();
  check_base_tiles<rt_fl<16, 16>, st_fl<64, 16>>();
  check_base_tiles<rt_bf<16, 16, col_l>, st_bf<64, 64>>();
  check_base_tiles<rt_bf<16, 16, col_l>, st_bf<128, 32>>();
  check_base_tiles<rt_bf<16, 16, col_l>, st_bf<128, 16>>();
  check_base_tiles<rt_fl<16, 16, col_l>, st_fl<64, 64>>();
}

/// Whole tiles, whose accesses the compiler merges; see expect_no_lds_conflicts.
template <typename RT, typename ST>
void check_whole_tile() {
  SCOPED_TRACE(std::to_string(ST::rows) + "x" + std::to_string(ST::cols));
  const double accesses = sizeof(ST) / 512.0;
  {
    SCOPED_TRACE("load");
    expect_no_lds_conflicts(counts_of([] { only_load_shared<RT, ST><<<1, 64, sizeof(ST)>>>(); }),
                            accesses);
  }
  {
    SCOPED_TRACE("store");
    expect_no_lds_conflicts(counts_of([] { only_store_shared<RT, ST><<<1, 64, sizeof(ST)>>>(); }),
                            accesses);
  }
}
TEST(RegisterTileCost, WholeSharedTilesInRowLayout) {
  check_whole_tile<rt_bf<64, 64>, st_bf<64, 64>>();
  check_whole_tile<rt_bf<32, 32>, st_bf<32, 32>>();
  check_whole_tile<rt_fl<32, 64>, st_fl<32, 64>>();
  check_whole_tile<rt_bf<64, 16>, st_bf<64, 16>>();
}

// --- single accesses, by upstream's names ---

__global__ void single_accesses(const float4* in, float4* out) {
  __shared__ float2 shared[128];
  const uint32_t address = detail::lds_address(&shared[2 * threadIdx.x]);
  const float4 whole = load_global_vec4_async(&in[threadIdx.x]);
  const float2 half_of_it = load_global_vec2(reinterpret_cast<const float2*>(&in[threadIdx.x]));
  store_shared_vec(address, half_of_it);
  store_shared_vec(address + 8, {whole.z, whole.w});
  const float2 low = load_shared_vec(address), high = load_shared_vec_async(address + 8);
  const float4 swapped = {high.x, high.y, low.x, low.y};
  store_global_b128_async(&out[threadIdx.x], detail::bits_as<__uint128_t>(swapped));
}
TEST(LowLevel, SingleAccesses) {
  std::vector<float4> host(64);
  for (int i = 0; i < 64; ++i) host[i] = {i + 0.0f, i + 0.25f, i + 0.5f, i + 0.75f};
  Buffer<float4> in(host), out(64);
  single_accesses<<<1, 64>>>(in.get(), out.get());
  const auto got = out.read();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(got[i].x, i + 0.5f);
    EXPECT_EQ(got[i].y, i + 0.75f);
    EXPECT_EQ(got[i].z, i + 0.0f);
    EXPECT_EQ(got[i].w, i + 0.25f);
  }
}

}  // namespace
