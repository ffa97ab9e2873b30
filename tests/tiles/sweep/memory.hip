// Tiles between global memory, shared memory and registers: every element type, layout, base shape
// and size, by round trips whose middle is read by the documented places; tensors with edges;
// direct loads; and no bank conflicts.
#include "../profiled.h"
#include "support.h"

namespace {

using namespace tile_test;

double value_of(int r, int c) { return (r * 5 + c * 3) % 13 - 6; }

// --- registers ---

/// Global to registers and back, and the same through a shared tile; what the lanes hold is written
/// out between.
template <typename RT>
__global__ void round_trip(Global<typename RT::T> src, Global<typename RT::T> out, float* lanes) {
  using ST = st<typename RT::T, RT::rows, RT::cols>;
  ST& tile = lds_tile<ST>();
  RT a;
  load(a, src, {1, 2});
  dump(a, lanes);
  store(out, a, {0, 0, 0, 0});
  store(tile, a);
  __syncthreads();
  RT b;
  load(b, tile);
  store(out, b, {1, 0, 0, 0});
  store(out, tile, {2, 0, 0, 0});
  __syncthreads();
  load(tile, src, {0, 1});
  __syncthreads();
  load(b, tile);
  store(out, b, {3, 0, 0, 0});
}
template <typename RT>
void check_round_trip(Cases& cases) {
  using T = typename RT::T;
  constexpr int rows = RT::rows, cols = RT::cols;
  constexpr size_t size = size_t{rows} * cols;
  Buffer<T> src(filled<T>(2 * rows, 3 * cols, value_of)), out(4 * size);
  Buffer<float> lanes(size);
  const auto value = [](int row0, int col0) {
    return [=](int r, int c) { return value_of(row0 + r, col0 + c); };
  };
  round_trip<RT><<<1, 64, size * sizeof(T)>>>(tensor(src, 2 * rows, 3 * cols),
                                              tensor(out, rows, cols, 1, 4), lanes.get());
  const auto got = out.read();
  expect_tile<RT>(lanes.read(), value(rows, 2 * cols), tile_name<RT>() + " in the lanes");
  const char* const ways[] = {"global", "through a shared tile", "from a shared tile",
                              "loaded into a shared tile"};
  for (int n = 0; n < 4; ++n) {
    cases.expect<T>(got, n * size, rows, cols, n < 3 ? value(rows, 2 * cols) : value(0, cols),
                    tile_name<RT>() + " " + ways[n]);
  }
}
template <typename T>
void check_tiles(Cases& cases) {
  for_tiles<T>([&]<typename RT>() {
    if constexpr (RT::cols * sizeof(T) % 32 == 0) check_round_trip<RT>(cases);
  });
}
TEST(MemorySweep, Registers) {
  Cases cases(292);
  check_tiles<float>(cases);
  check_tiles<bf16>(cases);
  check_tiles<half>(cases);
  check_tiles<double>(cases);
  check_tiles<int>(cases);
  check_tiles<int8_t>(cases);
  check_tiles<fp8e4m3>(cases);
  check_tiles<fp8e5m2>(cases);
}

// --- groups, direct loads, register buffers ---

template <typename ST, int warps>
__global__ void copies(Global<typename ST::T> src, Global<typename ST::T> out) {
  using G = group<warps>;
  constexpr int threads = warps * 64;
  ST& tile = lds_tile<ST>();
  G::load(tile, src, {1, 1});
  __syncthreads();
  G::store(out, tile, {0, 0, 0, 0});
  __syncthreads();
  G::load_direct(tile, src, {0, 1});
  direct_loads_done();
  __syncthreads();
  G::store(out, tile, {1, 0, 0, 0});
  __syncthreads();
  constexpr int slots = (sizeof(ST) + 16 * threads - 1) / (16 * threads);
  float4 buffer[slots];
  load_global_to_register_buffer<2, false, threads>(buffer, slots, src, coord<ST>{1, 0}, tile);
  store_register_buffer_to_shared<threads>(tile, buffer);
  __syncthreads();
  G::store(out, tile, {2, 0, 0, 0});
}
template <typename T, int rows, int cols, int warps>
void check_copies(Cases& cases) {
  using ST = st<T, rows, cols>;
  constexpr size_t size = size_t{rows} * cols;
  Buffer<T> src(filled<T>(2 * rows, 2 * cols, value_of)), out(3 * size);
  copies<ST, warps><<<1, 64 * warps, sizeof(ST)>>>(tensor(src, 2 * rows, 2 * cols),
                                                   tensor(out, rows, cols, 1, 3));
  const auto got = out.read();
  const int places[3][2] = {{1, 1}, {0, 1}, {1, 0}};
  const char* const ways[] = {"group load", "direct load", "register buffer"};
  for (int n = 0; n < 3; ++n) {
    cases.expect<T>(
        got, n * size, rows, cols,
        [&](int r, int c) { return value_of(places[n][0] * rows + r, places[n][1] * cols + c); },
        std::string(ways[n]) + " of " + name_of<T>() + " " + std::to_string(rows) + "x" +
            std::to_string(cols) + " by " + std::to_string(warps));
  }
}
template <typename T, int warps>
void check_sizes(Cases& cases) {
  constexpr int narrow = sizeof(T) == 1 ? 32 : 16;
  check_copies<T, 16, narrow, warps>(cases);
  check_copies<T, 32, 32, warps>(cases);
  check_copies<T, 64, 64, warps>(cases);
  check_copies<T, 48, 3 * narrow, warps>(cases);
  check_copies<T, 16, 128, warps>(cases);
}
template <typename T>
void check_groups(Cases& cases) {
  check_sizes<T, 1>(cases);
  check_sizes<T, 2>(cases);
  check_sizes<T, 4>(cases);
  check_sizes<T, 8>(cases);
}
TEST(MemorySweep, Groups) {
  Cases cases(300);
  check_groups<float>(cases);
  check_groups<bf16>(cases);
  check_groups<half>(cases);
  check_groups<int8_t>(cases);
  check_groups<double>(cases);
}

// --- edges ---

/// Tiles that hang over the tensor's last rows and columns, in three ways; beyond them zeros.
template <typename RT, int whole>
__global__ void hanging(Global<typename RT::T> src, Global<typename RT::T> seen,
                        Global<typename RT::T> written) {
  using ST = st<typename RT::T, RT::rows, RT::cols>;
  ST& tile = lds_tile<ST>();
  RT a;
  load(a, bounded<whole>(src), {1, 1});
  store(seen, a, {0, 0, 0, 0});
  store(bounded<whole>(written), a, {0, 0, 1, 1});
  load(tile, bounded<whole>(src), {1, 1});
  __syncthreads();
  store(seen, tile, {1, 0, 0, 0});
  store(bounded<whole>(written), tile, {1, 0, 1, 1});
}
template <typename RT, int whole = 1>
void check_edges(Cases& cases, int extra_rows, int extra_cols) {
  using T = typename RT::T;
  constexpr size_t size = size_t{RT::rows} * RT::cols;
  const int rows = RT::rows + extra_rows, cols = RT::cols + extra_cols;
  Buffer<T> src(filled<T>(rows, cols, [](int r, int c) { return (r * 5 + c) % 11 + 1; }));
  Buffer<T> seen(2 * size);
  Buffer<T> written(filled<T>(2 * rows, cols, [](int, int) { return 0; }));
  hanging<RT, whole><<<1, 64, size * sizeof(T)>>>(tensor(src, rows, cols),
                                                  tensor(seen, RT::rows, RT::cols, 1, 2),
                                                  tensor(written, rows, cols, 1, 2));
  const std::string what =
      tile_name<RT>() + " over " + std::to_string(extra_rows) + ", " + std::to_string(extra_cols);
  const auto got = seen.read(), stored = written.read();
  for (int n = 0; n < 2; ++n) {
    cases.expect<T>(
        got, n * size, RT::rows, RT::cols,
        [&](int r, int c) {
          const bool inside = r < extra_rows && c < extra_cols;
          return inside ? ((r + RT::rows) * 5 + c + RT::cols) % 11 + 1 : 0;
        },
        what + " loaded");
    cases.expect<T>(
        stored, size_t(n) * rows * cols, rows, cols,
        [&](int r, int c) { return r >= RT::rows && c >= RT::cols ? (r * 5 + c) % 11 + 1 : 0; },
        what + " stored");
  }
}
template <typename T>
void check_all_edges(Cases& cases) {
  for (int rows : {0, 5, 32}) {
    for (int cols : {0, 3, 8, 12, 17, 32}) {
      check_edges<rt<T, 32, 32, row_l>>(cases, rows, cols);
      check_edges<rt<T, 32, 32, col_l>>(cases, rows, cols);
    }
  }
}
TEST(MemorySweep, Edges) {
  Cases cases(500);
  check_all_edges<float>(cases);
  check_all_edges<bf16>(cases);
  check_all_edges<int8_t>(cases);
  check_all_edges<double>(cases);
}

/// bounded<8>: no access of 8 elements is cut by the end of a row, so none is made twice over.
TEST(MemorySweep, EdgesInWholeColumns) {
  Cases cases(48);
  for (int rows : {0, 5, 32}) {
    for (int cols : {0, 8, 24, 32}) {
      check_edges<rt<bf16, 32, 32, row_l>, 8>(cases, rows, cols);
      check_edges<rt<float, 32, 32, row_l>, 8>(cases, rows, cols);
    }
  }
}

// --- bank conflicts ---

template <typename RT>
__global__ void shared_accesses() {
  using ST = st<typename RT::T, RT::rows, RT::cols>;
  ST& tile = lds_tile<ST>();
  RT a;
  load(a, tile);
  use(a);
  produce(a);
  store(tile, a);
}
/// Shared to registers and back, in both layouts. The compiler merges two accesses of a lane
/// address into one; the profiler takes that for two, one after the other.
template <typename RT>
void expect_no_conflicts() {
  const auto counts = counts_of(
      [] { shared_accesses<RT><<<1, 64, RT::num_elements * sizeof(typename RT::T)>>>(); });
  EXPECT_GT(counts["lds_instructions"], 0) << tile_name<RT>();
  EXPECT_EQ(counts["lds_bank_conflicts"], 0) << tile_name<RT>();
}
TEST(MemorySweep, NoBankConflicts) {
  const auto check = []<typename RT>() {
    if constexpr (RT::cols * sizeof(typename RT::T) % 32 == 0) expect_no_conflicts<RT>();
  };
  for_tiles<float>(check);
  for_tiles<bf16>(check);
  for_tiles<int8_t>(check);
  for_tiles<double>(check);
}

}  // namespace
