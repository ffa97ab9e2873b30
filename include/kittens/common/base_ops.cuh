// Element-wise operations as types, for the generic maps.
//
// Each works on a scalar or a packed value. 16- and 8-bit floats are computed in float and rounded
// once; for sum, difference, product and quotient of 16-bit values that equals the correctly
// rounded result, since float carries more than twice as many bits. double is computed in double,
// integers in int.
#pragma once

#include "base_types.cuh"
#include "op_names.cuh"

namespace kittens {
namespace base_ops {

namespace detail {
/// The type in which elements of T are computed.
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
KITTENS_DEVICE float abs(float x) { return __builtin_fabsf(x); }
KITTENS_DEVICE double abs(double x) { return __builtin_fabs(x); }
KITTENS_DEVICE int abs(int x) { return x < 0 ? -x : x; }
KITTENS_DEVICE float larger(float x, float y) { return __builtin_fmaxf(x, y); }
KITTENS_DEVICE double larger(double x, double y) { return __builtin_fmax(x, y); }
KITTENS_DEVICE int larger(int x, int y) { return x > y ? x : y; }
KITTENS_DEVICE float smaller(float x, float y) { return __builtin_fminf(x, y); }
KITTENS_DEVICE double smaller(double x, double y) { return __builtin_fmin(x, y); }
KITTENS_DEVICE int smaller(int x, int y) { return x < y ? x : y; }
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
KITTENS_UNARY(exp, detail::exp(a))
KITTENS_UNARY(exp2, detail::exp2(a))
KITTENS_UNARY(log, detail::log(a))
KITTENS_UNARY(log2, detail::log2(a))
KITTENS_UNARY(abs, detail::abs(a))
KITTENS_UNARY(relu, detail::larger(a, decltype(a){0}))
KITTENS_BINARY(sum, a + b)
KITTENS_BINARY(sub, a - b)
KITTENS_BINARY(mul, a* b)
KITTENS_BINARY(div, a / b)
KITTENS_BINARY(max, detail::larger(a, b))
KITTENS_BINARY(min, detail::smaller(a, b))
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
}  // namespace kittens
