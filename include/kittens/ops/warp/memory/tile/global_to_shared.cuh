// Tiles between global and shared memory, by a warp or (N_THREADS) a group of warps.
#pragma once

#include "../chunk_map.cuh"

namespace kittens {

/// Copies a tile into shared memory. Its writes are done when it returns, but other warps may read
/// them only after a barrier. All N_THREADS threads of the group must call it. The tile must be
/// inside the tensor. `axis` is the axis that the rows run along; assume_aligned is accepted for
/// source compatibility: unaligned rows cost the hardware, not the instruction count.
template <int axis, bool assume_aligned, ducks::st::all ST, ducks::gl::all GL,
          ducks::coord::tile COORD = coord<ST>, int N_THREADS = WARP_THREADS>
KITTENS_DEVICE void load(ST& dst, const GL& src, const COORD& idx) {
  static_assert(std::is_same_v<typename ST::T, typename GL::T>,
                "kittens: load(st, gl) copies; both must have the same element type");
  const detail::chunk_map<ST, N_THREADS> chunks;
  const detail::global_tile<axis, GL> tile(src, idx, ST::rows, ST::cols);
  // Batches of 8 chunks (32 VGPRs): loads in flight against registers. With 16, a kernel without
  // launch bounds (128 VGPRs) that keeps a 64x64 float tile spills.
  constexpr int batch = 8;
#pragma unroll
  for (int first = 0; first < chunks.calls; first += batch) {
    detail::word<16> chunk[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (first + i < chunks.calls && chunks.has(first + i)) {
        chunk[i] = chunks.load_global(tile, first + i);
      }
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (first + i < chunks.calls && chunks.has(first + i)) {
        chunks.store_shared(dst, first + i, chunk[i]);
      }
    }
  }
  detail::lds_writes_done();
}
template <ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>>
KITTENS_DEVICE void load(ST& dst, const GL& src, const COORD& idx) {
  load<2, false, ST, GL, COORD, WARP_THREADS>(dst, src, idx);
}

/// Copies a shared tile to global memory. Writes of other warps to it must precede a barrier before
/// the call.
template <int axis, bool assume_aligned, ducks::st::all ST, ducks::gl::all GL,
          ducks::coord::tile COORD = coord<ST>, int N_THREADS = WARP_THREADS>
KITTENS_DEVICE void store(const GL& dst, const ST& src, const COORD& idx) {
  static_assert(std::is_same_v<typename ST::T, typename GL::T>,
                "kittens: store(gl, st) copies; both must have the same element type");
  const detail::chunk_map<ST, N_THREADS> chunks;
  const detail::global_tile<axis, GL> tile(dst, idx, ST::rows, ST::cols);
#pragma unroll
  for (int call = 0; call < chunks.calls; ++call) {
    if (chunks.has(call)) chunks.store_global(tile, call, chunks.load_shared(src, call));
  }
}
template <ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>>
KITTENS_DEVICE void store(const GL& dst, const ST& src, const COORD& idx) {
  store<2, false, ST, GL, COORD, WARP_THREADS>(dst, src, idx);
}

}  // namespace kittens
