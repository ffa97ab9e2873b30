// Shared vectors: plain arrays in shared memory.
#pragma once

#include "../../common/common.cuh"

namespace kittens {
namespace ducks {
namespace sv {
struct identifier {};
template <typename T>
concept all =
    requires { typename T::identifier; } && std::is_same_v<typename T::identifier, identifier>;
}  // namespace sv
}  // namespace ducks

/// `length` elements, a multiple of 16, one after another.
template <typename _T, size_t _length>
struct KITTENS_DEFAULT_ALIGN sv {
  using identifier = ducks::sv::identifier;
  static_assert(
      ducks::base_types::T1<_T>,
      "kittens: sv holds float, bf16, half, fp8e4m3, fp8e5m2, int8_t, uint8_t, int or double");
  static_assert(_length > 0 && _length % 16 == 0,
                "kittens: the length of an sv must be a multiple of 16");
  using T = _T;
  using T2 = typename base_types::packing<T>::packed_type;
  using dtype = T;

  static constexpr int length = _length;
  static constexpr int tiles = length / TILE_ROW_DIM<T>;

  dtype data[length];

  KITTENS_MEMBER dtype& operator[](size_t i) { return data[i]; }
  KITTENS_MEMBER const dtype& operator[](size_t i) const { return data[i]; }

  template <size_t n>
  using subvec = sv<T, n>;
};

/// Part number i of a vector, counted in parts of that length: the same memory.
template <size_t part_length, ducks::sv::all SV>
KITTENS_DEVICE auto& subvec_inplace(SV& source, int i) {
  static_assert(part_length % 16 == 0 && SV::length % part_length == 0,
                "kittens: a part must divide its vector, in multiples of 16 elements");
  using T = typename SV::T;
  using part = sv<T, part_length>;
  return *reinterpret_cast<part*>(&source.data[i * part_length]);
}

template <size_t length>
using sv_fl = sv<float, length>;
template <size_t length>
using sv_bf = sv<bf16, length>;
template <size_t length>
using sv_hf = sv<half, length>;
template <size_t length>
using sv_fp8e4m3 = sv<fp8e4m3, length>;
template <size_t length>
using sv_fp8e5m2 = sv<fp8e5m2, length>;
template <size_t length>
using sv_i8 = sv<int8_t, length>;
template <size_t length>
using sv_u8 = sv<uint8_t, length>;
template <size_t length>
using sv_i32 = sv<int, length>;
template <size_t length>
using sv_fd = sv<double, length>;

}  // namespace kittens
