// Vectors between shared memory and registers, by a warp. Element types are converted.
#pragma once

#include "vector_map.cuh"

namespace kittens {

template <ducks::rv::all RV, ducks::sv::all SV>
KITTENS_DEVICE void load(RV& dst, const SV& src) {
  static_assert(static_cast<int>(RV::length) == static_cast<int>(SV::length),
                "kittens: load(rv, sv) needs vectors of the same length");
  using U = typename SV::T;
  const uint32_t start = detail::lds_address(src.data);
  detail::vector_map<RV>::template load<U>(dst, [&](auto bytes, int element) {
    return detail::lds_load<bytes()>(start + element * sizeof(U));
  });
}

/// The writes are done when it returns; other warps may read them after a barrier.
template <ducks::rv::all RV, ducks::sv::all SV>
KITTENS_DEVICE void store(SV& dst, const RV& src) {
  static_assert(static_cast<int>(RV::length) == static_cast<int>(SV::length),
                "kittens: store(sv, rv) needs vectors of the same length");
  using U = typename SV::T;
  const uint32_t start = detail::lds_address(dst.data);
  detail::vector_map<RV>::template store<U>(src, [&](int element, auto bits) {
    detail::lds_store<sizeof(bits)>(start + element * sizeof(U), 0, bits);
  });
  detail::lds_writes_done();
}

}  // namespace kittens
