// The position of an element in a shared tile: the only place that knows the swizzle.
//
// A tile is cut into column blocks of 128, 64 or 32 bytes, stored one after another, each row by
// row. LDS has 32 banks of 4 bytes, so a 128-byte line holds 16 slots of 8 bytes that never
// conflict; a line takes 1, 2 or 4 rows of a block. Within a line the slot number is XORed with a
// mask made from the line number, which repeats every 16 rows:
//
//   block   rows per line   line bit 0   line bit 1   line bit 2   line bit 3
//   128 B        1           slot ^1      slot ^2      slot ^8      slot ^4
//    64 B        2           slot ^1      slot ^12     slot ^2
//    32 B        4           slot ^5      slot ^2
//
// The masks make these accesses free of conflicts, in the lane groups that the LDS serves together:
// 16 consecutive lanes of a 64-bit read (measured on MI300 by the pyhip project; writes are assumed
// alike), 32 of a 32-bit or narrower access (ROCm Compute Profiler documentation, LDS):
//   - row layout, 64-bit: 16 rows, same slot. The masks and the row's place in the line span all
//     16 slots.
//   - copies of 16-byte chunks as two 64-bit halves: lanes walk along a row, same half, so the even
//     or the odd slots of 128 bytes; the next 128 bytes take the other parity (bit 0 flips).
//   - the same with doubles (one per lane) and with 1-byte elements (8 per lane): the same bytes.
//   - col layout, one element: 16 columns of row r and of row r+4. Row bit 2 always moves the slot
//     out of the 32 (2-byte types) or 64 bytes (4-byte types) that the first 16 lanes use.
// An aligned 8-byte piece stays whole and in order. The halves of a 16-byte piece stay in its 16
// bytes but may be exchanged: the partner of slot s is always s^1.
#pragma once

#include "../../common/config.cuh"

namespace kittens {
namespace detail {

template <int element_size, int rows, int cols>
struct shared_layout {
  static constexpr int row_bytes = cols * element_size;
  static constexpr int swizzle_bytes = row_bytes % 128 == 0 ? 128 : (row_bytes % 64 == 0 ? 64 : 32);
  static constexpr int line_bytes = 128;
  static constexpr int rows_per_line = line_bytes / swizzle_bytes;
  static constexpr int block_cols = swizzle_bytes / element_size;
  /// Bytes after which the pattern repeats: always 16 rows.
  static constexpr int period = 16 * swizzle_bytes;

  static_assert(row_bytes % 32 == 0,
                "kittens: a row of a shared tile is a multiple of 32 bytes: 1-byte elements need a "
                "multiple of 32 columns");

  /// The XOR mask for a line, as a byte address.
  static KITTENS_HD constexpr uint32_t mask(uint32_t line) {
    constexpr uint32_t slot_bytes = 8;
    uint32_t slots = 0;
    if constexpr (swizzle_bytes == 128) {
      slots = (line & 3) | (line & 4) << 1 | (line & 8) >> 1;
    } else if constexpr (swizzle_bytes == 64) {
      slots = (line & 1) | (line & 2) * 6 | (line & 4) >> 1;
    } else {
      slots = (line & 1) * 5 | (line & 2);
    }
    return slots * slot_bytes;
  }

  /// Byte offset of element (row, col) from the start of the tile.
  static KITTENS_HD constexpr uint32_t offset(uint32_t row, uint32_t col) {
    const uint32_t block = col / block_cols;
    const uint32_t linear = row * swizzle_bytes + col % block_cols * element_size;
    return block * (rows * swizzle_bytes) + (linear ^ mask(linear / line_bytes));
  }

  // The same offset in parts, for loops over base tiles: what depends on the lane is computed once,
  // and the rest is constant or uniform. For R a multiple of 16 and C a multiple of a power of two
  // above c (a base tile's columns):
  //   offset(R + r, C + c) = row_offset(R) + block_offset(C) + (offset(r, c) ^ column_mask(C))
  // because 16 rows are a whole period, and C only sets address bits that c leaves alone.
  static KITTENS_HD constexpr uint32_t row_offset(uint32_t row) { return row * swizzle_bytes; }
  static KITTENS_HD constexpr uint32_t block_offset(uint32_t col) {
    return col / block_cols * (rows * swizzle_bytes);
  }
  static KITTENS_HD constexpr uint32_t column_mask(uint32_t col) {
    return col % block_cols * element_size;
  }
};

}  // namespace detail
}  // namespace kittens
