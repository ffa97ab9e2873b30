// Scalar types, their packed forms, their conversions and their constants.
//
//   float, double, int    as in C++
//   bf16, half            __hip_bfloat16, __half
//   fp8e4m3, fp8e5m2      8-bit floats of CDNA3, see float8.cuh
//   int8_t                operands of the integer MFMA, whose sums are int
//   uint8_t               masks; no MFMA takes it
//
// Narrow types are handled through their bits so that this works with every version of HIP's
// headers, whose bfloat16 has been an aggregate, a class, and a class with protected members.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#include "float8.cuh"

namespace kittens {

using bf16 = __hip_bfloat16;
using bf16_2 = __hip_bfloat162;
using half = __half;
using half_2 = __half2;

/// Four bytes of a register: what a tile of 1-byte elements is made of.
template <typename T>
struct KITTENS_ALIGN_AS(4) packed_4 {
  T x, y, z, w;
};
using fp8e4m3_4 = packed_4<fp8e4m3>;
using fp8e5m2_4 = packed_4<fp8e5m2>;
using int8_4 = packed_4<int8_t>;
using uint8_4 = packed_4<uint8_t>;

namespace detail {
/// N adjacent elements, as in a register pair, in memory, or in a packed type.
template <typename T, int N>
struct elements {
  T e[N];
};

template <typename T, typename... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);
template <typename T>
inline constexpr bool is_float8 = is_one_of<T, fp8e4m3, fp8e5m2>;
template <typename T>
inline constexpr bool is_integer = is_one_of<T, int, int8_t, uint8_t>;
}  // namespace detail

namespace ducks {
namespace base_types {
/// A scalar that a tile or vector can hold.
template <typename T>
concept T1 = kittens::detail::is_one_of<T, float, bf16, half, fp8e4m3, fp8e5m2, int8_t, uint8_t,
                                        int, double>;
/// Its packed form.
template <typename T>
concept T2 = kittens::detail::is_one_of<T, float2, bf16_2, half_2, fp8e4m3_4, fp8e5m2_4, int8_4,
                                        uint8_4, int2, double2>;
}  // namespace base_types
}  // namespace ducks

namespace base_types {

/// How many scalars a type holds, and the scalar and the packed type that belong to it.
template <typename T>
struct packing {
  using unpacked_type = T;
  using packed_type = T;
  static KITTENS_HD constexpr int num() { return 1; }
};

namespace detail {
template <typename One, typename Packed, int count>
struct packing_of {
  using unpacked_type = One;
  using packed_type = Packed;
  /// The packed value that holds the same scalar everywhere.
  static KITTENS_HD Packed pack(const One& x) {
    kittens::detail::elements<One, count> all;
    for (int i = 0; i < count; ++i) all.e[i] = x;
    return kittens::detail::bits_as<Packed>(all);
  }
};
}  // namespace detail

#define KITTENS_PACKING(One, Packed, count)                         \
  template <>                                                       \
  struct packing<One> : detail::packing_of<One, Packed, count> {    \
    static KITTENS_HD constexpr int num() { return 1; }             \
  };                                                                \
  template <>                                                       \
  struct packing<Packed> : detail::packing_of<One, Packed, count> { \
    static KITTENS_HD constexpr int num() { return count; }         \
  };
KITTENS_PACKING(bf16, bf16_2, 2)
KITTENS_PACKING(half, half_2, 2)
KITTENS_PACKING(float, float2, 2)
KITTENS_PACKING(int, int2, 2)
KITTENS_PACKING(double, double2, 2)
KITTENS_PACKING(fp8e4m3, fp8e4m3_4, 4)
KITTENS_PACKING(fp8e5m2, fp8e5m2_4, 4)
KITTENS_PACKING(int8_t, int8_4, 4)
KITTENS_PACKING(uint8_t, uint8_4, 4)
#undef KITTENS_PACKING

template <>
struct packing<float4> {
  static KITTENS_HD constexpr int num() { return 4; }
};
template <>
struct packing<int4> {
  static KITTENS_HD constexpr int num() { return 4; }
};

/// Conversion between element types, or between packed values with the same number of elements. To
/// a narrower float it rounds to nearest, ties to even, once. Float to integer truncates, as C++.
template <typename To, typename From>
struct convertor {
  static KITTENS_HD To convert(const From& x) {
    if constexpr (std::is_same_v<To, From>) {
      return x;
    } else if constexpr (packing<To>::num() > 1) {
      static_assert(packing<From>::num() == packing<To>::num(),
                    "kittens: a packed value converts only from one with as many elements");
      return convert_packed(x, std::make_integer_sequence<int, packing<To>::num()>{});
    } else if constexpr (std::is_same_v<To, double> || std::is_same_v<From, double> ||
                         (kittens::detail::is_integer<To> && kittens::detail::is_integer<From>)) {
      return through_double(x);
    } else {
      return from_float(to_float(x));
    }
  }

  /// The halves of a pair, whatever its members are called.
  static KITTENS_HD auto first(const From& x) { return element(x, 0); }
  static KITTENS_HD auto second(const From& x) { return element(x, 1); }

 private:
  template <typename, typename>
  friend struct convertor;

  template <typename Packed>
  static KITTENS_HD auto element(const Packed& x, int index) {
    using One = typename packing<Packed>::unpacked_type;
    return kittens::detail::bits_as<kittens::detail::elements<One, packing<Packed>::num()>>(x)
        .e[index];
  }

  template <int... index>
  static KITTENS_HD To convert_packed(const From& x, std::integer_sequence<int, index...>) {
    using One = typename packing<To>::unpacked_type;
    using Source = typename packing<From>::unpacked_type;
    return kittens::detail::bits_as<To>(kittens::detail::elements<One, sizeof...(index)>{
        {convertor<One, Source>::convert(element(x, index))...}});
  }

  /// double and the integers have no way through float that keeps every bit.
  static KITTENS_HD To through_double(const From& x) {
    if constexpr (std::is_arithmetic_v<To> && std::is_arithmetic_v<From>) {
      return static_cast<To>(x);
    } else if constexpr (std::is_same_v<To, double>) {
      return static_cast<double>(to_float(x));
    } else {
      return from_float(to_odd_float(x));
    }
  }

  /// Rounding a double to float to nearest and then to 16 or 8 bits would round twice. Rounding the
  /// first time to odd keeps what the second needs to know (Boldo and Melquiond, 2005).
  static KITTENS_HD float to_odd_float(double x) {
    const float nearest = static_cast<float>(x);
    const auto back = static_cast<double>(nearest);
    auto bits = kittens::detail::bits_as<uint32_t>(nearest);
    if (back == x || x != x || (bits & 1) != 0) return nearest;
    // The neighbour on the other side of x has an odd last bit. Infinity came from a finite x: its
    // neighbour is the largest float, which is odd.
    const bool too_large = back > x ? back > 0 : back < 0;
    bits += too_large ? -1 : 1;
    return kittens::detail::bits_as<float>(bits);
  }

  template <typename One>
  static KITTENS_HD float to_float(const One& x) {
    if constexpr (std::is_same_v<One, bf16>) {
      return kittens::detail::bits_as<float>(uint32_t{kittens::detail::bits_as<uint16_t>(x)} << 16);
    } else if constexpr (std::is_same_v<One, half>) {
      return static_cast<float>(kittens::detail::bits_as<_Float16>(x));
    } else if constexpr (kittens::detail::is_float8<One>) {
      return x.to_float();
    } else {
      return static_cast<float>(x);
    }
  }

  static KITTENS_HD To from_float(float x) {
    if constexpr (std::is_same_v<To, bf16>) {
      return round_to_bf16(x);
    } else if constexpr (std::is_same_v<To, half>) {
      return kittens::detail::bits_as<half>(static_cast<_Float16>(x));
    } else if constexpr (kittens::detail::is_float8<To>) {
      return To::from_float(x);
    } else {
      return static_cast<To>(x);
    }
  }

  /// gfx942 has no conversion instruction. Adding 0x7fff plus the lowest kept bit carries into the
  /// kept half exactly when rounding up is right; a NaN must not carry into infinity.
  static KITTENS_HD bf16 round_to_bf16(float x) {
    const auto bits = kittens::detail::bits_as<uint32_t>(x);
    const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    const uint32_t quiet_nan = bits | 0x00400000;
    return kittens::detail::bits_as<bf16>(
        static_cast<uint16_t>((x != x ? quiet_nan : rounded) >> 16));
  }
};

/// Zero, one and the infinities of a type; a packed type has the value in every element. Integers
/// and 8-bit floats have no infinity.
template <typename T>
struct constants {
  static KITTENS_HD T zero() { return make(0.0f); }
  static KITTENS_HD T one() { return make(1.0f); }
  static KITTENS_HD T pos_infty() { return infinity(__builtin_inff()); }
  static KITTENS_HD T neg_infty() { return infinity(-__builtin_inff()); }

 private:
  static KITTENS_HD T make(float value) {
    if constexpr (packing<T>::num() > 1) {
      using One = typename packing<T>::unpacked_type;
      return packing<T>::pack(convertor<One, float>::convert(value));
    } else {
      return convertor<T, float>::convert(value);
    }
  }
  static KITTENS_HD T infinity(float value) {
    using One = typename packing<T>::unpacked_type;
    static_assert(!kittens::detail::is_integer<One> && !kittens::detail::is_float8<One>,
                  "kittens: integers and 8-bit floats have no infinity");
    return make(value);
  }
};

}  // namespace base_types

namespace detail {
/// Converts elements side by side. 8-bit floats are made in pairs: gfx942's instruction for it
/// writes two.
template <typename To, typename From, int N>
KITTENS_HD elements<To, N> convert_elements(const elements<From, N>& from) {
  // As a whole: clang 22 does not always recombine a value that was split into 16-bit halves.
  if constexpr (std::is_same_v<To, From>) return from;
  elements<To, N> to;
  if constexpr (is_float8<To> && std::is_same_v<From, float> && N % 2 == 0) {
    for (int i = 0; i < N; i += 2) To::from_floats(from.e[i], from.e[i + 1], to.e[i], to.e[i + 1]);
  } else {
    for (int i = 0; i < N; ++i) {
      to.e[i] = base_types::convertor<To, From>::convert(from.e[i]);
    }
  }
  return to;
}
}  // namespace detail
}  // namespace kittens
