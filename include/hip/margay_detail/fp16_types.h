// The structures of hip/hip_fp16.h. Which of their members exist decides which mixed expressions
// compile and which are ambiguous, so the set is ROCm's.
// Part of hip/hip_fp16.h; do not include it alone.
#pragma once

typedef _Float16 _Float16_2 __attribute__((ext_vector_type(2)));

/// A number or its bits.
struct __half_raw {
  union {
    _Float16 data;
    unsigned short x;
  };
};
struct __half2_raw {
  union {
    struct {
      __half_raw x;
      __half_raw y;
    };
    _Float16_2 data;
  };
};

namespace std {
template <>
struct is_floating_point<_Float16> : true_type {};
}  // namespace std

template <bool cond, typename T = void>
using Enable_if_t = typename std::enable_if<cond, T>::type;

namespace margay_fp16 {

template <typename T>
using Number = Enable_if_t<std::is_floating_point<T>::value || std::is_integral<T>::value>;

}  // namespace margay_fp16

struct __half {
 protected:
  union {
    _Float16 data;
    unsigned short __x;
  };

 public:
  __half() = default;
  __HOST_DEVICE__ constexpr __half(const __half_raw& raw) : __x(raw.x) {}
#if !defined(__HIP_NO_HALF_CONVERSIONS__)
  __HOST_DEVICE__ __half(_Float16 value) : data(value) {}
  template <typename T, margay_fp16::Number<T>* = nullptr>
  __HOST_DEVICE__ __half(T value) : data(static_cast<_Float16>(value)) {}
  template <typename T, margay_fp16::Number<T>* = nullptr>
  __HOST_DEVICE__ __half& operator=(T value) {
    data = static_cast<_Float16>(value);
    return *this;
  }
  template <typename T, margay_fp16::Number<T>* = nullptr>
  __HOST_DEVICE__ operator T() const {
    return static_cast<T>(data);
  }
#endif

  __HOST_DEVICE__ __half& operator=(const __half_raw& raw) {
    data = raw.data;
    return *this;
  }
  __HOST_DEVICE__ volatile __half& operator=(const __half_raw& raw) volatile {
    data = raw.data;
    return *this;
  }
  __HOST_DEVICE__ volatile __half& operator=(const volatile __half_raw& raw) volatile {
    data = raw.data;
    return *this;
  }
  __HOST_DEVICE__ operator __half_raw() const { return __half_raw{{data}}; }
  __HOST_DEVICE__ operator __half_raw() const volatile { return __half_raw{{data}}; }

#if !defined(__HIP_NO_HALF_OPERATORS__)
#define MARGAY_FP16_ARITHMETIC(op)                                                     \
  __HOST_DEVICE__ __half& operator op##=(const __half & other) {                       \
    data = static_cast<_Float16>(data op other.data);                                  \
    return *this;                                                                      \
  }                                                                                    \
  friend __HOST_DEVICE__ inline __half operator op(const __half& a, const __half& b) { \
    return __half_raw{{static_cast<_Float16>(a.data op b.data)}};                      \
  }
  MARGAY_FP16_ARITHMETIC(+)
  MARGAY_FP16_ARITHMETIC(-)
  MARGAY_FP16_ARITHMETIC(*)
  MARGAY_FP16_ARITHMETIC(/)
#undef MARGAY_FP16_ARITHMETIC
#define MARGAY_FP16_COMPARISON(op)                                                   \
  friend __HOST_DEVICE__ inline bool operator op(const __half& a, const __half& b) { \
    return a.data op b.data;                                                         \
  }
  MARGAY_FP16_COMPARISON(==)
  MARGAY_FP16_COMPARISON(!=)
  MARGAY_FP16_COMPARISON(<)
  MARGAY_FP16_COMPARISON(>)
#undef MARGAY_FP16_COMPARISON
  // By the opposite, as ROCm's: true of NaN.
  friend __HOST_DEVICE__ inline bool operator<=(const __half& a, const __half& b) {
    return !(b.data < a.data);
  }
  friend __HOST_DEVICE__ inline bool operator>=(const __half& a, const __half& b) {
    return !(a.data < b.data);
  }
  __HOST_DEVICE__ __half& operator++() {
    data = static_cast<_Float16>(data + static_cast<_Float16>(1));
    return *this;
  }
  __HOST_DEVICE__ __half& operator--() {
    data = static_cast<_Float16>(data - static_cast<_Float16>(1));
    return *this;
  }
  __HOST_DEVICE__ __half operator++(int) {
    const __half before = *this;
    ++*this;
    return before;
  }
  __HOST_DEVICE__ __half operator--(int) {
    const __half before = *this;
    --*this;
    return before;
  }
  __HOST_DEVICE__ __half operator+() const { return *this; }
  __HOST_DEVICE__ __half operator-() const { return __half_raw{{-data}}; }
#endif
};

struct __half2 {
  union {
    struct {
      __half x;
      __half y;
    };
    _Float16_2 data;
  };

  __half2() = default;
  __HOST_DEVICE__ __half2(const __half2_raw& raw) : data(raw.data) {}
  __HOST_DEVICE__ __half2(_Float16_2 values) : data(values) {}
  __HOST_DEVICE__ constexpr __half2(const __half& low, const __half& high) : x(low), y(high) {}
  __HOST_DEVICE__ __half2& operator=(const __half2_raw& raw) {
    data = raw.data;
    return *this;
  }
  __HOST_DEVICE__ operator _Float16_2() const { return data; }
  __HOST_DEVICE__ operator __half2_raw() const {
    __half2_raw raw;
    raw.data = data;
    return raw;
  }

#if !defined(__HIP_NO_HALF_OPERATORS__)
#define MARGAY_FP16_ARITHMETIC(op)                                                        \
  __HOST_DEVICE__ __half2& operator op##=(const __half2 & other) {                        \
    data = data op other.data;                                                            \
    return *this;                                                                         \
  }                                                                                       \
  friend __HOST_DEVICE__ inline __half2 operator op(const __half2& a, const __half2& b) { \
    return __half2(a.data op b.data);                                                     \
  }
  MARGAY_FP16_ARITHMETIC(+)
  MARGAY_FP16_ARITHMETIC(-)
  MARGAY_FP16_ARITHMETIC(*)
  MARGAY_FP16_ARITHMETIC(/)
#undef MARGAY_FP16_ARITHMETIC
  __HOST_DEVICE__ __half2& operator++() { return *this += _Float16_2{1, 1}; }
  __HOST_DEVICE__ __half2& operator--() { return *this -= _Float16_2{1, 1}; }
  __HOST_DEVICE__ __half2 operator++(int) {
    const __half2 before = *this;
    ++*this;
    return before;
  }
  __HOST_DEVICE__ __half2 operator--(int) {
    const __half2 before = *this;
    --*this;
    return before;
  }
  __HOST_DEVICE__ __half2 operator+() const { return *this; }
  __HOST_DEVICE__ __half2 operator-() const { return __half2(-data); }

  // Of both halves. The others are the opposite of one of these, as in ROCm: a <= b is true where
  // only one half is.
  friend __HOST_DEVICE__ inline bool operator==(const __half2& a, const __half2& b) {
    return a.data.x == b.data.x && a.data.y == b.data.y;
  }
  friend __HOST_DEVICE__ inline bool operator<(const __half2& a, const __half2& b) {
    return a.data.x < b.data.x && a.data.y < b.data.y;
  }
  friend __HOST_DEVICE__ inline bool operator!=(const __half2& a, const __half2& b) {
    return !(a == b);
  }
  friend __HOST_DEVICE__ inline bool operator>(const __half2& a, const __half2& b) { return b < a; }
  friend __HOST_DEVICE__ inline bool operator<=(const __half2& a, const __half2& b) {
    return !(b < a);
  }
  friend __HOST_DEVICE__ inline bool operator>=(const __half2& a, const __half2& b) {
    return !(a < b);
  }
#endif
};

static_assert(sizeof(__half) == 2 && alignof(__half) == 2, "a half is two bytes");
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4, "two halves are one dword");

#if !defined(HIP_NO_HALF)
using half = __half;
using half2 = __half2;
#endif
