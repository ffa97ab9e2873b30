// char1 ... double4 for C++, with the members, operators and conversions of HIP 6 and 7.
//
// A vector is both its members x, y, z, w and, as HIP 6 has it, one native vector `data`; `v[i]` is
// HIP 7's. Where the two differ, HIP 7 is followed: one number in parentheses or braces is x and
// the others are zero (`float2{1}` is 1 and 0; HIP 6 puts it in all). In an expression, a number
// next to a vector means all its elements in both. Sources: HIP C++ language extensions, "Short
// vector types", ROCm 6.3 and 7.2; "HIP complex math API", ROCm 7.2, for the constructors of HIP 7;
// ROCm/clr, amd_hip_vector_types.h, for layout, alignment and which types an operator is defined
// for.
//
// C++11: many makefiles say -std=c++11 or c++14. Part of hip/hip_vector_types.h; do not include it
// alone.
#pragma once

#include <hip/amd_detail/host_defines.h>

#include <array>
#include <cstddef>
#include <iosfwd>
#include <type_traits>

#define __HOST_DEVICE__ __host__ __device__

namespace margay_vector {

/// Elements side by side, for what a native vector cannot do: three elements without a gap, and
/// every vector where the compiler has no ext_vector_type.
template <typename T, unsigned int n>
struct Elements {
  T d[n];

  __HOST_DEVICE__ T& operator[](unsigned int i) noexcept { return d[i]; }
  __HOST_DEVICE__ constexpr T operator[](unsigned int i) const noexcept { return d[i]; }

#define MARGAY_VECTOR_ASSIGN(op)                                                    \
  __HOST_DEVICE__ Elements& operator op##=(const Elements & other) noexcept {       \
    for (unsigned int i = 0; i < n; ++i) d[i] = static_cast<T>(d[i] op other.d[i]); \
    return *this;                                                                   \
  }
  MARGAY_VECTOR_ASSIGN(+)
  MARGAY_VECTOR_ASSIGN(-)
  MARGAY_VECTOR_ASSIGN(*)
  MARGAY_VECTOR_ASSIGN(/)
  MARGAY_VECTOR_ASSIGN(%)
  MARGAY_VECTOR_ASSIGN(&)
  MARGAY_VECTOR_ASSIGN(|)
  MARGAY_VECTOR_ASSIGN(^)
  MARGAY_VECTOR_ASSIGN(<<)
  MARGAY_VECTOR_ASSIGN(>>)
#undef MARGAY_VECTOR_ASSIGN
  __HOST_DEVICE__ Elements operator-() const noexcept {
    Elements result = *this;
    for (unsigned int i = 0; i < n; ++i) result.d[i] = static_cast<T>(-d[i]);
    return result;
  }
  __HOST_DEVICE__ Elements operator~() const noexcept {
    Elements result = *this;
    for (unsigned int i = 0; i < n; ++i) result.d[i] = static_cast<T>(~d[i]);
    return result;
  }
};

}  // namespace margay_vector

#if defined(__has_attribute)
#if __has_attribute(ext_vector_type)
#define __HIP_USE_NATIVE_VECTOR__ 1
#define __NATIVE_VECTOR__(n, T) T __attribute__((ext_vector_type(n)))
#endif
#endif
#if !defined(__NATIVE_VECTOR__)
#define __NATIVE_VECTOR__(n, T) margay_vector::Elements<T, n>
#endif

/// Members and constructors. The anonymous structure in the union gives both names to the same
/// storage. The native vector is initialised: from members clang makes scalar arithmetic where the
/// device has packed instructions. In a constant expression the members become active afterwards,
/// so that they can be read there; C++ allows the change since C++20.
template <typename T, unsigned int n>
struct HIP_vector_base;

#if __cplusplus >= 202002L
#define MARGAY_VECTOR_CONSTANT(...) \
  if (__builtin_is_constant_evaluated()) __VA_ARGS__
#else
#define MARGAY_VECTOR_CONSTANT(...) static_assert(true, "C++11's constexpr has an empty body")
#endif

template <typename T>
struct HIP_vector_base<T, 1> {
  using Native_vec_ = __NATIVE_VECTOR__(1, T);
  using value_type = T;
  union {
    Native_vec_ data;
    struct {
      T x;
    };
  };

  HIP_vector_base() = default;
  __HOST_DEVICE__ explicit constexpr HIP_vector_base(T x_) noexcept : data{x_} {
    MARGAY_VECTOR_CONSTANT(x = x_);
  }
};

template <typename T>
struct alignas(2 * sizeof(T)) HIP_vector_base<T, 2> {
  using Native_vec_ = __NATIVE_VECTOR__(2, T);
  using value_type = T;
  union {
    Native_vec_ data;
    struct {
      T x;
      T y;
    };
  };

  HIP_vector_base() = default;
  __HOST_DEVICE__ explicit constexpr HIP_vector_base(T x_, T y_ = T()) noexcept : data{x_, y_} {
    MARGAY_VECTOR_CONSTANT(x = x_, y = y_);
  }
};

template <typename T>
struct HIP_vector_base<T, 3> {
  using Native_vec_ = margay_vector::Elements<T, 3>;
  using value_type = T;
  union {
    Native_vec_ data;
    struct {
      T x;
      T y;
      T z;
    };
  };

  HIP_vector_base() = default;
  __HOST_DEVICE__ explicit constexpr HIP_vector_base(T x_, T y_ = T(), T z_ = T()) noexcept
      : x(x_), y(y_), z(z_) {}
};

template <typename T>
struct alignas(4 * sizeof(T)) HIP_vector_base<T, 4> {
  using Native_vec_ = __NATIVE_VECTOR__(4, T);
  using value_type = T;
  union {
    Native_vec_ data;
    struct {
      T x;
      T y;
      T z;
      T w;
    };
  };

  HIP_vector_base() = default;
  __HOST_DEVICE__ explicit constexpr HIP_vector_base(T x_, T y_ = T(), T z_ = T(),
                                                     T w_ = T()) noexcept
      : data{x_, y_, z_, w_} {
    MARGAY_VECTOR_CONSTANT(x = x_, y = y_, z = z_, w = w_);
  }
};

#undef MARGAY_VECTOR_CONSTANT

template <typename T, unsigned int rank>
struct HIP_vector_type : HIP_vector_base<T, rank> {
  using HIP_vector_base<T, rank>::data;
  using typename HIP_vector_base<T, rank>::Native_vec_;

  HIP_vector_type() = default;
  template <typename U, typename std::enable_if<std::is_convertible<U, T>::value>::type* = nullptr>
  __HOST_DEVICE__ explicit constexpr HIP_vector_type(U x_) noexcept
      : HIP_vector_base<T, rank>(static_cast<T>(x_)) {}
  template <typename... Us,
            typename std::enable_if<(rank > 1) && sizeof...(Us) == rank>::type* = nullptr>
  __HOST_DEVICE__ constexpr HIP_vector_type(Us... elements) noexcept
      : HIP_vector_base<T, rank>(static_cast<T>(elements)...) {}

  __HOST_DEVICE__ T& operator[](std::size_t i) noexcept { return reinterpret_cast<T*>(this)[i]; }
  __HOST_DEVICE__ const T& operator[](std::size_t i) const noexcept {
    return reinterpret_cast<const T*>(this)[i];
  }

  /// The number in all elements: its meaning next to a vector.
  __HOST_DEVICE__ static HIP_vector_type margay_all(T value) noexcept {
    HIP_vector_type result;
    for (unsigned int i = 0; i < rank; ++i) result.data[i] = value;
    return result;
  }

  // For every type: with a vector or a number on the right.
#define MARGAY_VECTOR_ASSIGN(op)                                                            \
  __HOST_DEVICE__ HIP_vector_type& operator op##=(const HIP_vector_type & other) noexcept { \
    data op## = other.data;                                                                 \
    return *this;                                                                           \
  }                                                                                         \
  template <typename U,                                                                     \
            typename std::enable_if<std::is_convertible<U, T>::value>::type* = nullptr>     \
  __HOST_DEVICE__ HIP_vector_type& operator op##=(U number) noexcept {                      \
    return *this op## = margay_all(static_cast<T>(number));                                 \
  }
  MARGAY_VECTOR_ASSIGN(+)
  MARGAY_VECTOR_ASSIGN(-)
  MARGAY_VECTOR_ASSIGN(*)
  MARGAY_VECTOR_ASSIGN(/)
#undef MARGAY_VECTOR_ASSIGN

  // For integers: with a vector on the right.
#define MARGAY_VECTOR_ASSIGN(op)                                                                  \
  template <typename U = T, typename std::enable_if<std::is_integral<U>::value>::type* = nullptr> \
  __HOST_DEVICE__ HIP_vector_type& operator op##=(const HIP_vector_type & other) noexcept {       \
    data op## = other.data;                                                                       \
    return *this;                                                                                 \
  }
  MARGAY_VECTOR_ASSIGN(%)
  MARGAY_VECTOR_ASSIGN(&)
  MARGAY_VECTOR_ASSIGN(|)
  MARGAY_VECTOR_ASSIGN(^)
  MARGAY_VECTOR_ASSIGN(<<)
  MARGAY_VECTOR_ASSIGN(>>)
#undef MARGAY_VECTOR_ASSIGN

  __HOST_DEVICE__ HIP_vector_type& operator++() noexcept { return *this += T(1); }
  __HOST_DEVICE__ HIP_vector_type& operator--() noexcept { return *this -= T(1); }
  __HOST_DEVICE__ HIP_vector_type operator++(int) noexcept {
    const HIP_vector_type before = *this;
    ++*this;
    return before;
  }
  __HOST_DEVICE__ HIP_vector_type operator--(int) noexcept {
    const HIP_vector_type before = *this;
    --*this;
    return before;
  }
  template <typename U = T, typename std::enable_if<std::is_signed<U>::value>::type* = nullptr>
  __HOST_DEVICE__ HIP_vector_type operator-() const noexcept {
    HIP_vector_type result;
    result.data = -data;
    return result;
  }
  template <typename U = T, typename std::enable_if<std::is_integral<U>::value>::type* = nullptr>
  __HOST_DEVICE__ HIP_vector_type operator~() const noexcept {
    HIP_vector_type result;
    result.data = ~data;
    return result;
  }
};

namespace margay_vector {

/// A vector, for which an operator is defined when `condition` holds of its elements.
template <typename T, unsigned int n, bool condition>
using If = typename std::enable_if<condition, HIP_vector_type<T, n>>::type;

}  // namespace margay_vector

// Two vectors, or a vector and a number on either side. Templates, so that a program's own operator
// for one of the types is preferred.
#define MARGAY_VECTOR_BINARY(op, condition)                                              \
  template <typename T, unsigned int n>                                                  \
  __HOST_DEVICE__ inline margay_vector::If<T, n, (condition)> operator op(               \
      const HIP_vector_type<T, n>& x, const HIP_vector_type<T, n>& y) noexcept {         \
    HIP_vector_type<T, n> result = x;                                                    \
    return result op## = y;                                                              \
  }                                                                                      \
  template <typename T, unsigned int n, typename U>                                      \
  __HOST_DEVICE__ inline margay_vector::If<T, n, (condition)> operator op(               \
      const HIP_vector_type<T, n>& x, U y) noexcept {                                    \
    HIP_vector_type<T, n> result = x;                                                    \
    return result op## = HIP_vector_type<T, n>::margay_all(static_cast<T>(y));           \
  }                                                                                      \
  template <typename T, unsigned int n, typename U>                                      \
  __HOST_DEVICE__ inline margay_vector::If<T, n, (condition)> operator op(               \
      U x, const HIP_vector_type<T, n>& y) noexcept {                                    \
    HIP_vector_type<T, n> result = HIP_vector_type<T, n>::margay_all(static_cast<T>(x)); \
    return result op## = y;                                                              \
  }
MARGAY_VECTOR_BINARY(+, true)
MARGAY_VECTOR_BINARY(-, true)
MARGAY_VECTOR_BINARY(*, true)
MARGAY_VECTOR_BINARY(/, true)
MARGAY_VECTOR_BINARY(%, std::is_integral<T>::value)
MARGAY_VECTOR_BINARY(&, std::is_integral<T>::value)
MARGAY_VECTOR_BINARY(|, std::is_integral<T>::value)
MARGAY_VECTOR_BINARY(^, std::is_integral<T>::value)
MARGAY_VECTOR_BINARY(<<, std::is_integral<T>::value)
MARGAY_VECTOR_BINARY(>>, std::is_integral<T>::value)
#undef MARGAY_VECTOR_BINARY

/// All elements are equal.
template <typename T, unsigned int n>
__HOST_DEVICE__ inline bool operator==(const HIP_vector_type<T, n>& x,
                                       const HIP_vector_type<T, n>& y) noexcept {
  bool equal = true;
  for (unsigned int i = 0; i < n; ++i) equal = equal && x.data[i] == y.data[i];
  return equal;
}
template <typename T, unsigned int n, typename U>
__HOST_DEVICE__ inline bool operator==(const HIP_vector_type<T, n>& x, U y) noexcept {
  return x == HIP_vector_type<T, n>::margay_all(static_cast<T>(y));
}
template <typename T, unsigned int n, typename U>
__HOST_DEVICE__ inline bool operator==(U x, const HIP_vector_type<T, n>& y) noexcept {
  return HIP_vector_type<T, n>::margay_all(static_cast<T>(x)) == y;
}
template <typename T, unsigned int n>
__HOST_DEVICE__ inline bool operator!=(const HIP_vector_type<T, n>& x,
                                       const HIP_vector_type<T, n>& y) noexcept {
  return !(x == y);
}
template <typename T, unsigned int n, typename U>
__HOST_DEVICE__ inline bool operator!=(const HIP_vector_type<T, n>& x, U y) noexcept {
  return !(x == y);
}
template <typename T, unsigned int n, typename U>
__HOST_DEVICE__ inline bool operator!=(U x, const HIP_vector_type<T, n>& y) noexcept {
  return !(x == y);
}

#define MARGAY_VECTOR_TYPES(name, T)                                                        \
  using name##1 = HIP_vector_type<T, 1>;                                                    \
  using name##2 = HIP_vector_type<T, 2>;                                                    \
  using name##3 = HIP_vector_type<T, 3>;                                                    \
  using name##4 = HIP_vector_type<T, 4>;                                                    \
  __HOST_DEVICE__ static inline name##1 make_##name##1(T x) { return name##1(x); }          \
  __HOST_DEVICE__ static inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  __HOST_DEVICE__ static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  __HOST_DEVICE__ static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
MARGAY_VECTOR_TYPES(char, char)
MARGAY_VECTOR_TYPES(uchar, unsigned char)
MARGAY_VECTOR_TYPES(short, short)
MARGAY_VECTOR_TYPES(ushort, unsigned short)
MARGAY_VECTOR_TYPES(int, int)
MARGAY_VECTOR_TYPES(uint, unsigned int)
MARGAY_VECTOR_TYPES(long, long)
MARGAY_VECTOR_TYPES(ulong, unsigned long)
MARGAY_VECTOR_TYPES(longlong, long long)
MARGAY_VECTOR_TYPES(ulonglong, unsigned long long)
MARGAY_VECTOR_TYPES(float, float)
MARGAY_VECTOR_TYPES(double, double)
#undef MARGAY_VECTOR_TYPES

// What HIP 5.2's texture headers need of its vector types: the bits that a fetch returned, as a
// number or a vector. Elements narrower than those of the fetch are truncated.
namespace margay_vector {

template <typename T, typename Wide, typename U>
__HOST_DEVICE__ inline T narrow(const U& fetched) {
  HIP_vector_type<Wide, 4> wide;
  __builtin_memcpy(&wide, &fetched,
                   sizeof(fetched) < sizeof(wide) ? sizeof(fetched) : sizeof(wide));
  T result;
  for (unsigned int i = 0; i < sizeof(T) / sizeof(typename T::value_type); ++i)
    result.data[i] = static_cast<typename T::value_type>(wide.data[i]);
  return result;
}

}  // namespace margay_vector

template <typename T, typename U>
__HOST_DEVICE__ inline typename std::enable_if<std::is_arithmetic<T>::value, const T>::type mapFrom(
    const U& fetched) {
  T result;
  __builtin_memcpy(&result, &fetched, sizeof(result));
  return result;
}
template <typename T, typename U>
__HOST_DEVICE__ inline typename std::enable_if<sizeof(typename T::value_type) == 4 ||
                                                   sizeof(T) == sizeof(typename T::value_type),
                                               const T>::type
mapFrom(const U& fetched) {
  T result;
  __builtin_memcpy(&result, &fetched, sizeof(result));
  return result;
}
template <typename T, typename U>
__HOST_DEVICE__ inline typename std::enable_if<(sizeof(typename T::value_type) < 4) &&
                                                   sizeof(T) != sizeof(typename T::value_type),
                                               const T>::type
mapFrom(const U& fetched) {
  using Wide =
      typename std::conditional<std::is_signed<typename T::value_type>::value, int, unsigned>::type;
  return margay_vector::narrow<T, Wide>(fetched);
}
