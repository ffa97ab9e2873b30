// How the threads of a warp or group divide a shared tile into chunks of 16 bytes.
#pragma once

#include <numeric>

#include "global_tile.cuh"

namespace kittens {
namespace detail {

/// In round `call` thread t takes chunk call * N_THREADS + t. Chunks are counted down a column
/// block of the tile's swizzle and then block by block: walking across blocks would meet the same
/// banks again. So neighbouring lanes read up to 128 contiguous bytes of a row.
template <typename ST, int N_THREADS>
struct chunk_map {
  using T = typename ST::T;
  using L = typename ST::address_layout;
  static constexpr bool is_subtile = requires { typename ST::parent; };
  static constexpr int threads = N_THREADS;
  static constexpr int chunk_elements = 16 / sizeof(T);
  /// A subtile may be narrower than a block, or start inside one.
  static constexpr int block_cols = std::gcd(ST::cols, L::block_cols);
  static constexpr int per_row = block_cols / chunk_elements;
  static constexpr int per_block = ST::rows * per_row;
  static constexpr int total = ST::rows * ST::cols / chunk_elements;
  static constexpr int calls = (total + N_THREADS - 1) / N_THREADS;
  /// Every thread has a chunk in every round.
  static constexpr bool exact = total % N_THREADS == 0;
  /// A round is within one block, or is a whole number of blocks. Either way a thread's place in a
  /// round is its place in round 0, moved by what is the same for all threads.
  static constexpr bool in_block = per_block % N_THREADS == 0;
  static constexpr bool regular = in_block || N_THREADS % per_block == 0;

  int thread;

  KITTENS_MEMBER chunk_map() : thread(threadIdx.x % N_THREADS) { check_group<N_THREADS>(); }

  KITTENS_MEMBER bool has(int call) const { return exact || call * N_THREADS + thread < total; }

  // The place of a chunk in the tile: a part that is the same for all threads of the round ...
  static constexpr KITTENS_MEMBER int first_row(int call) {
    return in_block ? call * N_THREADS % per_block / per_row : 0;
  }
  static constexpr KITTENS_MEMBER int first_col(int call) {
    return regular ? call * N_THREADS / per_block * block_cols : 0;
  }
  // ... and the thread's part.
  KITTENS_MEMBER int own(int call) const { return regular ? thread : call * N_THREADS + thread; }
  KITTENS_MEMBER int lane_row(int call) const { return own(call) % per_block / per_row; }
  KITTENS_MEMBER int lane_col(int call) const {
    return own(call) / per_block * block_cols + own(call) % per_row * chunk_elements;
  }

  template <typename GlobalTile>
  KITTENS_MEMBER word<16> load_global(const GlobalTile& tile, int call) const {
    return tile.template read<16>(first_row(call), first_col(call), lane_row(call), lane_col(call));
  }
  template <typename GlobalTile>
  KITTENS_MEMBER void store_global(const GlobalTile& tile, int call, word<16> chunk) const {
    tile.template write<16>(first_row(call), first_col(call), lane_row(call), lane_col(call),
                            chunk);
  }

  /// LDS address of the first half of the chunk, counted from the tile, as lane part and constant
  /// part. The second half is at the lane part ^ 8.
  struct place {
    uint32_t lane;
    uint32_t constant;
  };
  KITTENS_MEMBER place shared_place(const ST& tile, int call) const {
    constexpr int rows_per_call = N_THREADS / per_row;
    if constexpr (regular && !is_subtile &&
                  (!in_block || rows_per_call % 16 == 0 || 16 % rows_per_call == 0)) {
      // A round starts a constant number of lines later. The swizzle mask is linear in the bits of
      // the line number, and those of the round and of the thread do not overlap.
      const uint32_t lines = first_row(call) * L::swizzle_bytes;
      const uint32_t blocks = first_col(call) / L::block_cols * (L::swizzle_bytes * ST::rows);
      return {tile.idx(uint32_t{0}, {lane_row(0), lane_col(0)}) ^ L::mask(lines / L::line_bytes),
              lines + blocks};
    } else {
      return {tile.idx(uint32_t{0},
                       {first_row(call) + lane_row(call), first_col(call) + lane_col(call)}),
              0};
    }
  }
  KITTENS_MEMBER void store_shared(ST& tile, int call, word<16> chunk) const {
    const uint32_t base = lds_address(tile.data);
    const place at = shared_place(tile, call);
    lds_store<8>(base + at.lane, at.constant, chunk.xy);
    lds_store<8>(base + (at.lane ^ 8), at.constant, chunk.zw);
  }
  KITTENS_MEMBER word<16> load_shared(const ST& tile, int call) const {
    const uint32_t base = lds_address(tile.data);
    const place at = shared_place(tile, call);
    word<16> chunk;
    chunk.xy = lds_load<8>(base + at.lane, at.constant);
    chunk.zw = lds_load<8>(base + (at.lane ^ 8), at.constant);
    return chunk;
  }
};

}  // namespace detail
}  // namespace kittens
