// Scalar types, their packed pairs, their conversions and their constants.
//
// Sixteen-bit types are handled through their bits so that this works with every version of HIP's
// headers, whose bfloat16 has been an aggregate, a class, and a class with protected members.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#include "config.cuh"

namespace kittens {

using bf16 = __hip_bfloat16;
using bf16_2 = __hip_bfloat162;
using half = __half;
using half_2 = __half2;

namespace ducks {
namespace base_types {
template <typename T>
concept T1 = std::is_same_v<T, float> || std::is_same_v<T, bf16> || std::is_same_v<T, half>;
template <typename T>
concept T2 = std::is_same_v<T, float2> || std::is_same_v<T, bf16_2> || std::is_same_v<T, half_2>;
}  // namespace base_types
}  // namespace ducks

namespace base_types {

/// How many scalars a type holds, and the scalar and the pair that belong to it.
template <typename T>
struct packing {
  static KITTENS_HD constexpr int num() { return 1; }
};

namespace detail {
template <typename One, typename Two>
struct packing_pair {
  using unpacked_type = One;
  using packed_type = Two;
  /// The pair that holds the same value twice.
  static KITTENS_HD Two pack(const One& x) {
    Two pair;
    pair.x = x;
    pair.y = x;
    return pair;
  }
};
/// __half2 has no x and y that every compiler can assign, so its bits are put together.
struct packing_half {
  using unpacked_type = half;
  using packed_type = half_2;
  static KITTENS_HD half_2 pack(const half& x) {
    const uint32_t bits = kittens::detail::bits_as<uint16_t>(x);
    return kittens::detail::bits_as<half_2>(bits << 16 | bits);
  }
};
}  // namespace detail

#define KITTENS_PACKING(One, Two, Base)                 \
  template <>                                           \
  struct packing<One> : Base {                          \
    static KITTENS_HD constexpr int num() { return 1; } \
  };                                                    \
  template <>                                           \
  struct packing<Two> : Base {                          \
    static KITTENS_HD constexpr int num() { return 2; } \
  };
#define KITTENS_PAIR(One, Two) detail::packing_pair<One, Two>
using packing_bf16 = KITTENS_PAIR(bf16, bf16_2);
using packing_float = KITTENS_PAIR(float, float2);
using packing_int = KITTENS_PAIR(int, int2);
KITTENS_PACKING(bf16, bf16_2, packing_bf16)
KITTENS_PACKING(half, half_2, detail::packing_half)
KITTENS_PACKING(float, float2, packing_float)
KITTENS_PACKING(int, int2, packing_int)
#undef KITTENS_PAIR
#undef KITTENS_PACKING

template <>
struct packing<float4> {
  static KITTENS_HD constexpr int num() { return 4; }
};
template <>
struct packing<int4> {
  static KITTENS_HD constexpr int num() { return 4; }
};

/// Conversion between element types, or between pairs of them. To a narrower type it rounds to
/// nearest, ties to even.
template <typename To, typename From>
struct convertor {
  static KITTENS_HD To convert(const From& x) {
    if constexpr (std::is_same_v<To, From>) {
      return x;
    } else if constexpr (packing<To>::num() == 2) {
      using One = typename packing<To>::unpacked_type;
      using Source = typename packing<From>::unpacked_type;
      static_assert(packing<From>::num() == 2, "kittens: a pair converts only from a pair");
      return pair(convertor<One, Source>::convert(first(x)),
                  convertor<One, Source>::convert(second(x)));
    } else if constexpr (std::is_same_v<To, float>) {
      return to_float(x);
    } else if constexpr (std::is_same_v<To, bf16>) {
      return round_to_bf16(to_float(x));
    } else if constexpr (std::is_same_v<To, half>) {
      return kittens::detail::bits_as<half>(static_cast<_Float16>(to_float(x)));
    } else {
      return static_cast<To>(to_float(x));
    }
  }

  /// The two halves of a pair, whatever its members are called.
  static KITTENS_HD auto first(const From& x) { return split(x, 0); }
  static KITTENS_HD auto second(const From& x) { return split(x, 1); }

 private:
  template <typename Pair>
  static KITTENS_HD auto split(const Pair& x, int index) {
    using One = typename packing<Pair>::unpacked_type;
    if constexpr (sizeof(Pair) == 4) {
      const auto bits = kittens::detail::bits_as<uint32_t>(x);
      return kittens::detail::bits_as<One>(static_cast<uint16_t>(index == 0 ? bits : bits >> 16));
    } else {
      return index == 0 ? x.x : x.y;
    }
  }

  template <typename One>
  static KITTENS_HD To pair(const One& low, const One& high) {
    if constexpr (sizeof(To) == 4) {
      return kittens::detail::bits_as<To>(uint32_t{kittens::detail::bits_as<uint16_t>(low)} |
                                          uint32_t{kittens::detail::bits_as<uint16_t>(high)} << 16);
    } else {
      To result;
      result.x = low;
      result.y = high;
      return result;
    }
  }

  template <typename One>
  static KITTENS_HD float to_float(const One& x) {
    if constexpr (std::is_same_v<One, bf16>) {
      return kittens::detail::bits_as<float>(uint32_t{kittens::detail::bits_as<uint16_t>(x)} << 16);
    } else if constexpr (std::is_same_v<One, half>) {
      return static_cast<float>(kittens::detail::bits_as<_Float16>(x));
    } else {
      return static_cast<float>(x);
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

/// Zero, one and the infinities of a type; a pair has the value twice.
template <typename T>
struct constants {
  static KITTENS_HD T zero() { return make(0x0000, 0x0000, 0x00000000); }
  static KITTENS_HD T one() { return make(0x3f80, 0x3c00, 0x3f800000); }
  static KITTENS_HD T pos_infty() { return make(0x7f80, 0x7c00, 0x7f800000); }
  static KITTENS_HD T neg_infty() { return make(0xff80, 0xfc00, 0xff800000); }

 private:
  static KITTENS_HD T make(uint16_t as_bf16, uint16_t as_half, uint32_t as_float) {
    if constexpr (packing<T>::num() == 2) {
      using One = typename packing<T>::unpacked_type;
      return packing<T>::pack(constants<One>::make(as_bf16, as_half, as_float));
    } else if constexpr (std::is_same_v<T, bf16>) {
      return kittens::detail::bits_as<bf16>(as_bf16);
    } else if constexpr (std::is_same_v<T, half>) {
      return kittens::detail::bits_as<half>(as_half);
    } else {
      static_assert(std::is_same_v<T, float>, "kittens: constants exist for float, bf16 and half");
      return kittens::detail::bits_as<float>(as_float);
    }
  }
  template <typename>
  friend struct constants;
};

}  // namespace base_types
}  // namespace kittens
