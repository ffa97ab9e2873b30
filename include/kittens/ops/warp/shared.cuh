// Maps and reductions of shared tiles and vectors by one warp: those of a group of one. They
// contain no barrier, so some warps may call them and others not.
#pragma once

#include "../group/shared/tile_maps.cuh"
#include "../group/shared/tile_reductions.cuh"
#include "../group/shared/vec.cuh"

namespace kittens {

/// A function on shared tiles or vectors, with the destination first.
#define KITTENS_WARP(concept_name, ops, name)             \
  template <ducks::concept_name::all D, typename... Args> \
  KITTENS_DEVICE void name(D& dst, const Args&... args) { \
    group_ops::ops<1>::name(dst, args...);                \
  }
#define KITTENS_WARP_MAP(name)             \
  KITTENS_WARP(st, shared_tile_maps, name) \
  KITTENS_WARP(sv, shared_vec, name)
KITTENS_WARP_MAP(copy)
KITTENS_WARP_MAP(zero)
KITTENS_WARP_MAP(one)
KITTENS_WARP_MAP(pos_infty)
KITTENS_WARP_MAP(neg_infty)
KITTENS_WARP_MAP(exp)
KITTENS_WARP_MAP(exp2)
KITTENS_WARP_MAP(log)
KITTENS_WARP_MAP(log2)
KITTENS_WARP_MAP(abs)
KITTENS_WARP_MAP(relu)
KITTENS_WARP_MAP(add)
KITTENS_WARP_MAP(sub)
KITTENS_WARP_MAP(mul)
KITTENS_WARP_MAP(div)
KITTENS_WARP_MAP(max)
KITTENS_WARP_MAP(min)
KITTENS_WARP(st, shared_tile_maps, add_row)
KITTENS_WARP(st, shared_tile_maps, sub_row)
KITTENS_WARP(st, shared_tile_maps, mul_row)
KITTENS_WARP(st, shared_tile_maps, div_row)
KITTENS_WARP(st, shared_tile_maps, add_col)
KITTENS_WARP(st, shared_tile_maps, sub_col)
KITTENS_WARP(st, shared_tile_maps, mul_col)
KITTENS_WARP(st, shared_tile_maps, div_col)
KITTENS_WARP(st, shared_tile_maps, broadcast_row)
KITTENS_WARP(st, shared_tile_maps, broadcast_col)
#undef KITTENS_WARP_MAP
#undef KITTENS_WARP

/// row_sum(v, tile[, accumulated]) and the others, with shared operands.
#define KITTENS_WARP_REDUCTION(name)                                      \
  template <ducks::sv::all SV, ducks::st::all ST, typename... Args>       \
  KITTENS_DEVICE void name(SV& dst, const ST& src, const Args&... args) { \
    group_ops::shared_tile_reductions<1>::name(dst, src, args...);        \
  }
KITTENS_WARP_REDUCTION(row_max)
KITTENS_WARP_REDUCTION(row_min)
KITTENS_WARP_REDUCTION(row_sum)
KITTENS_WARP_REDUCTION(row_prod)
KITTENS_WARP_REDUCTION(col_max)
KITTENS_WARP_REDUCTION(col_min)
KITTENS_WARP_REDUCTION(col_sum)
KITTENS_WARP_REDUCTION(col_prod)
#undef KITTENS_WARP_REDUCTION

/// sum(s, vector[, start]) and the others; every lane gets the result.
#define KITTENS_WARP_REDUCTION(name)                                                          \
  template <ducks::sv::all SV>                                                                \
  KITTENS_DEVICE void name(typename SV::T& dst, const SV& src) {                              \
    group_ops::shared_vec<1>::name(dst, src);                                                 \
  }                                                                                           \
  template <ducks::sv::all SV>                                                                \
  KITTENS_DEVICE void name(typename SV::T& dst, const SV& src, const typename SV::T& start) { \
    group_ops::shared_vec<1>::name(dst, src, start);                                          \
  }
KITTENS_WARP_REDUCTION(max)
KITTENS_WARP_REDUCTION(min)
KITTENS_WARP_REDUCTION(sum)
KITTENS_WARP_REDUCTION(prod)
#undef KITTENS_WARP_REDUCTION

}  // namespace kittens
