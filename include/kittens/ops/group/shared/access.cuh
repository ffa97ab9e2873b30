// How the threads of a group walk over a shared tile, and read and write its elements.
#pragma once

#include <algorithm>
#include <numeric>

#include "../../warp/memory/runs.cuh"

namespace kittens {
namespace detail {

/// Reads and writes `count` neighbours of a row, which start at a multiple of count: in words of at
/// most 8 bytes, which the swizzle leaves whole.
template <ducks::st::all ST, int count>
struct shared_run {
  using T = typename ST::T;
  using words = run_words<T, count, 8>;

  static KITTENS_MEMBER elements<T, count> read(const ST& tile, int row, int col) {
    const uint32_t start = tile.idx(lds_address(tile.data), {row, col});
    return words::read([&](int byte) { return lds_load<words::bytes>(start ^ byte); });
  }
  static KITTENS_MEMBER void write(ST& tile, int row, int col, const elements<T, count>& value) {
    const uint32_t start = tile.idx(lds_address(tile.data), {row, col});
    words::write(value,
                 [&](int byte, auto bits) { lds_store<words::bytes>(start ^ byte, 0, bits); });
  }
};

/// What a thread takes at a time of tiles with these elements: 8 bytes of the narrowest.
template <typename... Ts>
constexpr int widest_slot = 8 / static_cast<int>(std::min({sizeof(Ts)...}));

/// Calls f(row, col) for the thread's slots of `count` elements. Neighbouring threads take
/// neighbouring slots of a column block of the swizzle: no two of them meet in a bank.
template <ducks::st::all ST, int N_THREADS, int count, typename F>
KITTENS_DEVICE void for_each_slot(F&& f) {
  constexpr int block_cols = std::gcd(ST::cols, ST::address_layout::block_cols);
  constexpr int per_row = block_cols / count;
  constexpr int per_block = ST::rows * per_row;
  constexpr int total = ST::rows * ST::cols / count;
  for (int slot = threadIdx.x % N_THREADS; slot < total; slot += N_THREADS) {
    f(slot % per_block / per_row, slot / per_block * block_cols + slot % per_row * count);
  }
}

}  // namespace detail
}  // namespace kittens
