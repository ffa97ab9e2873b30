// Maps and reductions of shared tiles and vectors by one warp: those of a group of one. They
// contain no barrier, so some warps may call them and others not.
#pragma once

#include "../group/shared/apply.cuh"
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
#define KITTENS_WARP_MAP(name, ...)        \
  KITTENS_WARP(st, shared_tile_maps, name) \
  KITTENS_WARP(sv, shared_vec, name)
#define KITTENS_WARP_VECTOR_MAP(name, ...)       \
  KITTENS_WARP(st, shared_tile_maps, name##_row) \
  KITTENS_WARP(st, shared_tile_maps, name##_col)
KITTENS_WARP_MAP(copy)
KITTENS_NULLARY_NAMES(KITTENS_WARP_MAP)
KITTENS_UNARY_NAMES(KITTENS_WARP_MAP)
KITTENS_BINARY_NAMES(KITTENS_WARP_MAP)
KITTENS_VECTOR_NAMES(KITTENS_WARP_VECTOR_MAP)
KITTENS_WARP_VECTOR_MAP(broadcast)
KITTENS_WARP(st, shared_apply, apply)
KITTENS_WARP(sv, shared_apply, apply)
KITTENS_WARP(st, shared_apply, select)
KITTENS_WARP(sv, shared_apply, select)
#undef KITTENS_WARP_VECTOR_MAP
#undef KITTENS_WARP_MAP
#undef KITTENS_WARP

/// row_sum(v, tile[, accumulated]) and the others, with shared operands.
#define KITTENS_WARP_REDUCTION(name, ...)                                       \
  template <ducks::sv::all SV, ducks::st::all ST, typename... Args>             \
  KITTENS_DEVICE void row_##name(SV& dst, const ST& src, const Args&... args) { \
    group_ops::shared_tile_reductions<1>::row_##name(dst, src, args...);        \
  }                                                                             \
  template <ducks::sv::all SV, ducks::st::all ST, typename... Args>             \
  KITTENS_DEVICE void col_##name(SV& dst, const ST& src, const Args&... args) { \
    group_ops::shared_tile_reductions<1>::col_##name(dst, src, args...);        \
  }
KITTENS_REDUCTION_NAMES(KITTENS_WARP_REDUCTION)
#undef KITTENS_WARP_REDUCTION

/// sum(s, vector[, start]) and the others; every lane gets the result.
#define KITTENS_WARP_REDUCTION(name, ...)                                                     \
  template <ducks::sv::all SV>                                                                \
  KITTENS_DEVICE void name(typename SV::T& dst, const SV& src) {                              \
    group_ops::shared_vec<1>::name(dst, src);                                                 \
  }                                                                                           \
  template <ducks::sv::all SV>                                                                \
  KITTENS_DEVICE void name(typename SV::T& dst, const SV& src, const typename SV::T& start) { \
    group_ops::shared_vec<1>::name(dst, src, start);                                          \
  }
KITTENS_REDUCTION_NAMES(KITTENS_WARP_REDUCTION)
#undef KITTENS_WARP_REDUCTION

}  // namespace kittens
