// A user-defined function for every element of a register vector, and the element-wise choice
// between two vectors; see apply() of register tiles.
#pragma once

#include "../../memory/vec/vector_map.cuh"
#include "../tile/apply.cuh"

namespace kittens {
namespace detail {

template <typename F, typename... Values>
inline constexpr bool is_numbered_function = std::is_invocable_v<F, int, Values...>;
template <typename F, typename... Values>
inline constexpr bool is_vector_function =
    is_numbered_function<F, Values...> ||
    (sizeof...(Values) > 0 && std::is_invocable_v<F, Values...>);

/// f(number, values...) or f(values...), whichever it takes.
template <typename T, typename F, typename... Values>
KITTENS_DEVICE computed<T> call_numbered(F& f, int number, const Values&... values) {
  static_assert(is_vector_function<F, Values...>,
                "kittens: the function given to apply() of vectors must take (number, element...) "
                "or (element...), an element of each source: float, int for integers, or double");
  if constexpr (is_numbered_function<F, Values...>) {
    return static_cast<computed<T>>(f(number, values...));
  } else if constexpr (is_vector_function<F, Values...>) {
    return static_cast<computed<T>>(f(values...));
  } else {
    return {};
  }
}

template <ducks::rv::all D, ducks::rv::all S>
constexpr void check_same_places() {
  static_assert(D::length == S::length && std::is_same_v<typename D::layout, typename S::layout> &&
                    D::outer_dim == S::outer_dim && D::inner_dim == S::inner_dim,
                "kittens: apply and select of register vectors need vectors of the same length, "
                "layout and base shape");
}

/// The elements in a vector's data[i][j].
template <ducks::rv::all V>
using part_elements = elements<typename V::T, vector_map<V>::packed>;

template <ducks::rv::all D, typename F, ducks::rv::all... S>
KITTENS_DEVICE void apply_vector(D& dst, F&& f, const S&... src) {
  (check_same_places<D, S>(), ...);
  using T = typename D::T;
  constexpr int packed = vector_map<D>::packed;
#pragma unroll
  for (int i = 0; i < D::outer_dim; ++i) {
#pragma unroll
    for (int j = 0; j < D::inner_dim; ++j) {
      elements<computed<T>, packed> result;
      const auto compute = [&](const auto&... part) {
#pragma unroll
        for (int e = 0; e < packed; ++e) {
          result.e[e] =
              call_numbered<T>(f, vector_map<D>::element(i, j * packed + e), part.e[e]...);
        }
      };
      compute(
          convert_elements<computed<typename S::T>>(bits_as<part_elements<S>>(src.data[i][j]))...);
      dst.data[i][j] = bits_as<typename D::dtype>(convert_elements<T>(result));
    }
  }
}

}  // namespace detail

/// dst[i] = f(i), f(i, a[i]) or f(i, a[i], b[i]); f may leave out the number.
template <ducks::rv::all D, typename F>
KITTENS_DEVICE void apply(D& dst, F&& f) {
  detail::apply_vector(dst, f);
}
template <ducks::rv::all D, ducks::rv::all A, typename F>
KITTENS_DEVICE void apply(D& dst, const A& a, F&& f) {
  detail::apply_vector(dst, f, a);
}
template <ducks::rv::all D, ducks::rv::all A, ducks::rv::all B, typename F>
KITTENS_DEVICE void apply(D& dst, const A& a, const B& b, F&& f) {
  detail::apply_vector(dst, f, a, b);
}

/// dst = condition != 0 ? a : b, element by element; a and b are vectors of dst's type, or scalars.
template <ducks::rv::all D, ducks::rv::all Condition, typename A, typename B>
KITTENS_DEVICE void select(D& dst, const Condition& condition, const A& a, const B& b) {
  using T = typename D::T;
  detail::check_same_places<D, Condition>();
  detail::check_choice<D, A>();
  detail::check_choice<D, B>();
  constexpr int packed = detail::vector_map<D>::packed;
#pragma unroll
  for (int i = 0; i < D::outer_dim; ++i) {
#pragma unroll
    for (int j = 0; j < D::inner_dim; ++j) {
      const auto holds = detail::convert_elements<detail::computed<typename Condition::T>>(
          detail::bits_as<detail::part_elements<Condition>>(condition.data[i][j]));
      const auto get = [&](const auto& operand) {
        if constexpr (ducks::rv::all<std::remove_cvref_t<decltype(operand)>>) {
          return detail::bits_as<detail::part_elements<D>>(operand.data[i][j]);
        } else {
          return detail::repeated<T, packed>(operand);
        }
      };
      const auto yes = get(a), no = get(b);
      detail::elements<T, packed> result;
#pragma unroll
      for (int e = 0; e < packed; ++e) result.e[e] = holds.e[e] != 0 ? yes.e[e] : no.e[e];
      dst.data[i][j] = detail::bits_as<typename D::dtype>(result);
    }
  }
}

}  // namespace kittens
