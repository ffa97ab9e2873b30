// Vectors between global memory and registers, by a warp. Element types are converted.
#pragma once

#include "vector_map.cuh"

namespace kittens {

/// The coordinate's column counts vectors.
template <ducks::rv::all RV, ducks::gl::all GL, ducks::coord::vec COORD = coord<RV>>
KITTENS_DEVICE void load(RV& dst, const GL& src, const COORD& idx) {
  using U = typename GL::T;
  const void* start = &src[detail::uniform(idx).template unit_coord<-1, 3>()];
  detail::vector_map<RV>::template load<U>(dst, [&](auto bytes, int element) {
    return detail::global_load<bytes(), sizeof(U)>(start,
                                                   static_cast<uint32_t>(element * sizeof(U)));
  });
}

template <ducks::rv::all RV, ducks::gl::all GL, ducks::coord::vec COORD = coord<RV>>
KITTENS_DEVICE void store(const GL& dst, const RV& src, const COORD& idx) {
  using U = typename GL::T;
  void* start = &dst[detail::uniform(idx).template unit_coord<-1, 3>()];
  detail::vector_map<RV>::template store<U>(src, [&](int element, auto bits) {
    detail::global_store<sizeof(bits), sizeof(U)>(start, static_cast<uint32_t>(element * sizeof(U)),
                                                  bits);
  });
}

}  // namespace kittens
