// Element-wise operations as types, for the generic maps.
//
// Each works on a scalar or a pair of float, bf16 or half. Sixteen-bit values are computed in float
// and rounded once; for sum, difference, product and quotient that equals the correctly rounded
// 16-bit result, since float carries more than twice as many bits.
#pragma once

#include "base_types.cuh"

namespace kittens {
namespace base_ops {

namespace detail {
template <typename T, typename F, typename... Args>
KITTENS_DEVICE T each(F&& f, const T& first, const Args&... rest) {
  using base_types::convertor;
  if constexpr (base_types::packing<T>::num() == 2) {
    const auto a = convertor<float2, T>::convert(first);
    float2 result;
    result.x = f(a.x, convertor<float2, T>::convert(rest).x...);
    result.y = f(a.y, convertor<float2, T>::convert(rest).y...);
    return convertor<T, float2>::convert(result);
  } else {
    return convertor<T, float>::convert(
        f(convertor<float, T>::convert(first), convertor<float, T>::convert(rest)...));
  }
}
}  // namespace detail

// Nullary: a constant of the destination's type. The argument is ignored.
struct zero {
  template <typename T>
  static KITTENS_MEMBER T op(const T&) {
    return base_types::constants<T>::zero();
  }
};
struct one {
  template <typename T>
  static KITTENS_MEMBER T op(const T&) {
    return base_types::constants<T>::one();
  }
};
struct pos_infty {
  template <typename T>
  static KITTENS_MEMBER T op(const T&) {
    return base_types::constants<T>::pos_infty();
  }
};
struct neg_infty {
  template <typename T>
  static KITTENS_MEMBER T op(const T&) {
    return base_types::constants<T>::neg_infty();
  }
};

#define KITTENS_UNARY(name, expression)                           \
  struct name {                                                   \
    template <typename T>                                         \
    static KITTENS_MEMBER T op(const T& x) {                      \
      return detail::each([](float a) { return expression; }, x); \
    }                                                             \
  };
#define KITTENS_BINARY(name, expression)                                      \
  struct name {                                                               \
    template <typename T>                                                     \
    static KITTENS_MEMBER T op(const T& x, const T& y) {                      \
      return detail::each([](float a, float b) { return expression; }, x, y); \
    }                                                                         \
  };
KITTENS_UNARY(exp, __expf(a))
KITTENS_UNARY(exp2, __builtin_amdgcn_exp2f(a))
KITTENS_UNARY(log, __logf(a))
KITTENS_UNARY(log2, __builtin_amdgcn_logf(a))
KITTENS_UNARY(abs, __builtin_fabsf(a))
KITTENS_UNARY(relu, __builtin_fmaxf(a, 0.0f))
KITTENS_BINARY(sum, a + b)
KITTENS_BINARY(sub, a - b)
KITTENS_BINARY(mul, a* b)
KITTENS_BINARY(div, a / b)
KITTENS_BINARY(max, __builtin_fmaxf(a, b))
KITTENS_BINARY(min, __builtin_fminf(a, b))
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
