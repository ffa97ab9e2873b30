// Multiply-accumulate of register tiles: D = A B + C.
//
//            A layout   B layout   shapes
//   mma_AB     row        col      A m x k, B k x n
//   mma_ABt    row        row      A m x k, B n x k
//   mma_AtB    col        col      A k x m, B k x n
//   mma_AtBt   col        row      A k x m, B n x k
//
// D and C are in col layout and may be the same tile. All four have the same base shape, rt_16x16
// or rt_32x32, which chooses the MFMA:
//
//   A and B                    C and D   rt_16x16      rt_32x32
//   bf16, half                 float     16x16x16      32x32x8
//   fp8e4m3, fp8e5m2 (mixed)   float     16x16x32      32x32x16
//   float                      float     16x16x4       32x32x2
//   int8_t                     int       16x16x32      32x32x16
//   double                     double    16x16x4       (none in hardware)
//
// k runs upward from instruction to instruction; within the float and double forms the order of k
// follows the lanes' registers. bf16, half and 8-bit products are summed as the hardware does.
#pragma once

#include "../memory/runs.cuh"

namespace kittens {
namespace detail {

typedef short mfma_bf16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 mfma_f16x4 __attribute__((ext_vector_type(4)));
typedef float mfma_f32x4 __attribute__((ext_vector_type(4)));
typedef float mfma_f32x16 __attribute__((ext_vector_type(16)));
typedef int mfma_i32x4 __attribute__((ext_vector_type(4)));
typedef int mfma_i32x16 __attribute__((ext_vector_type(16)));
typedef double mfma_f64x4 __attribute__((ext_vector_type(4)));

template <typename T, int lead>
struct accumulator;
template <>
struct accumulator<float, 16> {
  using type = mfma_f32x4;
};
template <>
struct accumulator<float, 32> {
  using type = mfma_f32x16;
};
template <>
struct accumulator<int, 16> {
  using type = mfma_i32x4;
};
template <>
struct accumulator<int, 32> {
  using type = mfma_i32x16;
};
template <>
struct accumulator<double, 16> {
  using type = mfma_f64x4;
};

/// The type of the sums for operands of types A and B.
template <typename T>
using sum_of = std::conditional_t<std::is_same_v<T, int8_t>, int,
                                  std::conditional_t<std::is_same_v<T, double>, double, float>>;

/// One MFMA on one run of each operand.
template <int lead, typename TA, typename TB, typename RunA, typename RunB, typename Sum>
KITTENS_DEVICE Sum mfma(const RunA& a, const RunB& b, const Sum& sum) {
  static_assert(lead == 16 || lead == 32);
  if constexpr (std::is_same_v<TA, bf16>) {
    const auto x = bits_as<mfma_bf16x4>(a);
    const auto y = bits_as<mfma_bf16x4>(b);
    if constexpr (lead == 16) return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sum, 0, 0, 0);
    if constexpr (lead == 32) return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x, y, sum, 0, 0, 0);
  } else if constexpr (std::is_same_v<TA, half>) {
    const auto x = bits_as<mfma_f16x4>(a);
    const auto y = bits_as<mfma_f16x4>(b);
    if constexpr (lead == 16) return __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    if constexpr (lead == 32) return __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
  } else if constexpr (std::is_same_v<TA, float>) {
    // One element of the run after another: lane groups then bring k in steps of the run.
    Sum result = sum;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if constexpr (lead == 16) {
        result = __builtin_amdgcn_mfma_f32_16x16x4f32(a.e[e], b.e[e], result, 0, 0, 0);
      } else {
        result = __builtin_amdgcn_mfma_f32_32x32x2f32(a.e[e], b.e[e], result, 0, 0, 0);
      }
    }
    return result;
  } else if constexpr (std::is_same_v<TA, double>) {
    return __builtin_amdgcn_mfma_f64_16x16x4f64(a.e[0], b.e[0], sum, 0, 0, 0);
  } else {
    const auto x = bits_as<long>(a);
    const auto y = bits_as<long>(b);
#define KITTENS_MFMA_8(A, B, small, large)                                              \
  if constexpr (std::is_same_v<TA, A> && std::is_same_v<TB, B>) {                       \
    if constexpr (lead == 16) return __builtin_amdgcn_mfma_##small(x, y, sum, 0, 0, 0); \
    if constexpr (lead == 32) return __builtin_amdgcn_mfma_##large(x, y, sum, 0, 0, 0); \
  }
    KITTENS_MFMA_8(int8_t, int8_t, i32_16x16x32_i8, i32_32x32x16_i8)
    KITTENS_MFMA_8(fp8e4m3, fp8e4m3, f32_16x16x32_fp8_fp8, f32_32x32x16_fp8_fp8)
    KITTENS_MFMA_8(fp8e4m3, fp8e5m2, f32_16x16x32_fp8_bf8, f32_32x32x16_fp8_bf8)
    KITTENS_MFMA_8(fp8e5m2, fp8e4m3, f32_16x16x32_bf8_fp8, f32_32x32x16_bf8_fp8)
    KITTENS_MFMA_8(fp8e5m2, fp8e5m2, f32_16x16x32_bf8_bf8, f32_32x32x16_bf8_bf8)
#undef KITTENS_MFMA_8
  }
}

/// One base tile of each operand.
template <typename D, typename A, typename B, typename C>
KITTENS_DEVICE void mma_base(D& d, const A& a, const B& b, const C& c) {
  constexpr int lead = A::map::lead;
  auto sum = bits_as<typename accumulator<typename D::T, lead>::type>(c.data);
#pragma unroll
  for (int q = 0; q < A::map::runs; ++q) {
    sum = mfma<lead, typename A::T, typename B::T>(take_run(a, q), take_run(b, q), sum);
  }
  __builtin_memcpy(&d.data, &sum, sizeof(sum));
}

template <bool a_transposed, bool b_transposed, typename D, typename A, typename B, typename C>
KITTENS_DEVICE void mma(D& d, const A& a, const B& b, const C& c) {
  using TA = typename A::T;
  using TB = typename B::T;
  static_assert(ducks::rt::col_layout<D> && ducks::rt::col_layout<C>,
                "kittens: the accumulators D and C of an mma must be in col layout");
  static_assert(is_one_of<TA, bf16, half, fp8e4m3, fp8e5m2, float, int8_t, double>,
                "kittens: the operands A and B of an mma must be bf16, half, fp8e4m3, fp8e5m2, "
                "float, int8_t or double tiles");
  static_assert(std::is_same_v<TA, TB> || (is_float8<TA> && is_float8<TB>),
                "kittens: the operands A and B of an mma must have the same element type, or both "
                "an 8-bit float");
  static_assert(
      std::is_same_v<typename D::T, sum_of<TA>> && std::is_same_v<typename C::T, sum_of<TA>>,
      "kittens: the accumulators D and C of an mma must be float tiles (int for int8_t, "
      "double for double)");
  static_assert(
      a_transposed ? ducks::rt::col_layout<A> : ducks::rt::row_layout<A>,
      "kittens: operand A must be in row layout for mma_AB and mma_ABt, in col layout for "
      "mma_AtB and mma_AtBt");
  static_assert(
      b_transposed ? ducks::rt::row_layout<B> : ducks::rt::col_layout<B>,
      "kittens: operand B must be in col layout for mma_AB and mma_AtB, in row layout for "
      "mma_ABt and mma_AtBt");
  static_assert(std::is_same_v<typename A::shape, typename B::shape> &&
                    std::is_same_v<typename A::shape, typename C::shape> &&
                    std::is_same_v<typename A::shape, typename D::shape>,
                "kittens: all tiles of an mma must have the same base shape, rt_16x16 or rt_32x32");
  constexpr int k_tiles = a_transposed ? A::height : A::width;
  constexpr int m_tiles = a_transposed ? A::width : A::height;
  constexpr int n_tiles = b_transposed ? B::height : B::width;
  constexpr int b_k_tiles = b_transposed ? B::width : B::height;
  static_assert(k_tiles == b_k_tiles, "kittens: A and B of an mma must agree in k");
  static_assert(D::height == m_tiles && C::height == m_tiles,
                "kittens: D and C of an mma must have as many rows as the product");
  static_assert(D::width == n_tiles && C::width == n_tiles,
                "kittens: D and C of an mma must have as many columns as the product");
  // From the last row of base tiles to the first: the loads of A arrive in order, so the first MFMA
  // waits for all of A, and no further wait is needed for it. The order does not affect the sums.
#pragma unroll
  for (int m = m_tiles - 1; m >= 0; --m) {
#pragma unroll
    for (int n = 0; n < n_tiles; ++n) {
#pragma unroll
      for (int k = 0; k < k_tiles; ++k) {
        const auto& a_tile = a.tiles[a_transposed ? k : m][a_transposed ? m : k];
        const auto& b_tile = b.tiles[b_transposed ? n : k][b_transposed ? k : n];
        if (k == 0) {
          mma_base(d.tiles[m][n], a_tile, b_tile, c.tiles[m][n]);
        } else {
          mma_base(d.tiles[m][n], a_tile, b_tile, d.tiles[m][n]);
        }
      }
    }
  }
}

}  // namespace detail

/// D = A B + C, with A or B stored transposed as the name says; see the table above.
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_AB(D& d, const A& a, const B& b, const C& c) {
  detail::mma<false, false>(d, a, b, c);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_ABt(D& d, const A& a, const B& b, const C& c) {
  detail::mma<false, true>(d, a, b, c);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_AtB(D& d, const A& a, const B& b, const C& c) {
  detail::mma<true, false>(d, a, b, c);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C>
KITTENS_DEVICE void mma_AtBt(D& d, const A& a, const B& b, const C& c) {
  detail::mma<true, true>(d, a, b, c);
}

}  // namespace kittens
