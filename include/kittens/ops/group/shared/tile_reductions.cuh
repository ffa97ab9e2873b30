// Reductions of shared tiles to a shared vector, by a group of warps, without a barrier inside.
//
// Every row (or column) is reduced by lanes of one warp, in the type it is computed in: 16- and
// 8-bit floats in float, rounded once.
#pragma once

#include "tile_maps.cuh"

namespace kittens {
namespace detail {

/// Start of a sum where a lane has no element: it changes nothing.
template <typename op, typename C>
KITTENS_DEVICE C neutral_of() {
  if constexpr (std::is_same_v<op, base_ops::sum>) return C{0};
  if constexpr (std::is_same_v<op, base_ops::mul>) return C{1};
  constexpr bool is_max = std::is_same_v<op, base_ops::max>;
  static_assert(is_max || std::is_same_v<op, base_ops::min> || std::is_same_v<op, base_ops::sum> ||
                    std::is_same_v<op, base_ops::mul>,
                "kittens: shared tiles reduce by sum, prod, max or min");
  if constexpr (std::is_same_v<C, int>) return is_max ? INT32_MIN : INT32_MAX;
  if constexpr (std::is_same_v<C, double>) {
    return is_max ? -__builtin_inf() : __builtin_inf();
  } else {
    return is_max ? -__builtin_inff() : __builtin_inff();
  }
}

/// Calls done(row, result). Sixteen lanes walk along a row together.
template <typename op, int GROUP_WARPS, ducks::st::all ST, typename F>
KITTENS_DEVICE void reduce_shared_rows(const ST& src, F&& done) {
  using C = base_ops::detail::computed<typename ST::T>;
  constexpr int count = widest_slot<typename ST::T>;
  constexpr int rows_at_a_time = WARP_THREADS / 16;
  const int warp = kittens::warpid() % GROUP_WARPS;
  for (int first = warp * rows_at_a_time; first < ST::rows; first += GROUP_WARPS * rows_at_a_time) {
    const int row = first + laneid() / 16;
    C sum = neutral_of<op, C>();
    for (int col = laneid() % 16 * count; col < ST::cols; col += 16 * count) {
      const auto part = convert_elements<C>(shared_run<ST, count>::read(src, row, col));
#pragma unroll
      for (int e = 0; e < count; ++e) sum = op::op(sum, part.e[e]);
    }
    sum = reduce_row_of_lanes<op>(sum);
    if (laneid() % 16 == 0) done(row, sum);
  }
}

/// Calls done(col, result). A lane takes `count` columns of every fourth row; the four lanes of a
/// slot are joined at the end.
template <typename op, int GROUP_WARPS, ducks::st::all ST, typename F>
KITTENS_DEVICE void reduce_shared_cols(const ST& src, F&& done) {
  using C = base_ops::detail::computed<typename ST::T>;
  constexpr int count = widest_slot<typename ST::T>;
  constexpr int lanes = 16;
  const int warp = kittens::warpid() % GROUP_WARPS;
  for (int first = warp * lanes * count; first < ST::cols; first += GROUP_WARPS * lanes * count) {
    const int col = first + laneid() % lanes * count;
    if (col >= ST::cols) continue;
    elements<C, count> sum;
#pragma unroll
    for (int e = 0; e < count; ++e) sum.e[e] = neutral_of<op, C>();
    for (int row = laneid() / lanes; row < ST::rows; row += WARP_THREADS / lanes) {
      const auto part = convert_elements<C>(shared_run<ST, count>::read(src, row, col));
#pragma unroll
      for (int e = 0; e < count; ++e) sum.e[e] = op::op(sum.e[e], part.e[e]);
    }
#pragma unroll
    for (int e = 0; e < count; ++e) {
      const C all = reduce_groups<op, lanes>(sum.e[e]);
      if (laneid() < lanes) done(col + e, all);
    }
  }
}

}  // namespace detail

namespace group_ops {

template <int GROUP_WARPS>
struct shared_tile_reductions {
  /// row_sum(v, tile): v[r] = sum of row r. row_sum(v, tile, a): v[r] = a[r] + sum; a may be v.
#define KITTENS_REDUCTION(name, operation)                                                  \
  template <ducks::st::all ST, ducks::sv::all SV>                                           \
  static KITTENS_MEMBER void row_##name(SV& dst, const ST& src) {                           \
    reduce<base_ops::operation, true>(dst, src, [](int, const auto& x) { return x; });      \
  }                                                                                         \
  template <ducks::st::all ST, ducks::sv::all SV>                                           \
  static KITTENS_MEMBER void row_##name(SV& dst, const ST& src, const SV& accumulated) {    \
    reduce<base_ops::operation, true>(dst, src, joined<base_ops::operation>(accumulated));  \
  }                                                                                         \
  template <ducks::st::all ST, ducks::sv::all SV>                                           \
  static KITTENS_MEMBER void col_##name(SV& dst, const ST& src) {                           \
    reduce<base_ops::operation, false>(dst, src, [](int, const auto& x) { return x; });     \
  }                                                                                         \
  template <ducks::st::all ST, ducks::sv::all SV>                                           \
  static KITTENS_MEMBER void col_##name(SV& dst, const ST& src, const SV& accumulated) {    \
    reduce<base_ops::operation, false>(dst, src, joined<base_ops::operation>(accumulated)); \
  }
  KITTENS_REDUCTION_NAMES(KITTENS_REDUCTION)
#undef KITTENS_REDUCTION

 private:
  template <typename op, ducks::sv::all SV>
  static KITTENS_MEMBER auto joined(const SV& accumulated) {
    return [&](int i, const auto& x) {
      using C = std::remove_cvref_t<decltype(x)>;
      return op::op(base_types::convertor<C, typename SV::T>::convert(accumulated[i]), x);
    };
  }
  template <typename op, bool rows, ducks::sv::all SV, ducks::st::all ST, typename F>
  static KITTENS_MEMBER void reduce(SV& dst, const ST& src, F&& finish) {
    detail::check_shared_vector<rows, ST, SV>();
    const auto done = [&](int i, const auto& x) {
      using C = std::remove_cvref_t<decltype(x)>;
      dst[i] = base_types::convertor<typename SV::T, C>::convert(finish(i, x));
    };
    if constexpr (rows) {
      detail::reduce_shared_rows<op, GROUP_WARPS>(src, done);
    } else {
      detail::reduce_shared_cols<op, GROUP_WARPS>(src, done);
    }
    detail::lds_writes_done();
  }
};

}  // namespace group_ops
}  // namespace kittens
