// A block's panel of A or B on its way from global memory through registers into a shared tile.
//
// Whichever way the matrix is stored, the tile holds 256 rows (m or n) of 64 columns (k), so that
// both operands of the MFMA are read the same way. Every thread carries four chunks of 8 elements.
// Rows and columns beyond the matrix arrive as zeros: their offset is moved out of the buffer's
// range, and out-of-range buffer loads return 0.
#pragma once

#include "kittens.cuh"
#include "plan.h"

namespace margay_gemm {

using Tile = kittens::st_bf<kBlockM, kStepK>;
using Word = kittens::detail::word<16>;

constexpr int kChunks = kBlockM * kStepK / 8 / kThreads;
constexpr uint32_t kRange = 0x80000000u;  // bytes that a panel's offsets may reach
constexpr uint32_t kOutside = kRange;

/// One chunk, of which the first `valid` elements exist (any int). Chunks that are entirely inside
/// or outside their row take one load; others are read element by element.
template <bool kWhole>
KITTENS_DEVICE Word read_chunk(kittens::i32x4 buffer, uint32_t offset, int valid) {
  using namespace kittens::detail;
  if constexpr (kWhole) {
    return kittens::llvm_amdgcn_raw_buffer_load_b128(buffer, valid > 0 ? offset : kOutside, 0, 0);
  } else {
    Word chunk;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const int e = 2 * pair;
      const uint32_t low = kittens::llvm_amdgcn_raw_buffer_load_b16(
          buffer, e < valid ? offset + 2 * e : kOutside, 0, 0);
      const uint32_t high = kittens::llvm_amdgcn_raw_buffer_load_b16(
          buffer, e + 1 < valid ? offset + 2 * e + 2 : kOutside, 0, 0);
      chunk[pair] = low | high << 16;
    }
    return chunk;
  }
}

/// A matrix stored with k along its rows: A, or B for C = A B^T. Eight lanes read 128 bytes of a
/// row; thread t has rows t/8 + 64 i.
template <bool kWhole>
struct KMajorPanel {
  const char* start;
  uint32_t offset[kChunks];
  int col;
  Word chunk[kChunks];

  /// `rows` is how many rows of the panel exist (it may exceed the panel).
  KITTENS_MEMBER KMajorPanel(const void* matrix, int first_row, int rows, int64_t ld)
      : start(static_cast<const char*>(matrix) + first_row * ld * 2), col(threadIdx.x % 8 * 8) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int row = threadIdx.x / 8 + i * (kThreads / 8);
      offset[i] = row < rows ? row * static_cast<uint32_t>(ld * 2) + col * 2 : kOutside;
    }
  }
  /// Fetches the next 64 columns; kTail: of which only `k_left` exist.
  template <bool kTail>
  KITTENS_MEMBER void fetch(int k_left) {
    const auto buffer = kittens::make_srsrc(start, kRange);
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      chunk[i] = read_chunk<kWhole>(buffer, offset[i], kTail ? k_left - col : 8);
    }
    start += kStepK * 2;
  }
  KITTENS_MEMBER void put(Tile& tile) const {
    const kittens::detail::chunk_map<Tile, kThreads> chunks;
    // The chunk that was fetched last goes first: one wait for it covers the others.
#pragma unroll
    for (int i = kChunks - 1; i >= 0; --i) chunks.store_shared(tile, i, chunk[i]);
  }
};

/// A matrix stored with n along its rows: B for C = A B. A thread reads 8 columns of 4 rows of k,
/// transposes them in registers, and writes 8 rows of 4 values of k (8 bytes, one slot of the
/// tile).
///
/// Slot and bank of such a write follow from the k group and the bits of the row (swizzle.cuh). The
/// 16 lanes that the LDS serves together have k groups that differ in bits 0, 1 and 3 and rows that
/// differ in bit 3, which moves bit 2 of the slot: all 16 slots, no conflict. A wave reads 128
/// contiguous bytes of each row of k.
template <bool kWhole>
struct NMajorPanel {
  const char* start;
  int64_t step_bytes;
  uint32_t offset[kChunks];
  int k_group;
  int col;
  int cols_left;
  Word chunk[kChunks];

  /// `cols` is how many columns from first_col exist (it may exceed the panel).
  KITTENS_MEMBER NMajorPanel(const void* matrix, int first_col, int cols, int64_t ld)
      : start(static_cast<const char*>(matrix) + int64_t{first_col} * 2),
        step_bytes(kStepK * ld * 2) {
    const int lane = kittens::laneid();
    const int wave = kittens::warpid();
    const int in_lane = lane / 2 % 8;
    k_group = (in_lane & 3) | (in_lane & 4) << 1 | wave / 4 << 2;
    col = 8 * (lane % 2 + lane / 16 * 2 + wave % 4 * 8);
    cols_left = cols - col;
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      offset[i] =
          cols_left > 0 ? (4 * k_group + i) * static_cast<uint32_t>(ld * 2) + col * 2 : kOutside;
    }
  }
  template <bool kTail>
  KITTENS_MEMBER void fetch(int k_left) {
    const auto buffer = kittens::make_srsrc(start, kRange);
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const bool exists = !kTail || 4 * k_group + i < k_left;
      const int valid = kWhole ? 8 : cols_left;  // a whole chunk's offset already says
      chunk[i] = read_chunk<kWhole>(buffer, exists ? offset[i] : kOutside, exists ? valid : 0);
    }
    start += step_bytes;
  }
  KITTENS_MEMBER void put(Tile& tile) const {
    using namespace kittens::detail;
    const uint32_t own = Tile::idx(uint32_t{0}, {col, 4 * k_group});
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      // Bytes of two dwords: the low or the high half of each.
      const uint32_t halves = i % 2 == 0 ? 0x05040100 : 0x07060302;
      word<8> values;
      values.x = __builtin_amdgcn_perm(chunk[1][i / 2], chunk[0][i / 2], halves);
      values.y = __builtin_amdgcn_perm(chunk[3][i / 2], chunk[2][i / 2], halves);
      // Row col + i: col is a multiple of 8, so i adds its own lines and its own mask.
      const uint32_t mask = Tile::address_layout::mask(i);
      lds_store<8>(lds_address(tile.data) + (own ^ mask), i * Tile::swizzle_bytes, values);
    }
  }
};

}  // namespace margay_gemm
