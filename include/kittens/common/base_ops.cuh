// Element-wise operations as types, for the generic maps.
//
// Each works on a scalar or a packed value: op::op(x). 16- and 8-bit floats are computed in float
// and rounded once; for sum, difference, product and quotient of 16-bit values that equals the
// correctly rounded result, since float carries more than twice as many bits. double is computed in
// double, integers in int; functions of real numbers are not for integers.
//
// In float these are made of the hardware's instructions, which are within about 1 ulp and take and
// give numbers below 2^-126 as 0. With correctly rounded instructions, as on the virtual device:
//
//   sqrt, rsqrt, reciprocal   relative error below 2^-23
//   exp, sigmoid              relative error below 2^-22 (1 + |x|)
//   tanh                      relative error below 2^-20
//   sin, cos                  absolute error below 2^-20 for |x| up to 10^5
#pragma once

#include "base_types.cuh"
#include "op_names.cuh"

namespace kittens {
namespace base_ops {

namespace detail {
/// The type that elements of T are computed in.
template <typename T>
using computed = std::conditional_t<std::is_same_v<T, double>, double,
                                    std::conditional_t<kittens::detail::is_integer<T>, int, float>>;

template <typename T, typename F, typename... Args>
KITTENS_DEVICE T each(F&& f, const T& first, const Args&... rest) {
  using base_types::packing;
  using One = typename packing<T>::unpacked_type;
  using C = computed<One>;
  using namespace kittens::detail;
  constexpr int count = packing<T>::num();
  using list = elements<One, count>;
  elements<C, count> result;
  const auto compute = [&](const auto& a, const auto&... b) {
#pragma unroll
    for (int i = 0; i < count; ++i) result.e[i] = f(a.e[i], b.e[i]...);
  };
  compute(convert_elements<C>(bits_as<list>(first)), convert_elements<C>(bits_as<list>(rest))...);
  return bits_as<T>(convert_elements<One>(result));
}

// One name for the types that operations compute in.
KITTENS_DEVICE float exp(float x) { return __expf(x); }
KITTENS_DEVICE float exp2(float x) { return __builtin_amdgcn_exp2f(x); }
KITTENS_DEVICE float log(float x) { return __logf(x); }
KITTENS_DEVICE float log2(float x) { return __builtin_amdgcn_logf(x); }
KITTENS_DEVICE double exp(double x) { return ::exp(x); }
KITTENS_DEVICE double exp2(double x) { return ::exp2(x); }
KITTENS_DEVICE double log(double x) { return ::log(x); }
KITTENS_DEVICE double log2(double x) { return ::log2(x); }
KITTENS_DEVICE float sqrt(float x) { return __builtin_amdgcn_sqrtf(x); }
KITTENS_DEVICE float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
KITTENS_DEVICE float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
KITTENS_DEVICE double sqrt(double x) { return ::sqrt(x); }
KITTENS_DEVICE double rsqrt(double x) { return 1 / ::sqrt(x); }
KITTENS_DEVICE double reciprocal(double x) { return 1 / x; }
KITTENS_DEVICE float sigmoid(float x) { return reciprocal(1 + exp(-x)); }
KITTENS_DEVICE double sigmoid(double x) { return 1 / (1 + ::exp(-x)); }
/// (1 - e) / (1 + e) with e = exp(-2|x|) loses digits where e is near 1: the series is used there.
KITTENS_DEVICE float tanh(float x) {
  const float square = x * x;
  const float series =
      x * (1 + square * (-1.0f / 3 + square * (2.0f / 15 + square * -17.0f / 315)));
  const float e = exp(-2 * __builtin_fabsf(x));
  const float quotient = (1 - e) * reciprocal(1 + e);
  return square < 0.04f ? series : __builtin_copysignf(quotient, x);
}
KITTENS_DEVICE double tanh(double x) { return ::tanh(x); }
/// x in turns, between -1/2 and 1/2: what v_sin_f32 and v_cos_f32 take. 2 pi is in two parts, so
/// that whole turns are taken off x without loss.
KITTENS_DEVICE float part_of_turn(float x) {
  constexpr float turns = 0.15915494309189535f;  // 1 / (2 pi)
  constexpr float high = 6.28318548202514648f, low = -1.74845552715102e-7f;
  const float whole = __builtin_rintf(x * turns);
  return __builtin_fmaf(-whole, low, __builtin_fmaf(-whole, high, x)) * turns;
}
KITTENS_DEVICE float sin(float x) { return __builtin_amdgcn_sinf(part_of_turn(x)); }
KITTENS_DEVICE float cos(float x) { return __builtin_amdgcn_cosf(part_of_turn(x)); }
KITTENS_DEVICE double sin(double x) { return ::sin(x); }
KITTENS_DEVICE double cos(double x) { return ::cos(x); }
KITTENS_DEVICE float abs(float x) { return __builtin_fabsf(x); }
KITTENS_DEVICE double abs(double x) { return __builtin_fabs(x); }
KITTENS_DEVICE int abs(int x) { return x < 0 ? -x : x; }
KITTENS_DEVICE float larger(float x, float y) { return __builtin_fmaxf(x, y); }
KITTENS_DEVICE double larger(double x, double y) { return __builtin_fmax(x, y); }
KITTENS_DEVICE int larger(int x, int y) { return x > y ? x : y; }
KITTENS_DEVICE float smaller(float x, float y) { return __builtin_fminf(x, y); }
KITTENS_DEVICE double smaller(double x, double y) { return __builtin_fmin(x, y); }
KITTENS_DEVICE int smaller(int x, int y) { return x < y ? x : y; }

template <typename function, typename One>
inline constexpr bool is_defined_for = !kittens::detail::is_integer<One>;

/// An operation defined by a function of real numbers.
template <typename function>
struct real_map {
  template <typename T>
  static KITTENS_MEMBER T op(const T& x) {
    using One = typename base_types::packing<T>::unpacked_type;
    static_assert(is_defined_for<function, One>,
                  "kittens: this function is for floating-point elements, not for integers; copy() "
                  "them to a float tile or vector first");
    if constexpr (is_defined_for<function, One>) {
      return each([](auto a) { return function::of(a); }, x);
    } else {
      return x;
    }
  }
};
}  // namespace detail

// Nullary: a constant of the destination's type. The argument is ignored.
#define KITTENS_NULLARY(name)                  \
  struct name {                                \
    template <typename T>                      \
    static KITTENS_MEMBER T op(const T&) {     \
      return base_types::constants<T>::name(); \
    }                                          \
  };
KITTENS_NULLARY_NAMES(KITTENS_NULLARY)
#undef KITTENS_NULLARY

// Of real numbers: not for integers.
#define KITTENS_REAL(name)               \
  struct name : detail::real_map<name> { \
    template <typename C>                \
    static KITTENS_MEMBER C of(C x) {    \
      return detail::name(x);            \
    }                                    \
  };
KITTENS_REAL(exp)
KITTENS_REAL(exp2)
KITTENS_REAL(log)
KITTENS_REAL(log2)
KITTENS_REAL(sqrt)
KITTENS_REAL(rsqrt)
KITTENS_REAL(reciprocal)
KITTENS_REAL(tanh)
KITTENS_REAL(sigmoid)
KITTENS_REAL(sin)
KITTENS_REAL(cos)
#undef KITTENS_REAL

#define KITTENS_UNARY(name, expression)                          \
  struct name {                                                  \
    template <typename T>                                        \
    static KITTENS_MEMBER T op(const T& x) {                     \
      return detail::each([](auto a) { return expression; }, x); \
    }                                                            \
  };

#define KITTENS_BINARY(name, expression)                                    \
  struct name {                                                             \
    template <typename T>                                                   \
    static KITTENS_MEMBER T op(const T& x, const T& y) {                    \
      return detail::each([](auto a, auto b) { return expression; }, x, y); \
    }                                                                       \
  };
KITTENS_UNARY(abs, detail::abs(a))
KITTENS_UNARY(relu, detail::larger(a, decltype(a){0}))
KITTENS_BINARY(sum, a + b)
KITTENS_BINARY(sub, a - b)
KITTENS_BINARY(mul, a* b)
KITTENS_BINARY(div, a / b)
KITTENS_BINARY(max, detail::larger(a, b))
KITTENS_BINARY(min, detail::smaller(a, b))
// Comparisons: 1 where they hold, else 0; with a NaN only ne holds.
KITTENS_BINARY(lt, static_cast<decltype(a)>(a < b))
KITTENS_BINARY(le, static_cast<decltype(a)>(a <= b))
KITTENS_BINARY(gt, static_cast<decltype(a)>(a > b))
KITTENS_BINARY(ge, static_cast<decltype(a)>(a >= b))
KITTENS_BINARY(eq, static_cast<decltype(a)>(a == b))
KITTENS_BINARY(ne, static_cast<decltype(a)>(a != b))
#undef KITTENS_UNARY
#undef KITTENS_BINARY

struct copy {
  template <typename T>
  static KITTENS_MEMBER T op(const T& x) {
    return x;
  }
};
struct copy2 {
  template <typename T>
  static KITTENS_MEMBER T op(const T&, const T& y) {
    return y;
  }
};

/// a * b + c with the product rounded, as upstream: two steps.
struct fma_AxBtC {
  template <typename T>
  static KITTENS_MEMBER T op(const T& a, const T& b, const T& c) {
    return sum::op(mul::op(a, b), c);
  }
};
/// a * c + b.
struct fma_AxCtB {
  template <typename T>
  static KITTENS_MEMBER T op(const T& a, const T& b, const T& c) {
    return sum::op(mul::op(a, c), b);
  }
};

}  // namespace base_ops

namespace detail {
/// op::op takes as many values of type T as there are Ts, and returns one.
template <typename op, typename T, typename... Ts>
concept takes = requires(const T& first, const Ts&... rest) {
  requires std::is_convertible_v<decltype(op::op(first, rest...)), T>;
};
template <typename T>
using one_of = typename base_types::packing<T>::unpacked_type;
template <typename T>
using computed_of = base_ops::detail::computed<one_of<T>>;
/// A user-defined operation for a map of values of type T: on packed values, on elements, or on the
/// type that elements are computed in.
template <typename op, typename T, typename... Ts>
inline constexpr bool is_operation = takes<op, T, Ts...> || takes<op, one_of<T>, one_of<Ts>...> ||
                                     takes<op, computed_of<T>, computed_of<Ts>...>;

/// op::op of packed values or elements, as it takes them.
template <typename op, typename T, typename... Ts>
KITTENS_DEVICE T operate(const T& first, const Ts&... rest) {
  using One = one_of<T>;
  static_assert(is_operation<op, T, Ts...>,
                "kittens: the operation given to this map needs a static device function op() that "
                "takes as many values as the map has operands, and returns one: elements, float "
                "for a type of 8 or 16 bits, or packed values of the tile");
  if constexpr (takes<op, T, Ts...>) {
    return op::op(first, rest...);
  } else if constexpr (takes<op, One, one_of<Ts>...>) {
    constexpr int count = base_types::packing<T>::num();
    elements<One, count> result;
    const auto compute = [&](const auto& a, const auto&... b) {
#pragma unroll
      for (int i = 0; i < count; ++i) result.e[i] = op::op(a.e[i], b.e[i]...);
    };
    compute(bits_as<elements<One, count>>(first), bits_as<elements<One, count>>(rest)...);
    return bits_as<T>(result);
  } else if constexpr (is_operation<op, T, Ts...>) {
    return base_ops::detail::each([](auto a, auto... b) { return op::op(a, b...); }, first,
                                  rest...);
  } else {
    return first;
  }
}
}  // namespace detail
}  // namespace kittens
