// Vectors between global and shared memory, by a warp.
#pragma once

#include "../access.cuh"

namespace kittens {
namespace detail {
/// Calls f(byte offset) for each 16-byte chunk of a vector that belongs to this lane.
template <typename SV, typename F>
KITTENS_DEVICE void for_each_chunk(F&& f) {
  constexpr int total = SV::length * sizeof(typename SV::T) / 16;
#pragma unroll
  for (int first = 0; first < total; first += WARP_THREADS) {
    const int chunk = first + laneid();
    if (total % WARP_THREADS == 0 || chunk < total) f(static_cast<uint32_t>(chunk * 16));
  }
}
}  // namespace detail

/// The coordinate's column counts vectors. The writes are done when it returns.
template <ducks::sv::all SV, ducks::gl::all GL, ducks::coord::vec COORD = coord<SV>>
KITTENS_DEVICE void load(SV& dst, const GL& src, const COORD& idx) {
  static_assert(std::is_same_v<typename SV::T, typename GL::T>,
                "kittens: load(sv, gl) copies; both must have the same element type");
  const void* start = &src[detail::uniform(idx).template unit_coord<-1, 3>()];
  detail::for_each_chunk<SV>([&](uint32_t offset) {
    const auto chunk = detail::global_load<16, sizeof(typename SV::T)>(start, offset);
    detail::lds_store<16>(detail::lds_address(dst.data) + offset, 0, chunk);
  });
  detail::lds_writes_done();
}

template <ducks::sv::all SV, ducks::gl::all GL, ducks::coord::vec COORD = coord<SV>>
KITTENS_DEVICE void store(const GL& dst, const SV& src, const COORD& idx) {
  static_assert(std::is_same_v<typename SV::T, typename GL::T>,
                "kittens: store(gl, sv) copies; both must have the same element type");
  void* start = &dst[detail::uniform(idx).template unit_coord<-1, 3>()];
  detail::for_each_chunk<SV>([&](uint32_t offset) {
    const auto chunk = detail::lds_load<16>(detail::lds_address(src.data) + offset);
    detail::global_store<16, sizeof(typename SV::T)>(start, offset, chunk);
  });
}

}  // namespace kittens
