// A user-defined function for every element of a register tile, optionally given the element's row
// and column; and the element-wise choice between two tiles.
//
// apply() gives the function each element in the type that it is computed in: float for floats of
// 8, 16 and 32 bits, int for integers, double. The result is rounded once. Rows and columns are
// those in the tile; a kernel adds its tile's origin. So masks, biases by position and dropout by a
// counter-based generator are a lambda:
//
//   apply(p, p, [=](int row, int col, float x) {
//     return random_bits(seed, row0 + row, col0 + col) < limit ? x * scale : 0.0f;
//   });
#pragma once

#include "../../memory/runs.cuh"

namespace kittens {
namespace detail {

template <typename T>
using computed = base_ops::detail::computed<T>;

template <typename F, typename... Values>
inline constexpr bool is_placed_function = std::is_invocable_v<F, int, int, Values...>;
template <typename F, typename... Values>
inline constexpr bool is_element_function =
    is_placed_function<F, Values...> ||
    (sizeof...(Values) > 0 && std::is_invocable_v<F, Values...>);

/// f(row, col, values...) or f(values...), whichever it takes.
template <typename T, typename F, typename... Values>
KITTENS_DEVICE computed<T> call_at(F& f, int row, int col, const Values&... values) {
  static_assert(is_element_function<F, Values...>,
                "kittens: the function given to apply() must take (row, column, element...) or "
                "(element...), an element of each source: float, int for integers, or double");
  if constexpr (is_placed_function<F, Values...>) {
    return static_cast<computed<T>>(f(row, col, values...));
  } else if constexpr (is_element_function<F, Values...>) {
    return static_cast<computed<T>>(f(values...));
  } else {
    return {};
  }
}

template <ducks::rt::all D, ducks::rt::all S>
constexpr void check_same_places() {
  static_assert(D::rows == S::rows && D::cols == S::cols,
                "kittens: apply and select of register tiles need tiles of the same shape");
  static_assert(std::is_same_v<typename D::layout, typename S::layout> && same_lanes<D, S>,
                "kittens: apply and select of register tiles need tiles of the same layout whose "
                "lanes hold the same elements: the same base shape, and element types of 2 or 4 "
                "bytes, or of the same size");
}

template <ducks::rt::all D, typename F, ducks::rt::all... S>
KITTENS_DEVICE void apply_tile(D& dst, F&& f, const S&... src) {
  (check_same_places<D, S>(), ...);
  using T = typename D::T;
  using base = typename D::base;
  constexpr int run = base::map::run;
  const int lane = laneid();
  for_each_run<D>([&](int i, int j, int q) {
    elements<computed<T>, run> result;
    const auto compute = [&](const auto&... part) {
#pragma unroll
      for (int e = 0; e < run; ++e) {
        const int row = i * D::tile_size_row + base::row_of(lane, q * run + e);
        const int col = j * D::tile_size_col + base::col_of(lane, q * run + e);
        result.e[e] = call_at<T>(f, row, col, part.e[e]...);
      }
    };
    compute(convert_elements<computed<typename S::T>>(take_run(src.tiles[i][j], q))...);
    put_run(dst.tiles[i][j], q, convert_elements<T>(result));
  });
}

template <typename D, typename Operand>
constexpr void check_choice() {
  static_assert(std::is_same_v<D, Operand> || std::is_same_v<typename D::T, Operand> ||
                    std::is_arithmetic_v<Operand>,
                "kittens: select() chooses between tiles or vectors of the destination's type, or "
                "scalars");
}
/// A scalar as `count` elements of type T.
template <typename T, int count, typename Scalar>
KITTENS_DEVICE elements<T, count> repeated(const Scalar& value) {
  elements<T, count> list;
#pragma unroll
  for (int e = 0; e < count; ++e) {
    if constexpr (std::is_same_v<Scalar, T>) {
      list.e[e] = value;
    } else {
      list.e[e] = base_types::convertor<T, computed<T>>::convert(static_cast<computed<T>>(value));
    }
  }
  return list;
}

}  // namespace detail

/// dst[r][c] = f(r, c), f(r, c, a[r][c]), f(r, c, a[r][c], b[r][c]) or with a third; f may leave
/// out row and column. The destination may be a source. Sources of other element types are possible
/// if the lanes hold the same elements, as those of 2 and 4 bytes do.
template <ducks::rt::all D, typename F>
KITTENS_DEVICE void apply(D& dst, F&& f) {
  detail::apply_tile(dst, f);
}
template <ducks::rt::all D, ducks::rt::all A, typename F>
KITTENS_DEVICE void apply(D& dst, const A& a, F&& f) {
  detail::apply_tile(dst, f, a);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, typename F>
KITTENS_DEVICE void apply(D& dst, const A& a, const B& b, F&& f) {
  detail::apply_tile(dst, f, a, b);
}
template <ducks::rt::all D, ducks::rt::all A, ducks::rt::all B, ducks::rt::all C, typename F>
KITTENS_DEVICE void apply(D& dst, const A& a, const B& b, const C& c, F&& f) {
  detail::apply_tile(dst, f, a, b, c);
}

/// dst = condition != 0 ? a : b, element by element, the bits of a or b. The condition may be the
/// result of lt(), eq() and the other comparisons, or a mask of integers; a and b are tiles of
/// dst's type, or scalars.
template <ducks::rt::all D, ducks::rt::all Condition, typename A, typename B>
KITTENS_DEVICE void select(D& dst, const Condition& condition, const A& a, const B& b) {
  using T = typename D::T;
  detail::check_same_places<D, Condition>();
  detail::check_choice<D, A>();
  detail::check_choice<D, B>();
  constexpr int run = D::base::map::run;
  detail::for_each_run<D>([&](int i, int j, int q) {
    const auto holds = detail::convert_elements<detail::computed<typename Condition::T>>(
        detail::take_run(condition.tiles[i][j], q));
    const auto get = [&](const auto& operand) {
      if constexpr (ducks::rt::all<std::remove_cvref_t<decltype(operand)>>) {
        return detail::take_run(operand.tiles[i][j], q);
      } else {
        return detail::repeated<T, run>(operand);
      }
    };
    const auto yes = get(a), no = get(b);
    detail::elements<T, run> result;
#pragma unroll
    for (int e = 0; e < run; ++e) result.e[e] = holds.e[e] != 0 ? yes.e[e] : no.e[e];
    detail::put_run(dst.tiles[i][j], q, result);
  });
}

}  // namespace kittens
