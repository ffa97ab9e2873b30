// Prefetch through registers: from global memory into a buffer of the thread, and later into shared
// memory, so that the loads are in flight while the warp computes.
//
// A buffer slot is one 16-byte chunk of the tile. Thread t keeps chunk call * N_THREADS + t in slot
// `call`. Both sides must be given the same tile type and N_THREADS, and a buffer of at least
// ceil(tile bytes / 16 / N_THREADS) slots; further slots are not touched.
#pragma once

#include "../chunk_map.cuh"

namespace kittens {

/// The loads are tracked by the compiler: it waits where the buffer is first used.
template <int axis = 2, bool assume_aligned = false, int N_THREADS = WARP_THREADS,
          ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>>
KITTENS_DEVICE void load_global_to_register_buffer(float4* reg_buffer, int buffer_size,
                                                   const GL& src, const COORD& idx,
                                                   const ST& /*like*/) {
  static_assert(std::is_same_v<typename ST::T, typename GL::T>,
                "kittens: a register buffer holds raw chunks; gl and st must have the same element "
                "type");
  const detail::chunk_map<ST, N_THREADS> chunks;
  const detail::global_tile<axis, GL> tile(src, idx, ST::rows, ST::cols);
#pragma unroll
  for (int call = 0; call < chunks.calls; ++call) {
    if (call < buffer_size && chunks.has(call)) {
      reg_buffer[call] = detail::bits_as<float4>(chunks.load_global(tile, call));
    }
  }
}

/// The writes are done when it returns (a bare s_barrier may follow). A barrier before this call
/// must separate it from reads of the tile's old content.
template <int N_THREADS = WARP_THREADS, ducks::st::all ST>
KITTENS_DEVICE void store_register_buffer_to_shared(ST& dst, const float4* reg_buffer) {
  const detail::chunk_map<ST, N_THREADS> chunks;
  // The chunk that was requested last goes first: one wait for it covers the others.
#pragma unroll
  for (int call = chunks.calls - 1; call >= 0; --call) {
    if (chunks.has(call)) {
      chunks.store_shared(dst, call, detail::bits_as<detail::word<16>>(reg_buffer[call]));
    }
  }
  detail::lds_writes_done();
}

}  // namespace kittens
