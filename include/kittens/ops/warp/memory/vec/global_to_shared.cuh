// Vectors between global and shared memory, by a warp or (N_THREADS) a group of warps.
#pragma once

#include "vector_map.cuh"

namespace kittens {
namespace detail {
/// Calls f(first element) for each 16-byte chunk of a vector that belongs to this thread.
template <typename SV, int N_THREADS, typename F>
KITTENS_DEVICE void for_each_chunk(F&& f) {
  constexpr int chunk_elements = 16 / sizeof(typename SV::T);
  constexpr int total = SV::length / chunk_elements;
#pragma unroll
  for (int first = 0; first < total; first += N_THREADS) {
    const int chunk = first + static_cast<int>(threadIdx.x % N_THREADS);
    if (total % N_THREADS == 0 || chunk < total) f(chunk * chunk_elements);
  }
}
}  // namespace detail

/// dst = vector `idx` of a row of src: the coordinate's column counts vectors. The writes are done
/// when it returns; other warps may read them after a barrier.
template <ducks::sv::all SV, ducks::gl::all GL, ducks::coord::vec COORD = coord<SV>,
          int N_THREADS = WARP_THREADS>
KITTENS_DEVICE void load(SV& dst, const GL& src, const COORD& idx) {
  using T = typename SV::T;
  static_assert(std::is_same_v<T, typename GL::T>,
                "kittens: load(sv, gl) copies; both must have the same element type");
  const auto row = detail::global_vector(src, idx, SV::length);
  detail::for_each_chunk<SV, N_THREADS>([&](int element) {
    detail::lds_store<16>(detail::lds_address(dst.data) + element * sizeof(T), 0,
                          row.template read<16>(0, 0, 0, element));
  });
  detail::lds_writes_done();
}

/// Writes of other warps to src must precede a barrier before the call.
template <ducks::sv::all SV, ducks::gl::all GL, ducks::coord::vec COORD = coord<SV>,
          int N_THREADS = WARP_THREADS>
KITTENS_DEVICE void store(const GL& dst, const SV& src, const COORD& idx) {
  using T = typename SV::T;
  static_assert(std::is_same_v<T, typename GL::T>,
                "kittens: store(gl, sv) copies; both must have the same element type");
  const auto row = detail::global_vector(dst, idx, SV::length);
  detail::for_each_chunk<SV, N_THREADS>([&](int element) {
    row.template write<16>(
        0, 0, 0, element,
        detail::lds_load<16>(detail::lds_address(src.data) + element * sizeof(T)));
  });
}

}  // namespace kittens
