// Shared tiles from and to global memory by warps and groups, and what that costs; group register
// loads, and the prefetch through registers.
#include "profiled.h"
#include "utils.cpp"

namespace {

using namespace kittens;
using namespace tile_test;

template <typename ST>
__device__ void set_all(ST& tile, float value) {
  for (int i = threadIdx.x; i < ST::num_elements; i += blockDim.x) {
    tile[i] = as<typename ST::T>(value);
  }
  __syncthreads();
}
/// Element by element through idx.
template <typename ST>
__device__ void read_out(ST& tile, float* elements) {
  __syncthreads();
  for (int i = threadIdx.x; i < ST::num_elements; i += blockDim.x) {
    elements[i] = as_float(tile[{i / ST::cols, i % ST::cols}]);
  }
}

template <int warps, typename ST>
__global__ void global_to_shared(Global<typename ST::T> src, coord<ST> at, float* elements) {
  __shared__ ST tile;
  set_all(tile, -77);
  group<warps>::load(tile, src, at);
  read_out(tile, elements);
}
template <int warps, typename ST>
__global__ void shared_to_global(Global<typename ST::T> dst, coord<ST> at) {
  __shared__ ST tile;
  for (int i = threadIdx.x; i < ST::num_elements; i += blockDim.x) {
    const int r = i / ST::cols, c = i % ST::cols;
    tile[{r, c}] = as<typename ST::T>(value_at(r, c));
  }
  __syncthreads();
  group<warps>::store(dst, tile, at);
}

template <int warps, typename ST>
void check_copy() {
  using T = typename ST::T;
  for (int extra : {0, 3}) {
    const int rows = 2 * ST::rows, cols = 3 * ST::cols + extra;
    const std::string what = std::to_string(warps) + " warps, " + std::to_string(ST::rows) + "x" +
                             std::to_string(ST::cols) + " of " + std::to_string(cols) + " columns";
    const auto host = matrix<T>(rows, cols);
    Buffer<T> data(host);
    Buffer<float> elements(ST::num_elements);
    global_to_shared<warps, ST>
        <<<1, warps * 64>>>(tensor(data, rows, cols), {1, 2}, elements.get());
    const auto loaded = elements.read();
    for (int r = 0; r < ST::rows; ++r) {
      for (int c = 0; c < ST::cols; ++c) {
        ASSERT_EQ(loaded[r * ST::cols + c], value_at(ST::rows + r, 2 * ST::cols + c))
            << what << ": row " << r << ", column " << c;
      }
    }
    Buffer<T> out(std::vector<T>(host.size(), as<T>(-77)));
    shared_to_global<warps, ST><<<1, warps * 64>>>(tensor(out, rows, cols), {1, 2});
    const auto written = out.read();
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const bool inside = r >= ST::rows && c >= 2 * ST::cols && c < 3 * ST::cols;
        ASSERT_EQ(as_float(written[static_cast<size_t>(r) * cols + c]),
                  inside ? value_at(r - ST::rows, c - 2 * ST::cols) : -77)
            << what << ": stored row " << r << ", column " << c;
      }
    }
  }
}

TEST(GlobalToShared, OneWarp) {
  check_copy<1, st_bf<16, 16>>();
  check_copy<1, st_bf<32, 32>>();
  check_copy<1, st_bf<64, 64>>();
  check_copy<1, st_bf<32, 128>>();
  check_copy<1, st_bf<32, 48>>();
  check_copy<1, st_hf<16, 80>>();
  check_copy<1, st_fl<32, 32>>();
  check_copy<1, st_fl<16, 48>>();
}
TEST(GlobalToShared, Groups) {
  check_copy<2, st_bf<32, 96>>();
  check_copy<3, st_bf<32, 64>>();
  check_copy<4, st_bf<128, 64>>();
  check_copy<4, st_bf<16, 16>>();
  check_copy<4, st_fl<64, 64>>();
  check_copy<8, st_bf<256, 64>>();
  check_copy<8, st_bf<128, 128>>();
  check_copy<8, st_bf<16, 256>>();
}

__global__ void load_into_subtile(Global<bf16> src, float* elements) {
  __shared__ st_bf<64, 64> tile;
  set_all(tile, -77);
  auto part = subtile_inplace<32, 16>(tile, {1, 2});
  load(part, src, {0, 1});
  read_out(tile, elements);
}
TEST(GlobalToShared, IntoASubtile) {
  Buffer<bf16> data(matrix<bf16>(32, 32));
  Buffer<float> elements(64 * 64);
  load_into_subtile<<<1, 64>>>(tensor(data, 32, 32), elements.get());
  const auto loaded = elements.read();
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) {
      const bool inside = r >= 32 && c >= 32 && c < 48;
      ASSERT_EQ(loaded[r * 64 + c], inside ? value_at(r - 32, c - 32 + 16) : -77) << r << "," << c;
    }
  }
}

// Two groups of four warps in one workgroup, each with a tile of its own.
__global__ void two_groups(Global<bf16> src, float* elements) {
  using G = group<4>;
  __shared__ st_bf<64, 32> tiles[2];
  G::load(tiles[G::groupid()], src, {G::groupid(), 0});
  read_out(tiles[0], elements);
  read_out(tiles[1], elements + 64 * 32);
}
TEST(GlobalToShared, GroupsOfOneWorkgroup) {
  Buffer<bf16> data(matrix<bf16>(128, 32));
  Buffer<float> elements(128 * 32);
  two_groups<<<1, 512>>>(tensor(data, 128, 32), elements.get());
  const auto loaded = elements.read();
  for (int i = 0; i < 128 * 32; ++i) ASSERT_EQ(loaded[i], value_at(i / 32, i % 32)) << i;
}

// --- group register loads ---

template <int warps, typename RT, typename ST>
__global__ void group_registers(float* lanes, float* elements) {
  using G = group<warps>;
  __shared__ ST tile;
  for (int i = threadIdx.x; i < ST::num_elements; i += blockDim.x) {
    const int r = i / ST::cols, c = i % ST::cols;
    tile[{r, c}] = as<typename ST::T>(value_at(r, c));
  }
  __syncthreads();
  RT part;
  G::load(part, tile);
  dump(part, lanes + G::warpid() * RT::num_elements);
  __syncthreads();
  set_all(tile, -77);
  fill(part, G::warpid() * RT::rows);
  G::store(tile, part);
  read_out(tile, elements);
}
template <int warps, typename RT, typename ST>
void check_group_registers() {
  Buffer<float> lanes(ST::num_elements), elements(ST::num_elements);
  group_registers<warps, RT, ST><<<1, warps * 64>>>(lanes.get(), elements.get());
  const auto dumped = lanes.read();
  for (int w = 0; w < warps; ++w) {
    const std::vector<float> own(dumped.begin() + w * RT::num_elements,
                                 dumped.begin() + (w + 1) * RT::num_elements);
    expect_tile<RT>(
        own, [&](int r, int c) { return value_at(w * RT::rows + r, c); },
        "warp " + std::to_string(w));
  }
  const auto written = elements.read();
  for (int i = 0; i < ST::num_elements; ++i) {
    ASSERT_EQ(written[i], value_at(i / ST::cols, i % ST::cols)) << i;
  }
}
TEST(GroupRegisters, LoadAndStoreBands) {
  check_group_registers<1, rt_bf<32, 64>, st_bf<32, 64>>();
  check_group_registers<2, rt_fl<16, 32, col_l>, st_bf<32, 32>>();
  check_group_registers<4, rt_bf<32, 64>, st_bf<128, 64>>();
  check_group_registers<8, rt_bf<16, 128>, st_bf<128, 128>>();
}

// --- prefetch through registers ---

template <int warps, typename ST, bool old_names>
__global__ void prefetch(Global<bf16> src, float* elements, int* numbers) {
  constexpr int slots = 16;
  __shared__ ST tile;
  set_all(tile, -77);
  float4 buffer[slots];
  if constexpr (old_names) {
    int metadata[3];
    load_global_to_registers<2, false, ST, Global<bf16>, coord<ST>, warps * 64>(
        buffer, slots, src, {0, 0, 1, 1}, tile, metadata);
    store_registers_to_shared<ST, warps * 64>(buffer, tile, metadata);
    if (threadIdx.x == 0) {
      for (int i = 0; i < 3; ++i) numbers[i] = metadata[i];
    }
  } else {
    load_global_to_register_buffer<2, false, warps * 64>(buffer, slots, src, {0, 0, 1, 1}, tile);
    store_register_buffer_to_shared<warps * 64>(tile, buffer);
  }
  read_out(tile, elements);
}
template <int warps, typename ST, bool old_names>
void check_prefetch(int calls) {
  Buffer<bf16> data(matrix<bf16>(2 * ST::rows, 2 * ST::cols));
  Buffer<float> elements(ST::num_elements);
  Buffer<int> numbers(std::vector<int>(3, 0));
  prefetch<warps, ST, old_names>
      <<<1, warps * 64>>>(tensor(data, 2 * ST::rows, 2 * ST::cols), elements.get(), numbers.get());
  const auto loaded = elements.read();
  for (int r = 0; r < ST::rows; ++r) {
    for (int c = 0; c < ST::cols; ++c) {
      ASSERT_EQ(loaded[r * ST::cols + c], value_at(ST::rows + r, ST::cols + c)) << r << "," << c;
    }
  }
  if (old_names) EXPECT_EQ(numbers.read(), (std::vector<int>{calls, 16, (calls + 15) / 16}));
}
TEST(RegisterBuffer, CurrentNames) {
  check_prefetch<1, st_bf<64, 64>, false>(8);
  check_prefetch<8, st_bf<256, 64>, false>(4);
  check_prefetch<4, st_bf<32, 48>, false>(1);
}
TEST(RegisterBuffer, NamesOfUtils) {
  check_prefetch<8, st_bf<256, 64>, true>(4);
  check_prefetch<4, st_bf<128, 64>, true>(4);
}

__global__ void short_buffer(Global<bf16> src, float* chunks) {
  float4 buffer[4];
  for (float4& slot : buffer) slot = float4(-1, -1, -1, -1);
  st_bf<64, 64>* like = nullptr;
  load_global_to_register_buffer<2, false, 64>(buffer, 2, src, {0, 0, 0, 0}, *like);
  for (int i = 0; i < 4; ++i) chunks[threadIdx.x * 4 + i] = buffer[i].x;
}
TEST(RegisterBuffer, StaysInsideItsSize) {
  Buffer<bf16> data(std::vector<bf16>(64 * 64, as<bf16>(0)));
  Buffer<float> chunks(64 * 4);
  short_buffer<<<1, 64>>>(tensor(data, 64, 64), chunks.get());
  const auto seen = chunks.read();
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(seen[lane * 4 + 0], 0);
    EXPECT_EQ(seen[lane * 4 + 1], 0);
    EXPECT_EQ(seen[lane * 4 + 2], -1);
    EXPECT_EQ(seen[lane * 4 + 3], -1);
  }
}

// --- the allocator ---

__global__ void allocate(uint32_t* offsets) {
  extern __shared__ alignment_dummy shm[];
  shared_allocator al((int*)&shm[0]);
  st_bf<32, 32>(&pair)[2] = al.allocate<st_bf<32, 32>, 2>();
  st_bf<16, 16>(&grid)[2][3] = al.allocate<st_bf<16, 16>, 2, 3>();
  sv_bf<16>& vec = al.allocate<sv_bf<16>>();
  st_bf<16, 16>& aligned = al.allocate<1024, st_bf<16, 16>>();
  st_fl<16, 16>(&as_array)[2] = al.allocate<st_fl<16, 16>[2]>();
  const auto offset = [&](const void* p) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) -
                                 reinterpret_cast<uintptr_t>(&shm[0]));
  };
  if (threadIdx.x != 0) return;
  offsets[0] = offset(&pair[1]);
  offsets[1] = offset(&grid[1][2]);
  offsets[2] = offset(&vec);
  offsets[3] = offset(&aligned);
  offsets[4] = offset(&as_array[1]);
}
TEST(SharedAllocator, HandsOutArraysInOrder) {
  Buffer<uint32_t> offsets(5);
  allocate<<<1, 64, 32768>>>(offsets.get());
  EXPECT_EQ(offsets.read(),
            (std::vector<uint32_t>{2048, 4096 + 5 * 512, 4096 + 6 * 512, 8192, 8704 + 1024}));
  static_assert(size_bytes<st_bf<32, 32>, sv_bf<16>, float> == 2048 + 32 + 4);
}

// --- what they cost ---

template <int warps, typename ST>
__global__ void only_load_tile(Global<typename ST::T> src) {
  group<warps>::load(lds_tile<ST>(), src, {0, 0, 1, 1});
}
template <int warps, typename ST>
__global__ void only_store_tile(Global<typename ST::T> dst) {
  group<warps>::store(dst, lds_tile<ST>(), {0, 0, 1, 1});
}
template <int warps, typename ST>
void check_tile_cost(double coalescing) {
  SCOPED_TRACE(std::to_string(warps) + " warps, " + std::to_string(ST::rows) + "x" +
               std::to_string(ST::cols));
  using T = typename ST::T;
  const int rows = 2 * ST::rows, cols = 2 * ST::cols;
  Buffer<T> data(static_cast<size_t>(rows) * cols);
  // A wave moves a chunk of 16 bytes per lane with each instruction, and two halves of it in LDS.
  const double chunks = (sizeof(ST) + 1023) / 1024;

  const auto load_profile = counts_of(
      [&] { only_load_tile<warps, ST><<<1, warps * 64, sizeof(ST)>>>(tensor(data, rows, cols)); });
  EXPECT_EQ(load_profile["SQ_INSTS_VMEM_RD"], chunks);
  EXPECT_EQ(load_profile["SQ_INSTS_VMEM_WR"], 0);
  EXPECT_EQ(load_profile["requested_bytes"], sizeof(ST));
  EXPECT_EQ(load_profile["coalescing"], coalescing);
  EXPECT_EQ(load_profile["lds_instructions"], 2 * chunks);
  EXPECT_EQ(load_profile["lds_bank_conflicts"], 0);

  const auto store_profile = counts_of(
      [&] { only_store_tile<warps, ST><<<1, warps * 64, sizeof(ST)>>>(tensor(data, rows, cols)); });
  EXPECT_EQ(store_profile["SQ_INSTS_VMEM_WR"], chunks);
  EXPECT_EQ(store_profile["SQ_INSTS_VMEM_RD"], 0);
  EXPECT_EQ(store_profile["coalescing"], coalescing);
  // Chunks a multiple of 512 bytes apart share an instruction.
  EXPECT_LE(store_profile["lds_instructions"], 2 * chunks);
  EXPECT_GE(store_profile["lds_instructions"], chunks);
  EXPECT_EQ(store_profile["lds_bank_conflicts"], 0);
}
TEST(SharedTileCost, RowsThatFillSectors) {
  check_tile_cost<1, st_bf<16, 32>>(1);
  check_tile_cost<1, st_bf<64, 64>>(1);
  check_tile_cost<1, st_bf<32, 128>>(1);
  check_tile_cost<1, st_fl<16, 16>>(1);
  check_tile_cost<1, st_fl<32, 32>>(1);
  check_tile_cost<4, st_bf<128, 64>>(1);
  check_tile_cost<4, st_fl<64, 64>>(1);
  check_tile_cost<8, st_bf<256, 64>>(1);
  check_tile_cost<8, st_bf<128, 128>>(1);
}
TEST(SharedTileCost, ColumnBlocksOfHalfASector) {
  check_tile_cost<1, st_bf<16, 16>>(0.5);
  check_tile_cost<1, st_bf<32, 48>>(0.5);
  check_tile_cost<1, st_hf<64, 80>>(0.5);
}

}  // namespace
