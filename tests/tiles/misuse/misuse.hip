// Misuse that must be refused; see compile_fail_test.py.
#define KITTENS_BLOCK_WARPS 8
#include "kittens.cuh"

using namespace kittens;
using Floats = gl<float, -1, -1, -1, -1>;
using Bf16s = gl<bf16, -1, -1, -1, -1>;

__global__ void kernel(Floats floats, Bf16s bf16s) {
  rt_bf<32, 16> a;
  rt_bf<32, 16> b_rows;
  rt_bf<16, 32, col_l> b_cols;
  rt_fl<32, 32, col_l> acc;
  zero(acc);
  __shared__ st_bf<64, 64> shared;
  __shared__ sv_bf<32> vec;

#ifdef ACCUMULATOR_LAYOUT
  {
    // expect: kittens: the accumulators D and C of an mma must be in col layout
    rt_fl<32, 32> wrong;
    mma_ABt(wrong, a, b_rows, wrong);
  }
#endif
#ifdef ACCUMULATOR_TYPE
  {
    // expect: kittens: the accumulators D and C of an mma must be float tiles
    rt_bf<32, 32, col_l> wrong;
    mma_ABt(wrong, a, b_rows, wrong);
  }
#endif
#ifdef OPERAND_A_LAYOUT
  {
    // expect: kittens: operand A must be in row layout for mma_AB and mma_ABt
    rt_bf<32, 16, col_l> wrong;
    mma_ABt(acc, wrong, b_rows, acc);
  }
#endif
#ifdef OPERAND_B_LAYOUT
  {
    // expect: in row layout for mma_ABt and mma_AtBt
    mma_ABt(acc, a, b_cols, acc);
  }
#endif
#ifdef OPERAND_B_LAYOUT_PLAIN
  {
    // expect: kittens: operand B must be in col layout for mma_AB and mma_AtB
    mma_AB(acc, a, b_rows, acc);
  }
#endif
#ifdef OPERAND_TYPES
  {
    // expect: kittens: the operands A and B of an mma must have the same element type
    rt_hf<32, 16> wrong;
    mma_ABt(acc, a, wrong, acc);
  }
#endif
#ifdef OPERAND_FLOAT
  {
    // expect: kittens: the operands A and B of an mma must be bf16, half, fp8e4m3
    rt_i32<32, 16> wrong;
    mma_ABt(acc, wrong, wrong, acc);
  }
#endif
#ifdef MMA_K
  {
    // expect: kittens: A and B of an mma must agree in k
    rt_bf<32, 48> wrong;
    mma_ABt(acc, a, wrong, acc);
  }
#endif
#ifdef MMA_ROWS
  {
    // expect: kittens: D and C of an mma must have as many rows as the product
    rt_bf<64, 16> wrong;
    mma_ABt(acc, wrong, b_rows, acc);
  }
#endif
#ifdef MMA_COLS
  {
    // expect: kittens: D and C of an mma must have as many columns as the product
    rt_bf<64, 16> wrong;
    mma_ABt(acc, a, wrong, acc);
  }
#endif
#ifdef LOAD_SHAPE
  {
    // expect: kittens: load(rt, st) needs tiles of the same shape; use subtile_inplace to load
    load(a, shared);
  }
#endif
#ifdef STORE_SHAPE
  {
    // expect: kittens: store(st, rt) needs tiles of the same shape; use subtile_inplace to
    store(shared, a);
  }
#endif
#ifdef LOAD_TYPES
  {
    // expect: kittens: load(st, gl) copies; both must have the same element type
    load(shared, floats, {0, 0});
  }
#endif
#ifdef STORE_TYPES
  {
    // expect: kittens: store(gl, st) copies; both must have the same element type
    store(floats, shared, {0, 0});
  }
#endif
#ifdef BUFFER_TYPES
  {
    // expect: kittens: a register buffer holds raw chunks; gl and st must have the same element
    float4 buffer[8];
    load_global_to_register_buffer(buffer, 8, floats, {0, 0}, shared);
  }
#endif
#ifdef SUBTILE_DIVIDES
  {
    // expect: kittens: a subtile must divide its tile
    load(a, subtile_inplace<48, 16>(shared, {0, 0}));
  }
#endif
#ifdef SUBTILE_UNITS
  {
    // expect: kittens: rows and columns of a subtile must be multiples of 16
    auto part = subtile_inplace<8, 16>(shared, {0, 0});
  }
#endif
#ifdef SUBTILE_OF_SUBTILE
  {
    // expect: kittens: a subtile of a subtile is not supported; take it from the tile itself
    auto half_tile = subtile_inplace<32, 32>(shared, {0, 0});
    auto quarter = subtile_inplace<16, 16>(half_tile, {0, 0});
  }
#endif
#ifdef SHARED_SHAPE
  {
    // expect: kittens: the columns of an st must be a multiple of 16
    st_bf<16, 24>* wrong = nullptr;
    wrong->data[0] = bf16(0.0f);
  }
#endif
#ifdef REGISTER_SHAPE
  {
    // expect: kittens: the rows of an rt must be a multiple of 16
    rt_fl<24, 16> wrong;
  }
#endif
#ifdef REGISTER_TYPE
  {
    // expect: kittens: a register tile holds float, bf16, half, fp8e4m3
    rt<short, 16, 16> wrong;
  }
#endif
#ifdef COPY_LAYOUT
  {
    // expect: kittens: copy(rt, rt) needs tiles of the same layout; use swap_layout
    rt_fl<32, 32> wrong;
    copy(wrong, acc);
  }
#endif
#ifdef SWAP_LAYOUT
  {
    // expect: kittens: swap_layout needs a destination in the other layout
    rt_fl<32, 32, col_l> wrong;
    swap_layout(wrong, acc);
  }
#endif
#ifdef TRANSPOSE_SHAPE
  {
    // expect: kittens: transpose_inplace needs a square tile
    transpose_inplace(a);
  }
#endif
#ifdef VECTOR_LENGTH
  {
    // expect: kittens: load(rv, sv) needs vectors of the same length
    rv_bf<64> wrong;
    load(wrong, vec);
  }
#endif
#ifdef VECTOR_LAYOUT
  {
    // expect: kittens: copy(rv, rv) needs vectors of the same layout
    rv_fl<32, align_l> x;
    rv_fl<32, ortho_l> y;
    copy(x, y);
  }
#endif
#ifdef GROUP_SHAPE
  {
    // expect: kittens: in a group load or store of registers, the shared tile has the rows of
    group<4>::load(a, shared);
  }
#endif
#ifdef GROUP_SIZE
  {
    // expect: kittens: a group has 1 to 16 warps
    group<17>::laneid();
  }
#endif
#ifdef GROUP_OF_THE_BLOCK
  {
    // expect: kittens: this group has more warps than the workgroup (KITTENS_BLOCK_WARPS)
    group<16>::laneid();
  }
#endif
#ifdef MMA_BASE_SHAPE
  {
    // expect: kittens: all tiles of an mma must have the same base shape, rt_16x16 or rt_32x32
    rt_bf<32, 32, row_l, rt_32x32_s> wrong;
    rt_bf<32, 32> right;
    mma_ABt(acc, right, wrong, acc);
  }
#endif
#ifdef MMA_INTEGER_SUM
  {
    // expect: kittens: the accumulators D and C of an mma must be float tiles (int for int8_t
    rt_i8<32, 32> bytes;
    mma_ABt(acc, bytes, bytes, acc);
  }
#endif
#ifdef DOUBLE_BASE_SHAPE
  {
    // expect: kittens: the hardware has no 32x32 MFMA of doubles; use rt_16x16
    rt_fd<32, 32, row_l, rt_32x32_s> wrong;
    zero(wrong);
  }
#endif
#ifdef COPY_LANES
  {
    // expect: kittens: copy(rt, rt) needs tiles whose lanes hold the same elements
    rt_fp8e4m3<32, 32, col_l> wrong;
    copy(wrong, acc);
  }
#endif
#ifdef SWAP_BYTES
  {
    // expect: kittens: swap_layout and transpose need square base tiles
    rt_i8<32, 32> from;
    rt_i8<32, 32, col_l> to;
    swap_layout(to, from);
  }
#endif
#ifdef ROW_VECTOR
  {
    // expect: kittens: an operation on rows needs the tile's own col_vec
    decltype(acc)::row_vec wrong;
    add_row(acc, acc, wrong);
  }
#endif
#ifdef COLUMN_VECTOR
  {
    // expect: kittens: an operation on columns needs the tile's own row_vec
    decltype(acc)::col_vec wrong;
    col_sum(wrong, acc);
  }
#endif
#ifdef VECTOR_REDUCTION
  {
    // expect: kittens: reductions of a register vector need the naive layout
    rv_fl<32, ortho_l> wrong;
    float result;
    kittens::sum(result, wrong);
  }
#endif
#ifdef SHARED_VECTOR
  {
    // expect: kittens: an operation on the rows (columns) of a shared tile needs an sv of the
    row_sum(vec, shared);
  }
#endif
#ifdef SHARED_SHAPES
  {
    // expect: kittens: a map of shared tiles needs tiles of the same shape
    __shared__ st_fl<32, 64> wrong;
    copy(wrong, shared);
  }
#endif
#ifdef SHARED_BYTES
  {
    // expect: kittens: a row of a shared tile is a multiple of 32 bytes
    __shared__ st_i8<32, 16> wrong;
    zero(wrong);
  }
#endif
#ifdef INFINITE_INTEGER
  {
    // expect: kittens: integers and 8-bit floats have no infinity
    rt_i32<16, 16> wrong;
    neg_infty(wrong);
  }
#endif
#ifdef DIRECT_BOUNDED
  {
    // expect: kittens: load_direct needs a tile inside its tensor; load() takes bounded()
    load_direct(shared, bounded(bf16s), {0, 0});
  }
#endif
#ifdef DIRECT_SUBTILE
  {
    // expect: kittens: load_direct fills a whole shared tile, not a subtile
    auto part = subtile_inplace<32, 32>(shared, {0, 0});
    load_direct(part, bf16s, {0, 0});
  }
#endif
#ifdef PART_OF_A_VECTOR
  {
    // expect: kittens: a part must divide its vector, in multiples of 16 elements
    subvec_inplace<24>(vec, 0);
  }
#endif
#ifdef GROUP_VECTOR
  {
    // expect: kittens: in a group load or store of register vectors, the shared vector is as
    rv_bf<16> part;
    group<4>::load(part, vec);
  }
#endif
#ifdef GL_DIMENSION
  {
    // expect: kittens: a gl dimension is a positive number, or -1 for one given at run time
    gl<float, 1, 1, 0, -1>* wrong = nullptr;
    wrong->rows();
  }
#endif
#ifdef TENSOR_ELEMENT
  {
    // expect: kittens: gl holds float, bf16, half
    gl<uint64_t, 1, 1, -1, -1> wrong(nullptr, nullptr, nullptr, 16, 16);
  }
#endif
#ifdef OWN_OPERATION
  {
    // expect: is_operation<no_operation, __hip_bfloat162>': kittens: the operation
    struct no_operation {};
    unary_map<no_operation>(a, a);
  }
#endif
#ifdef OWN_OPERATION_OPERANDS
  {
    // expect: is_operation<of_pairs, __hip_bfloat162>': kittens: the operation
    struct of_pairs {
      static __device__ float2 op(float2 x) { return x; }
    };
    unary_map<of_pairs>(a, a);
  }
#endif
#ifdef OWN_FUNCTION
  {
    // expect: kittens: the function given to apply() must take (row, column, element...)
    apply(a, a, [](const char* text) { return *text; });
  }
#endif
#ifdef OWN_FUNCTION_OF_A_VECTOR
  {
    // expect: kittens: the function given to apply() of vectors must take (number, element...)
    rv_fl<64> wrong;
    apply(wrong, wrong, [](const char* text) { return *text; });
  }
#endif
#ifdef APPLY_LANES
  {
    // expect: kittens: apply and select of register tiles need tiles of the same layout
    rt_i8<32, 32> bytes;
    rt_bf<32, 32> wide;
    apply(wide, bytes, [](int x) { return x; });
  }
#endif
#ifdef FUNCTION_OF_INTEGERS
  {
    // expect: is_defined_for<kittens::base_ops::exp, int>': kittens: this function is for
    rt_i32<32, 32> wrong;
    exp(wrong, wrong);
  }
#endif
#ifdef SELECT_CHOICE
  {
    // expect: kittens: select() chooses between tiles or vectors of the destination's type
    select(a, a, a, acc);
  }
#endif
}
