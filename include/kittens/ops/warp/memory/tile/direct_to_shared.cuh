// Tiles from global memory straight into shared memory, without registers in between.
//
// BUFFER_LOAD_DWORD with the LDS bit writes 4 bytes per lane, lane after lane, from a base that is
// the same in all lanes (M0): 256 bytes of the tile's storage in order. The swizzle is therefore
// applied to where a lane reads. Source: CDNA3 ISA, section 9.1.9, "Memory buffer load to LDS". The
// global form of the instruction would do as well, but LLVM 19's hazard recognizer reads a data
// operand that the instruction does not have, and sometimes crashes.
#pragma once

#include "../chunk_map.cuh"

namespace kittens {

/// Starts copying the tile `idx` of src. It has arrived after direct_loads_done() by the same
/// threads; other warps may read it after a barrier that follows. All N_THREADS threads must call
/// it. The tile must span less than 4 GiB.
template <int axis, ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>,
          int N_THREADS = WARP_THREADS>
KITTENS_DEVICE void load_direct(ST& dst, const GL& src, const COORD& idx) {
  using T = typename ST::T;
  using L = typename ST::address_layout;
  static_assert(std::is_same_v<T, typename GL::T>,
                "kittens: load_direct(st, gl) copies; both must have the same element type");
  static_assert(
      !requires { typename ST::parent; },
      "kittens: load_direct fills a whole shared tile, not a subtile");
  static_assert(
      !requires { typename GL::tensor_type; },
      "kittens: load_direct needs a tile inside its tensor; load() takes bounded()");
  constexpr int lane_bytes = 4;
  constexpr int piece_bytes = WARP_THREADS * lane_bytes;
  constexpr int tile_bytes = ST::rows * ST::cols * sizeof(T);
  constexpr int block_bytes = ST::rows * L::swizzle_bytes;
  static_assert(block_bytes % piece_bytes == 0);
  const detail::buffer_tile<axis, GL> tile(src, idx, ST::rows, ST::cols);
  const int warp = __builtin_amdgcn_readfirstlane(threadIdx.x % N_THREADS / WARP_THREADS);
#pragma unroll
  for (int first = 0; first < tile_bytes; first += piece_bytes * (N_THREADS / WARP_THREADS)) {
    const int piece = first + warp * piece_bytes;
    if (tile_bytes % (piece_bytes * (N_THREADS / WARP_THREADS)) != 0 && piece >= tile_bytes) break;
    const int block = piece / block_bytes;
    const int stored = piece % block_bytes + laneid() * lane_bytes;
    const int linear = stored ^ L::mask(stored / L::line_bytes);
    const int row = linear / L::swizzle_bytes;
    const int byte = linear % L::swizzle_bytes;
    const uint32_t to = detail::lds_address(dst.data) + piece;  // the same in all lanes, for M0
    llvm_amdgcn_raw_buffer_load_lds(tile.resource, (KITTENS_LDS void*)to, lane_bytes,
                                    tile.lane_part(0, row, 0) + byte,
                                    tile.uniform_part(0) + block * L::swizzle_bytes, 0, 0);
  }
}
template <ducks::st::all ST, ducks::gl::all GL, ducks::coord::tile COORD = coord<ST>>
KITTENS_DEVICE void load_direct(ST& dst, const GL& src, const COORD& idx) {
  load_direct<2, ST, GL, COORD, WARP_THREADS>(dst, src, idx);
}

/// Waits until at most `outstanding` of this warp's latest vector-memory operations are in flight
/// (0 to 63); with 0, until every direct load of this warp is in shared memory.
template <int outstanding = 0>
KITTENS_DEVICE void direct_loads_done() {
  static_assert(0 <= outstanding && outstanding <= 63,
                "kittens: the hardware counts up to 63 vector-memory operations");
  // S_WAITCNT of gfx9: VMCNT is bits 3:0 and 15:14; the other counters at their largest.
  constexpr int others = 0x0f70;
  __builtin_amdgcn_s_waitcnt(others | (outstanding & 15) | (outstanding >> 4) << 14);
  // Reads of the tile must not move up.
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

}  // namespace kittens
