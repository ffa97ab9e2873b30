// An example of each operation, for docs/tile-reference.md; see tools/tile_reference.py. They are
// compiled, not run.
#include "kittens.cuh"

using namespace kittens;
using Bf16s = gl<bf16, 1, 1, -1, -1>;
using Floats = gl<float, 1, 1, -1, -1>;

__global__ void common_config([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: common/config.cuh
  [[maybe_unused]] int number;

  number = uniform(threadIdx.x / 64);
  number = warpid() % 4;
  number = warpgroupid();
  number = laneid();
  number = ceil_div(1000, 64);
  //: end
}

__global__ void types_shared_st([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: types/shared/st.cuh
  __shared__ st_bf<64, 64> tile;

  auto quarter = subtile_inplace<32, 32>(tile, {1, 0});  // rows 32 to 63, columns 0 to 31
  quarter[{3, 5}] = tile[{35, 5}];
  //: end
}

__global__ void types_shared_sv([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: types/shared/sv.cuh
  __shared__ sv_fl<64> vec;

  auto& part = subvec_inplace<16>(vec, 2);  // elements 32 to 47
  part[0] = vec[32];
  //: end
}

__global__ void types_global_gl([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: types/global/gl.cuh
  gl<bf16, 1, 1, -1, -1> matrix = x;
  const int first = 16, count = 20;

  const auto rows = matrix.row_range(first, count);                   // a ragged group of rows
  const auto block = matrix.view({0, 0, 3, 8}, 32, 32);               // from row 3, column 8
  const auto tile = matrix.view(coord<st_bf<64, 64>>{1, 0}, 64, 64);  // from row 64
  gl<float, 1, 1, -1, -1> made(y.raw_ptr, nullptr, nullptr, count, 64);
  gl<float, 1, 1, -1, -1, strided> part(y.raw_ptr, nullptr, nullptr, count, 64, 96);
  rt_bf<32, 32> registers;
  load(registers, bounded(rows), {0, 0});  // rows past the group read as 0
  //: end
}

__global__ void types_global_bounded([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: types/global/bounded.cuh
  rt_bf<32, 32> tile;

  load(tile, bounded(x), {1, 0});
  store(bounded<8>(x), tile, {1, 0});
  //: end
}

__global__ void ops_warp_memory_tile_global_to_shared([[maybe_unused]] Bf16s x,
                                                      [[maybe_unused]] Floats y) {
  //: ops/warp/memory/tile/global_to_shared.cuh
  __shared__ st_bf<64, 64> tile;

  load(tile, x, {0, 1});                // tile row 0, tile column 1: columns 64 to 127
  store(x, tile, coord<>(0, 0, 5, 7));  // from row 5, column 7
  //: end
}

__global__ void ops_warp_memory_tile_direct_to_shared([[maybe_unused]] Bf16s x,
                                                      [[maybe_unused]] Floats y) {
  //: ops/warp/memory/tile/direct_to_shared.cuh
  __shared__ st_bf<64, 64> tile;

  load_direct(tile, x, {0, 0});
  direct_loads_done();
  //: end
}

__global__ void ops_warp_memory_tile_global_to_register([[maybe_unused]] Bf16s x,
                                                        [[maybe_unused]] Floats y) {
  //: ops/warp/memory/tile/global_to_register.cuh
  rt_bf<32, 32> tile;

  load(tile, x, {0, 0, 1, 2});  // batch 0, depth 0, tile row 1, tile column 2
  store(x, tile, {1, 2});
  //: end
}

__global__ void ops_warp_memory_tile_shared_to_register([[maybe_unused]] Bf16s x,
                                                        [[maybe_unused]] Floats y) {
  //: ops/warp/memory/tile/shared_to_register.cuh
  __shared__ st_bf<64, 64> shared;
  rt_bf<64, 64> whole;
  rt_bf<32, 32> quarter;

  load(whole, shared);
  store(shared, whole);
  store(subtile_inplace<32, 32>(shared, {1, 1}), quarter);
  //: end
}

__global__ void ops_warp_memory_tile_register_buffer([[maybe_unused]] Bf16s x,
                                                     [[maybe_unused]] Floats y) {
  //: ops/warp/memory/tile/register_buffer.cuh
  __shared__ st_bf<64, 64> tile;
  constexpr int chunks = sizeof(tile) / 16 / 256;  // for 256 threads
  float4 buffer[chunks];

  load_global_to_register_buffer<2, true, 256>(buffer, chunks, x, {0, 1}, tile);
  store_register_buffer_to_shared<256>(tile, buffer);
  //: end
}

__global__ void ops_warp_memory_vec_global_to_shared([[maybe_unused]] Bf16s x,
                                                     [[maybe_unused]] Floats y) {
  //: ops/warp/memory/vec/global_to_shared.cuh
  __shared__ sv_bf<64> vec;

  load(vec, x, {3, 1});  // row 3, elements 64 to 127
  store(x, vec, {3, 1});
  //: end
}

__global__ void ops_warp_memory_vec_global_to_register([[maybe_unused]] Bf16s x,
                                                       [[maybe_unused]] Floats y) {
  //: ops/warp/memory/vec/global_to_register.cuh
  rt_fl<32, 64>::row_vec vec;

  load(vec, y, {3, 0});  // row 3, elements 0 to 63
  store(y, vec, {3, 0});
  //: end
}

__global__ void ops_warp_memory_vec_shared_to_register([[maybe_unused]] Bf16s x,
                                                       [[maybe_unused]] Floats y) {
  //: ops/warp/memory/vec/shared_to_register.cuh
  __shared__ sv_fl<64> shared;
  rt_fl<32, 64>::row_vec vec;

  load(vec, shared);
  store(shared, vec);
  //: end
}

__global__ void common_allocator([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: common/allocator.cuh
  extern __shared__ alignment_dummy memory[];

  shared_allocator allocator((int*)&memory[0]);
  st_bf<64, 64>(&tiles)[2] = allocator.allocate<st_bf<64, 64>, 2>();
  static_assert(size_bytes<st_bf<64, 64>, sv_fl<64>> == 8192 + 256);
  //: end
}

__global__ void common_buffer([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: common/buffer.cuh
  rt_bf<16, 16> tile;

  const i32x4 resource = make_srsrc(x.raw_ptr, 4096);
  //: end
}

__global__ void common_low_level([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: common/low_level.cuh
  __shared__ sv_fl<64> vec;
  float2* const global = reinterpret_cast<float2*>(y.raw_ptr);

  const float2 pair = load_shared_vec(detail::lds_address(&vec[0]));
  store_shared_vec(detail::lds_address(&vec[2]), pair);
  global[0] = load_global_vec2(global + 1);
  const buffer_resource parts = make_buffer_resource(0, 4096, 0x20000);
  //: end
}

__global__ void ops_warp_mma_mma([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/mma/mma.cuh
  rt_bf<32, 16> a, b_rows;
  rt_bf<16, 32, col_l> a_cols_t, b;
  rt_bf<16, 32> b_t;
  rt_fl<32, 32, col_l> sum;

  mma_AB(sum, a, b, sum);
  mma_ABt(sum, a, b_rows, sum);
  mma_AtB(sum, a_cols_t, b, sum);
  mma_AtBt(sum, a_cols_t, b_rows, sum);
  //: end
}

__global__ void ops_warp_register_tile_maps([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/register/tile/maps.cuh
  rt_fl<32, 32> t, a, b;
  rt_fl<32, 32>::col_vec per_row;
  rt_fl<32, 32>::row_vec per_col;
  struct gelu {
    static __device__ float op(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }
  };
  struct mean {
    static __device__ float op(float x, float y) { return 0.5f * (x + y); }
  };

  unary_map<gelu>(t, a);
  bin_map<mean>(t, a, b);
  bin_map<mean>(t, a, 2.0f);
  row_map<mean>(t, a, per_row);
  col_map<mean>(t, a, per_col);
  zero(t);
  one(t);
  pos_infty(t);
  neg_infty(t);
  exp(t, a);
  exp2(t, a);
  log(t, a);
  log2(t, a);
  abs(t, a);
  relu(t, a);
  sqrt(t, a);
  rsqrt(t, a);
  reciprocal(t, a);
  tanh(t, a);
  sigmoid(t, a);
  sin(t, a);
  cos(t, a);
  add(t, a, b);
  sub(t, a, 2.0f);
  mul(t, a, b);
  div(t, a, 2.0f);
  max(t, a, b);
  min(t, a, 2.0f);
  lt(t, a, b);
  le(t, a, 2.0f);
  gt(t, a, b);
  ge(t, a, 2.0f);
  eq(t, a, b);
  ne(t, a, 2.0f);
  add_row(t, a, per_row);
  add_col(t, a, per_col);
  sub_row(t, a, per_row);
  sub_col(t, a, per_col);
  mul_row(t, a, per_row);
  mul_col(t, a, per_col);
  div_row(t, a, per_row);
  div_col(t, a, per_col);
  broadcast_row(t, per_row);
  broadcast_col(t, per_col);
  //: end
}

__global__ void ops_warp_register_tile_apply([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/register/tile/apply.cuh
  rt_fl<32, 32> t, a, condition;
  const int row0 = blockIdx.x * 32;

  apply(t, a, [=](int row, int col, float x) { return col <= row0 + row ? x : -INFINITY; });
  gt(condition, a, 0.0f);
  select(t, condition, a, 0.0f);
  //: end
}

__global__ void ops_warp_register_tile_reductions([[maybe_unused]] Bf16s x,
                                                  [[maybe_unused]] Floats y) {
  //: ops/warp/register/tile/reductions.cuh
  rt_fl<32, 32> t;
  rt_fl<32, 32>::col_vec per_row;
  rt_fl<32, 32>::row_vec per_col;

  row_max(per_row, t);
  col_max(per_col, t, per_col);  // joins what per_col held
  row_min(per_row, t);
  col_min(per_col, t, per_col);  // joins what per_col held
  row_sum(per_row, t);
  col_sum(per_col, t, per_col);  // joins what per_col held
  row_prod(per_row, t);
  col_prod(per_col, t, per_col);  // joins what per_col held
  //: end
}

__global__ void ops_warp_register_tile_conversions([[maybe_unused]] Bf16s x,
                                                   [[maybe_unused]] Floats y) {
  //: ops/warp/register/tile/conversions.cuh
  rt_fl<32, 32> t, transposed;
  rt_bf<32, 32> narrow;
  rt_bf<32, 32, col_l> cols;

  copy(narrow, t);  // rounds to nearest even
  swap_layout(cols, narrow);
  auto& same_registers = swap_layout_inplace(narrow);
  transpose_sep(transposed, t);
  transpose_inplace(t);
  auto& rows_16_to_31 = subtile_inplace<16>(t, 1);
  //: end
}

__global__ void ops_warp_register_tile_masks([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/register/tile/masks.cuh
  rt_fl<32, 32> t;

  tril(t, t, 0, -INFINITY);  // keeps column <= row
  triu(t, t, 1);             // keeps column > row
  make_causal(t, t, -INFINITY);
  make_causal_t(t, t, -INFINITY);
  right_fill(t, t, 20, -INFINITY);  // from column 20 on
  left_fill(t, t, 4);               // columns 0 to 3
  upper_fill(t, t, 4);              // rows 0 to 3
  lower_fill(t, t, 20);             // from row 20 on
  //: end
}

__global__ void ops_warp_register_vec_maps([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/register/vec/maps.cuh
  rt_fl<32, 32>::col_vec v, a, b;
  rt_bf<32, 32>::col_vec narrow;
  struct cube {
    static __device__ float op(float x) { return x * x * x; }
  };
  struct mean {
    static __device__ float op(float x, float y) { return 0.5f * (x + y); }
  };

  unary_op<cube>(v, a);
  unary_op_range<cube, 0, 1>(v, a);
  bin_op<mean>(v, a, b);
  bin_op<mean>(v, a, 2.0f);
  zero(v);
  one(v);
  pos_infty(v);
  neg_infty(v);
  exp(v, a);
  exp2(v, a);
  log(v, a);
  log2(v, a);
  abs(v, a);
  relu(v, a);
  sqrt(v, a);
  rsqrt(v, a);
  reciprocal(v, a);
  tanh(v, a);
  sigmoid(v, a);
  sin(v, a);
  cos(v, a);
  add(v, a, b);
  sub(v, a, 2.0f);
  mul(v, a, b);
  div(v, a, 2.0f);
  max(v, a, b);
  min(v, a, 2.0f);
  lt(v, a, b);
  le(v, a, 2.0f);
  gt(v, a, b);
  ge(v, a, 2.0f);
  eq(v, a, b);
  ne(v, a, 2.0f);
  exp_first_half_vec(v, a);
  exp_second_half_vec(v, a);
  copy(narrow, v);
  //: end
}

__global__ void ops_warp_register_vec_apply([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/register/vec/apply.cuh
  rt_fl<32, 32>::col_vec v, a, condition;

  apply(v, a, [](int i, float x) { return i < 20 ? x : 0.0f; });
  lt(condition, a, 1.0f);
  select(v, condition, a, 1.0f);
  //: end
}

__global__ void ops_warp_register_vec_masks([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/register/vec/masks.cuh
  rv_fl<64> v;

  right_fill(v, v, 50, -INFINITY);  // from element 50 on
  left_fill(v, v, 3);               // elements 0 to 2
  //: end
}

__global__ void ops_warp_register_vec_reductions([[maybe_unused]] Bf16s x,
                                                 [[maybe_unused]] Floats y) {
  //: ops/warp/register/vec/reductions.cuh
  rv_fl<64> v;
  float result;
  rt_fl<64, 32>::col_vec per_row;
  __shared__ sv_fl<64> shared;

  store(shared, per_row);
  load(v, shared);
  max(result, v);
  min(result, v);
  sum(result, v);
  prod(result, v);
  //: end
}

__global__ void common_shuffle([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: common/shuffle.cuh
  float2 pair{1, 2};

  pair = packed_shfl(MASK_ALL, pair, 0);
  pair = packed_shfl_down(MASK_ALL, pair, 16);
  //: end
}

__global__ void ops_warp_shared([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/warp/shared.cuh
  __shared__ st_fl<32, 32> t, a, b;
  __shared__ sv_fl<32> v, w;
  float result;

  copy(t, a);
  zero(t);
  one(t);
  pos_infty(t);
  neg_infty(t);
  exp(t, a);
  exp2(t, a);
  log(t, a);
  log2(t, a);
  abs(t, a);
  relu(t, a);
  sqrt(t, a);
  rsqrt(t, a);
  reciprocal(t, a);
  tanh(t, a);
  sigmoid(t, a);
  sin(t, a);
  cos(t, a);
  add(t, a, b);
  sub(t, a, 2.0f);
  mul(t, a, b);
  div(t, a, 2.0f);
  max(t, a, b);
  min(t, a, 2.0f);
  lt(t, a, b);
  le(t, a, 2.0f);
  gt(t, a, b);
  ge(t, a, 2.0f);
  eq(t, a, b);
  ne(t, a, 2.0f);
  add_row(t, a, v);
  add_col(t, a, w);
  sub_row(t, a, v);
  sub_col(t, a, w);
  mul_row(t, a, v);
  mul_col(t, a, w);
  div_row(t, a, v);
  div_col(t, a, w);
  broadcast_row(t, v);
  broadcast_col(t, w);
  apply(t, a, [](int row, int col, float x) { return row == col ? x : 0.0f; });
  select(t, a, b, 0.0f);
  row_max(v, t);
  col_max(w, t, w);  // joins what w held
  row_min(v, t);
  col_min(w, t, w);  // joins what w held
  row_sum(v, t);
  col_sum(w, t, w);  // joins what w held
  row_prod(v, t);
  col_prod(w, t, w);  // joins what w held
  max(result, v);
  min(result, v);
  sum(result, v);
  prod(result, v);
  //: end
}

__global__ void ops_group_shared_tile_maps([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/group/shared/tile_maps.cuh
  using G = group<4>;
  __shared__ st_fl<32, 32> t, a, b;
  __shared__ st_bf<32, 32> narrow;
  __shared__ sv_fl<32> v, w;
  struct cube {
    static __device__ float op(float x) { return x * x * x; }
  };
  struct mean {
    static __device__ float op(float x, float y) { return 0.5f * (x + y); }
  };

  G::unary_map<cube>(t, a);
  G::bin_map<mean>(t, a, b);
  G::bin_map<mean>(t, a, 2.0f);
  G::row_map<mean>(t, a, v);
  G::col_map<mean>(t, a, w);
  G::copy(narrow, t);
  G::zero(t);
  G::one(t);
  G::pos_infty(t);
  G::neg_infty(t);
  G::exp(t, a);
  G::exp2(t, a);
  G::log(t, a);
  G::log2(t, a);
  G::abs(t, a);
  G::relu(t, a);
  G::sqrt(t, a);
  G::rsqrt(t, a);
  G::reciprocal(t, a);
  G::tanh(t, a);
  G::sigmoid(t, a);
  G::sin(t, a);
  G::cos(t, a);
  G::add(t, a, b);
  G::sub(t, a, 2.0f);
  G::mul(t, a, b);
  G::div(t, a, 2.0f);
  G::max(t, a, b);
  G::min(t, a, 2.0f);
  G::lt(t, a, b);
  G::le(t, a, 2.0f);
  G::gt(t, a, b);
  G::ge(t, a, 2.0f);
  G::eq(t, a, b);
  G::ne(t, a, 2.0f);
  G::add_row(t, a, v);
  G::add_col(t, a, w);
  G::sub_row(t, a, v);
  G::sub_col(t, a, w);
  G::mul_row(t, a, v);
  G::mul_col(t, a, w);
  G::div_row(t, a, v);
  G::div_col(t, a, w);
  G::broadcast_row(t, v);
  G::broadcast_col(t, w);
  //: end
}

__global__ void ops_group_shared_apply([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/group/shared/apply.cuh
  using G = group<4>;
  __shared__ st_fl<32, 32> t, a, b;
  __shared__ sv_fl<32> v, w;

  G::apply(t, a, [](int row, int col, float x) { return row < col ? x : 0.0f; });
  G::apply(v, w, [](int i, float x) { return i * x; });
  G::select(t, a, b, 0.0f);
  G::select(v, w, v, 0.0f);
  //: end
}

__global__ void ops_group_shared_tile_reductions([[maybe_unused]] Bf16s x,
                                                 [[maybe_unused]] Floats y) {
  //: ops/group/shared/tile_reductions.cuh
  using G = group<4>;
  __shared__ st_fl<32, 32> t;
  __shared__ sv_fl<32> v, w;

  G::row_max(v, t);
  G::col_max(w, t, w);  // joins what w held
  G::row_min(v, t);
  G::col_min(w, t, w);  // joins what w held
  G::row_sum(v, t);
  G::col_sum(w, t, w);  // joins what w held
  G::row_prod(v, t);
  G::col_prod(w, t, w);  // joins what w held
  //: end
}

__global__ void ops_group_shared_vec([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/group/shared/vec.cuh
  using G = group<4>;
  __shared__ sv_fl<32> v, a, b;
  __shared__ sv_bf<32> narrow;
  float result;
  struct cube {
    static __device__ float op(float x) { return x * x * x; }
  };
  struct mean {
    static __device__ float op(float x, float y) { return 0.5f * (x + y); }
  };

  G::unary_op<cube>(v, a);
  G::bin_op<mean>(v, a, b);
  G::bin_op<mean>(v, a, 2.0f);
  G::copy(narrow, v);
  G::zero(v);
  G::one(v);
  G::pos_infty(v);
  G::neg_infty(v);
  G::exp(v, a);
  G::exp2(v, a);
  G::log(v, a);
  G::log2(v, a);
  G::abs(v, a);
  G::relu(v, a);
  G::sqrt(v, a);
  G::rsqrt(v, a);
  G::reciprocal(v, a);
  G::tanh(v, a);
  G::sigmoid(v, a);
  G::sin(v, a);
  G::cos(v, a);
  G::add(v, a, b);
  G::sub(v, a, 2.0f);
  G::mul(v, a, b);
  G::div(v, a, 2.0f);
  G::max(v, a, b);
  G::min(v, a, 2.0f);
  G::lt(v, a, b);
  G::le(v, a, 2.0f);
  G::gt(v, a, b);
  G::ge(v, a, 2.0f);
  G::eq(v, a, b);
  G::ne(v, a, 2.0f);
  G::max(result, v);
  G::min(result, v);
  G::sum(result, v);
  G::prod(result, v);
  //: end
}

__global__ void ops_group_memory_tile([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/group/memory/tile.cuh
  using G = group<4>;
  __shared__ st_bf<64, 64> shared;
  rt_bf<16, 64> quarter;  // one of four, 16 rows to a warp

  G::load(shared, x, {0, 1});
  G::store(x, shared, {0, 1});
  G::load_direct(shared, x, {0, 1});
  G::load(quarter, x, {0, 1});  // the same 64 x 64 elements as shared has
  G::store(x, quarter, {0, 1});
  G::load(quarter, shared);
  G::store(shared, quarter);
  //: end
}

__global__ void ops_group_memory_vec([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: ops/group/memory/vec.cuh
  using G = group<4>;
  __shared__ sv_fl<128> shared;
  rv_fl<32> quarter;

  G::load(shared, y, {3, 0});
  G::store(y, shared, {3, 0});
  G::load(quarter, shared);
  G::store(shared, quarter);
  G::load(quarter, y, {3, 0});
  G::store(y, quarter, {3, 0});
  //: end
}

__global__ void common_chiplet([[maybe_unused]] Bf16s x, [[maybe_unused]] Floats y) {
  //: common/chiplet.cuh
  int id = blockIdx.x;

  id = chiplet_transform_chunked(id, gridDim.x, NUM_XCDS, 32);
  const block_place place = band_order(id, 16, 16, 4);
  //: end
}
