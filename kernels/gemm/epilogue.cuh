// C = alpha * product + beta * C for one wave's part of C.
#pragma once

#include "kittens.cuh"
#include "plan.h"

namespace margay_gemm {

template <typename Out>
KITTENS_DEVICE float to_float(Out value) {
  return kittens::base_types::convertor<float, Out>::convert(value);
}
template <typename Out>
KITTENS_DEVICE Out from_float(float value) {
  return kittens::base_types::convertor<Out, float>::convert(value);
}

/// Keeps the four sums that a lane has of a tile in one tuple of registers, as the MFMA leave them.
/// Without it clang 22 makes copies of single sums for one of the ways of writing them, more than
/// there are registers for.
template <typename Product>
KITTENS_DEVICE void keep_tuples(Product& product) {
  using namespace kittens;
#pragma unroll
  for (int i = 0; i < Product::height; ++i) {
#pragma unroll
    for (int j = 0; j < Product::width; ++j) {
      auto sums = detail::bits_as<detail::mfma_f32x4>(product.tiles[i][j].data);
      asm("" : "+v"(sums));
      __builtin_memcpy(&product.tiles[i][j].data, &sums, sizeof(sums));
    }
  }
}

/// `product` is the transposed result, so tile (j, i) of it is 16 rows and 16 columns of C at
/// (16 i, 16 j), and a lane holds four neighbours of a row. beta == 0 does not read C, which may
/// then be uninitialised.
template <typename Out, typename Product>
KITTENS_DEVICE void write_result(const Arguments& args, Product& product, int first_row,
                                 int first_col) {
  using namespace kittens;
  keep_tuples(product);
  using quad = detail::elements<Out, 4>;
  using bits = detail::word<sizeof(quad)>;
  constexpr int rows = Product::cols;
  constexpr int cols = Product::rows;
  constexpr int tiles_down = Product::width;
  constexpr int tiles_across = Product::height;

  const int lane_row = laneid() % 16;
  const int lane_col = 4 * (laneid() / 16);
  Out* const part = static_cast<Out*>(args.c) + first_row * args.ldc + first_col;
  const auto row_bytes = static_cast<uint32_t>(args.ldc * sizeof(Out));

  const bool inside = first_row + rows <= args.m && first_col + cols <= args.n;
  const bool aligned =
      (reinterpret_cast<uintptr_t>(args.c) | args.ldc * sizeof(Out)) % sizeof(quad) == 0;
  if (inside && aligned) {
    const uint32_t lane_offset = lane_row * row_bytes + lane_col * sizeof(Out);
#pragma unroll
    for (int i = 0; i < tiles_down; ++i) {
      Out* const start = part + i * 16 * args.ldc;
      bits old[tiles_across];
      if (args.beta != 0) {
#pragma unroll
        for (int j = 0; j < tiles_across; ++j) {
          old[j] = detail::global_load<sizeof(quad), sizeof(quad)>(start + j * 16, lane_offset);
        }
      }
#pragma unroll
      for (int j = 0; j < tiles_across; ++j) {
        const auto sum = detail::take_run(product.tiles[j][i], 0);
        quad value;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          float result = args.alpha * sum.e[e];
          if (args.beta != 0) {
            result += args.beta * to_float(detail::bits_as<quad>(old[j]).e[e]);
          }
          value.e[e] = from_float<Out>(result);
        }
        detail::global_store<sizeof(quad), sizeof(quad)>(start + j * 16, lane_offset,
                                                         detail::bits_as<bits>(value));
      }
    }
    return;
  }
  // At an edge, or where rows of C are not aligned: element by element.
#pragma unroll
  for (int i = 0; i < tiles_down; ++i) {
    const int row = i * 16 + lane_row;
    if (first_row + row >= args.m) continue;
#pragma unroll
    for (int j = 0; j < tiles_across; ++j) {
      const auto sum = detail::take_run(product.tiles[j][i], 0);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int col = j * 16 + lane_col + e;
        if (first_col + col >= args.n) continue;
        Out* const at = part + row * args.ldc + col;
        float result = args.alpha * sum.e[e];
        if (args.beta != 0) result += args.beta * to_float(*at);
        *at = from_float<Out>(result);
      }
    }
  }
}

}  // namespace margay_gemm
