// Tile operations whose coordinates leave the tensor, in memory from hipMalloc; and tensors in the
// program's own memory that overlap, or have been there before.
#include <array>

#include "../check_program.h"
#include "kittens.cuh"

using namespace check_program;
using namespace kittens;

namespace {

// Batch, depth and columns fixed at compile time, the others kept.
using matrix = gl<bf16, 1, 1, -1, 128>;
struct copy_globals {
  gl<float, -1, -1, -1, -1> unused;
  matrix in[1];
  gl<bf16, -1, -1, -1, -1> out;
};

/// One tile per workgroup. `scale` of 2 counts the columns in half tiles, as if K had another unit.
__global__ __launch_bounds__(64) void copy_tiles(const copy_globals g, int scale) {
  extern __shared__ alignment_dummy shm[];
  shared_allocator al((int*)&shm[0]);
  st_bf<32, 64>& tile = al.allocate<st_bf<32, 64>>();
  const int row = blockIdx.y, column = blockIdx.x;
  load(tile, g.in[0], {0, 0, row, column * scale});  // BUG column
  __syncthreads();
  store(g.out, tile, {0, 0, row, column});
}

/// The row is counted in elements where tiles are meant.
__global__ __launch_bounds__(64) void store_tiles(gl<float, -1, -1, -1, -1> out, int unit) {
  rt_fl<16, 32> tile;
  zero(tile);
  const int row = blockIdx.x * unit;
  store(out, tile, {1, 2, row, 0});  // BUG row
}

/// No tile: an element past the end of the second argument.
__global__ void copy_one(const float* in, float* out, int from) { out[0] = in[from]; }  // BUG plain

bool run_column(bool broken) {
  constexpr std::size_t rows = 64, columns = 128;
  const DeviceArray<std::uint16_t> in(rows * columns, std::uint16_t{0x3f80});
  const DeviceArray<std::uint16_t> out(rows * columns, std::uint16_t{0});
  bf16* const from = reinterpret_cast<bf16*>(in.get());
  bf16* const to = reinterpret_cast<bf16*>(out.get());
  const copy_globals g = {
      {nullptr, 1, 1, 1, 1}, {{from, nullptr, nullptr, rows, nullptr}}, {to, 1, 1, rows, columns}};
  copy_tiles<<<dim3(2, 2), 64, 32 * 64 * 2>>>(g, broken ? 2 : 1);
  finish();
  return matches(out.host(), [](std::size_t) { return 0x3f80; });
}

bool run_row(bool broken) {
  const DeviceArray<float> out(2 * 3 * 32 * 32, 1.0f);
  const gl<float, -1, -1, -1, -1> to(out.get(), 2, 3, 32, 32);
  store_tiles<<<2, 64>>>(to, broken ? 16 : 1);
  finish();
  return matches(out.host(), [](std::size_t i) { return i < 5 * 32 * 32 ? 1.0f : 0.0f; });
}

bool run_plain(bool broken) {
  const DeviceArray<float> in(std::vector<float>{2, 3, 5});
  const DeviceArray<float> out(1, 0.0f);
  copy_one<<<1, 1>>>(in.get(), out.get(), broken ? 4 : 2);
  finish();
  return matches(out.host(), [](std::size_t) { return 5.0f; });
}

/// The shape passed to the kernel is larger than the memory.
bool run_shape(bool broken) {
  const DeviceArray<float> out(2 * 3 * 32 * 32, 1.0f);
  const gl<float, -1, -1, -1, -1> to(out.get(), 2, 3, broken ? 64 : 32, 32);
  store_tiles<<<2, 64>>>(to, 1);
  finish();
  return matches(out.host(), [](std::size_t i) { return i < 5 * 32 * 32 ? 1.0f : 0.0f; });
}

/// Two views of the same memory: the one that is made last is not all that may be touched.
__global__ __launch_bounds__(64) void store_views(gl<float, 1, 1, -1, 32> whole,
                                                  gl<float, 1, 1, -1, 32> half) {
  rt_fl<16, 32> tile;
  zero(tile);
  store(whole, tile, {0, 0, 3, 0});
  store(half, tile, {0, 0, 1, 0});
}
bool run_views() {
  std::vector<float> values(64 * 32, 1.0f);
  const gl<float, 1, 1, -1, 32> whole(values.data(), nullptr, nullptr, 64, nullptr);
  const gl<float, 1, 1, -1, 32> half(values.data(), nullptr, nullptr, 32, nullptr);
  store_views<<<1, 64>>>(whole, half);
  finish();
  return matches(values, [](std::size_t i) { return i / 32 / 16 % 2 == 0 ? 1.0f : 0.0f; });
}

/// The right half of a matrix, by its leading dimension: there are more bytes between its ends than
/// it has.
using strided_matrix = gl<float, 1, 1, -1, 32, strided>;
__global__ __launch_bounds__(64) void store_strided(strided_matrix half, int rows) {
  rt_fl<16, 32> tile;
  zero(tile);
  for (int row = 0; row < rows; ++row) store(half, tile, {row, 0});  // BUG strided
}
bool run_strided(bool broken) {
  // Memory of the program: the runtime knows only the tensor's description.
  std::vector<float> values(80 * 64, 1.0f);
  const strided_matrix half(values.data() + 32, nullptr, nullptr, 64, nullptr, 64);
  store_strided<<<1, 64>>>(half, broken ? 5 : 4);
  finish();
  return matches(values, [](std::size_t i) { return i % 64 < 32 || i / 64 >= 64 ? 1.0f : 0.0f; });
}

/// An earlier, smaller tensor at this address does not apply to a plain pointer.
bool run_earlier() {
  std::vector<float> values(64, 7.0f);
  values[40] = 5.0f;
  const gl<float, 1, 1, 1, -1> earlier(values.data(), nullptr, nullptr, nullptr, 8);
  std::vector<float> out(1);
  const gl<float, 1, 1, 1, -1> earlier_out(out.data(), nullptr, nullptr, nullptr, 1);
  copy_one<<<1, 1>>>(values.data(), out.data(), 40);
  finish();
  return matches(out, [](std::size_t) { return 5.0f; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"views", run_views},
                   {"earlier", run_earlier},
                   {"strided-broken", [] { return run_strided(true); }},
                   {"strided-fixed", [] { return run_strided(false); }},
                   {"column-broken", [] { return run_column(true); }},
                   {"column-fixed", [] { return run_column(false); }},
                   {"row-broken", [] { return run_row(true); }},
                   {"row-fixed", [] { return run_row(false); }},
                   {"shape-broken", [] { return run_shape(true); }},
                   {"shape-fixed", [] { return run_shape(false); }},
                   {"plain-broken", [] { return run_plain(true); }},
                   {"plain-fixed", [] { return run_plain(false); }}});
}
