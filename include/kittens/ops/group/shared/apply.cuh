// apply() and select() of shared tiles and vectors by a group of warps; see those of register
// tiles.
//
// No barrier is inside: writes of other warps to a source must precede a barrier before the call,
// and other warps may read the destination after a barrier. The destination may be a source.
#pragma once

#include "../../warp/register/vec/apply.cuh"
#include "tile_maps.cuh"

namespace kittens {
namespace detail {

/// Converts an element to the type it is computed in, and back.
template <typename T>
KITTENS_DEVICE computed<T> widened(const T& x) {
  return base_types::convertor<computed<T>, T>::convert(x);
}
template <typename T>
KITTENS_DEVICE T narrowed(const computed<T>& x) {
  return base_types::convertor<T, computed<T>>::convert(x);
}

template <int N_THREADS, ducks::st::all D, typename F, ducks::st::all... S>
KITTENS_DEVICE void apply_shared(D& dst, F&& f, const S&... src) {
  using T = typename D::T;
  map_shared<N_THREADS, true>(
      dst,
      [&](int row, int col, const auto&... x) {
        return narrowed<T>(call_at<T>(f, row, col, widened(x)...));
      },
      src...);
}
template <ducks::sv::all D, ducks::sv::all S>
constexpr void check_same_length() {
  static_assert(static_cast<int>(D::length) == static_cast<int>(S::length),
                "kittens: apply and select of shared vectors need vectors of the same length");
}
template <int N_THREADS, ducks::sv::all D, typename F, ducks::sv::all... S>
KITTENS_DEVICE void apply_shared_vector(D& dst, F&& f, const S&... src) {
  (check_same_length<D, S>(), ...);
  using T = typename D::T;
  for (int i = threadIdx.x % N_THREADS; i < static_cast<int>(D::length); i += N_THREADS) {
    dst[i] = narrowed<T>(call_numbered<T>(f, i, widened(src[i])...));
  }
  lds_writes_done();
}

/// An operand of select(): its element at a row and column, or number; or the scalar.
template <typename T, typename Operand, typename At>
KITTENS_DEVICE T choice(const Operand& operand, const At& at) {
  if constexpr (requires { typename Operand::identifier; }) {
    return operand[at];
  } else {
    return repeated<T, 1>(operand).e[0];
  }
}

}  // namespace detail

namespace group_ops {

template <int GROUP_WARPS>
struct shared_apply {
  static constexpr int threads = GROUP_WARPS * WARP_THREADS;

  /// dst[r][c] = f(r, c), f(r, c, a[r][c]) or f(r, c, a[r][c], b[r][c]); f may leave out row and
  /// column.
  template <ducks::st::all D, typename F>
  static KITTENS_MEMBER void apply(D& dst, F&& f) {
    detail::apply_shared<threads>(dst, f);
  }
  template <ducks::st::all D, ducks::st::all A, typename F>
  static KITTENS_MEMBER void apply(D& dst, const A& a, F&& f) {
    detail::apply_shared<threads>(dst, f, a);
  }
  template <ducks::st::all D, ducks::st::all A, ducks::st::all B, typename F>
  static KITTENS_MEMBER void apply(D& dst, const A& a, const B& b, F&& f) {
    detail::apply_shared<threads>(dst, f, a, b);
  }

  /// dst[i] = f(i), f(i, a[i]) or f(i, a[i], b[i]); f may leave out the number.
  template <ducks::sv::all D, typename F>
  static KITTENS_MEMBER void apply(D& dst, F&& f) {
    detail::apply_shared_vector<threads>(dst, f);
  }
  template <ducks::sv::all D, ducks::sv::all A, typename F>
  static KITTENS_MEMBER void apply(D& dst, const A& a, F&& f) {
    detail::apply_shared_vector<threads>(dst, f, a);
  }
  template <ducks::sv::all D, ducks::sv::all A, ducks::sv::all B, typename F>
  static KITTENS_MEMBER void apply(D& dst, const A& a, const B& b, F&& f) {
    detail::apply_shared_vector<threads>(dst, f, a, b);
  }

  /// dst = condition != 0 ? a : b, element by element; a and b are tiles of dst's type, or scalars.
  template <ducks::st::all D, ducks::st::all Condition, typename A, typename B>
  static KITTENS_MEMBER void select(D& dst, const Condition& condition, const A& a, const B& b) {
    using T = typename D::T;
    detail::check_choice<D, A>();
    detail::check_choice<D, B>();
    detail::map_shared<threads, true>(
        dst,
        [&](int row, int col, const auto& holds) {
          return detail::widened(holds) != 0 ? detail::choice<T>(a, int2{row, col})
                                             : detail::choice<T>(b, int2{row, col});
        },
        condition);
  }
  /// The same of vectors.
  template <ducks::sv::all D, ducks::sv::all Condition, typename A, typename B>
  static KITTENS_MEMBER void select(D& dst, const Condition& condition, const A& a, const B& b) {
    using T = typename D::T;
    detail::check_choice<D, A>();
    detail::check_choice<D, B>();
    detail::check_same_length<D, Condition>();
    for (int i = threadIdx.x % threads; i < static_cast<int>(D::length); i += threads) {
      dst[i] =
          detail::widened(condition[i]) != 0 ? detail::choice<T>(a, i) : detail::choice<T>(b, i);
    }
    detail::lds_writes_done();
  }
};

}  // namespace group_ops
}  // namespace kittens
