// Vectors between global memory and registers, by a warp. Element types are converted.
#pragma once

#include "vector_map.cuh"

namespace kittens {

/// dst = vector `idx` of a row of src: the coordinate's column counts vectors.
template <ducks::rv::all RV, ducks::gl::all GL, ducks::coord::vec COORD = coord<RV>>
KITTENS_DEVICE void load(RV& dst, const GL& src, const COORD& idx) {
  const auto row = detail::global_vector(src, idx, RV::length);
  detail::vector_map<RV>::template load<typename GL::T>(
      dst, [&](auto bytes, int element) { return row.template read<bytes()>(0, 0, 0, element); });
}

template <ducks::rv::all RV, ducks::gl::all GL, ducks::coord::vec COORD = coord<RV>>
KITTENS_DEVICE void store(const GL& dst, const RV& src, const COORD& idx) {
  const auto row = detail::global_vector(dst, idx, RV::length);
  detail::vector_map<RV>::template store<typename GL::T>(src, [&](int element, auto bits) {
    row.template write<sizeof(bits)>(0, 0, 0, element, bits);
  });
}

}  // namespace kittens
