// The swizzle of shared tiles as arithmetic: it is a bijection, keeps 8-byte pieces whole, and the
// lanes of every access pattern of the library hit distinct banks. What a tile without it would
// cost, as the profiler counts it.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "profiled.h"

namespace {

using kittens::detail::shared_layout;

// LDS: 32 banks of 4 bytes. Lanes that it serves together on gfx942: 16 consecutive for a 64-bit
// access, 32 for a 32-bit one (ROCm Compute Profiler documentation, "Local data share"; public
// measurements on MI300).
constexpr int kBanks = 32;

/// The cycles beyond the first that `lanes` accesses of `bytes` need: distinct dwords on one bank.
int conflicts(const std::vector<uint32_t>& addresses, int bytes) {
  std::map<int, std::set<uint32_t>> dwords_of_bank;
  for (const uint32_t address : addresses) {
    for (int b = 0; b < std::max(bytes, 4); b += 4) {
      const uint32_t dword = (address + b) / 4;
      dwords_of_bank[dword % kBanks].insert(dword);
    }
  }
  size_t worst = 1;
  for (const auto& [bank, dwords] : dwords_of_bank) worst = std::max(worst, dwords.size());
  return static_cast<int>(worst) - 1;
}

/// Row and column of the chunk that a thread takes, as kittens::detail::chunk_map documents: down a
/// column block, then block by block.
template <typename Chunks>
std::pair<int, int> chunk_place(int call, int thread) {
  const int chunk = call * Chunks::threads + thread;
  const int in_block = chunk % Chunks::per_block;
  return {in_block / Chunks::per_row, chunk / Chunks::per_block * Chunks::block_cols +
                                          in_block % Chunks::per_row * Chunks::chunk_elements};
}

/// Sum over the groups of `group` consecutive lanes of a wave.
template <typename F>
int wave_conflicts(int group, int bytes, F&& address_of_lane) {
  int sum = 0;
  for (int first = 0; first < 64; first += group) {
    std::vector<uint32_t> addresses;
    for (int lane = first; lane < first + group; ++lane) addresses.push_back(address_of_lane(lane));
    sum += conflicts(addresses, bytes);
  }
  return sum;
}

TEST(BankModel, SeesConflicts) {
  EXPECT_EQ(wave_conflicts(32, 4, [](int lane) { return lane * 4; }), 0);
  EXPECT_EQ(wave_conflicts(32, 4, [](int lane) { return lane * 8; }), 2);
  EXPECT_EQ(wave_conflicts(32, 4, [](int) { return 64; }), 0) << "one dword is broadcast";
  EXPECT_EQ(wave_conflicts(16, 8, [](int lane) { return lane * 128; }), 4 * 15);
}

/// Copies in chunks of 16 bytes, as two halves: every chunk once, no conflict.
template <int element_size, int rows, int cols, int threads>
void check_chunks() {
  using T = std::conditional_t<element_size == 2, kittens::bf16, float>;
  using Tile = kittens::st<T, rows, cols>;
  using Chunks = kittens::detail::chunk_map<Tile, threads>;
  std::set<std::pair<int, int>> copied;
  for (int call = 0; call < Chunks::calls; ++call) {
    for (int first = 0; first < threads; first += 16) {
      std::vector<uint32_t> addresses;
      for (int thread = first; thread < first + 16; ++thread) {
        if (call * threads + thread >= Chunks::total) continue;
        const auto place = chunk_place<Chunks>(call, thread);
        EXPECT_TRUE(copied.insert(place).second) << place.first << "," << place.second;
        EXPECT_LT(place.first, rows);
        EXPECT_LT(place.second, cols);
        addresses.push_back(Tile::idx(uint32_t{0}, {place.first, place.second}));
      }
      EXPECT_EQ(conflicts(addresses, 8), 0)
          << "chunks, " << threads << " threads, call " << call << ", thread " << first;
    }
  }
  EXPECT_EQ(copied.size() * 16, static_cast<size_t>(rows * cols * element_size));
}

template <int element_size, int rows, int cols>
void check_shape() {
  SCOPED_TRACE("element size " + std::to_string(element_size) + ", " + std::to_string(rows) + "x" +
               std::to_string(cols));
  using L = shared_layout<element_size, rows, cols>;

  std::vector<bool> taken(rows * cols, false);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      const uint32_t offset = L::offset(r, c);
      ASSERT_EQ(offset % element_size, 0u);
      ASSERT_LT(offset, static_cast<uint32_t>(rows * cols * element_size)) << r << "," << c;
      ASSERT_FALSE(taken[offset / element_size]) << r << "," << c << " shares its place";
      taken[offset / element_size] = true;
    }
    constexpr int piece = 8 / element_size;
    for (int c = 0; c < cols; c += piece) {
      ASSERT_EQ(L::offset(r, c) % 8, 0u);
      for (int e = 1; e < piece; ++e) {
        ASSERT_EQ(L::offset(r, c + e), L::offset(r, c) + e * element_size);
      }
      if (c % (2 * piece) == 0) {
        ASSERT_EQ(L::offset(r, c + piece), L::offset(r, c) ^ 8) << "halves of 16 bytes";
      }
    }
  }

  // The two parts that the loops over base tiles use.
  for (int i = 0; i < rows / 16; ++i) {
    for (int j = 0; j < cols / 16; ++j) {
      for (int r = 0; r < 16; ++r) {
        for (int c = 0; c < 16; ++c) {
          ASSERT_EQ(L::row_offset(16 * i) + L::block_offset(16 * j) +
                        (L::offset(r, c) ^ L::column_mask(16 * j)),
                    L::offset(16 * i + r, 16 * j + c));
        }
      }
    }
  }

  // Register tiles.
  for (int i = 0; i < rows / 16; ++i) {
    for (int j = 0; j < cols / 16; ++j) {
      for (int half = 0; half < (element_size == 4 ? 2 : 1); ++half) {
        EXPECT_EQ(wave_conflicts(16, 8,
                                 [&](int lane) {
                                   return L::offset(16 * i + lane % 16, 16 * j + 4 * (lane / 16)) ^
                                          (half * 8);
                                 }),
                  0)
            << "row layout, tile " << i << "," << j;
      }
      for (int e = 0; e < 4; ++e) {
        EXPECT_EQ(wave_conflicts(32, element_size,
                                 [&](int lane) {
                                   return L::offset(16 * i + 4 * (lane / 16) + e,
                                                    16 * j + lane % 16);
                                 }),
                  0)
            << "col layout, tile " << i << "," << j << ", element " << e;
      }
    }
  }

  check_chunks<element_size, rows, cols, 64>();
  check_chunks<element_size, rows, cols, 256>();
  check_chunks<element_size, rows, cols, 512>();
}

TEST(SharedLayout, TwoByteElements) {
  check_shape<2, 16, 16>();
  check_shape<2, 32, 16>();
  check_shape<2, 128, 16>();
  check_shape<2, 16, 32>();
  check_shape<2, 64, 32>();
  check_shape<2, 128, 32>();
  check_shape<2, 32, 64>();
  check_shape<2, 128, 64>();
  check_shape<2, 256, 64>();
  check_shape<2, 64, 128>();
  check_shape<2, 128, 128>();
  check_shape<2, 16, 256>();
}

TEST(SharedLayout, FourByteElements) {
  check_shape<4, 16, 16>();
  check_shape<4, 64, 16>();
  check_shape<4, 16, 32>();
  check_shape<4, 64, 32>();
  check_shape<4, 32, 64>();
  check_shape<4, 64, 128>();
}

TEST(SharedLayout, WidthsThatAreNoPowerOfTwo) {
  check_shape<2, 32, 48>();
  check_shape<2, 32, 80>();
  check_shape<2, 32, 96>();
  check_shape<2, 16, 112>();
  check_shape<2, 48, 192>();
  check_shape<4, 32, 48>();
  check_shape<4, 16, 96>();
}

TEST(SharedTile, IndexFormsAgree) {
  using Tile = kittens::st_bf<64, 96>;
  static_assert(sizeof(Tile) == 64 * 96 * 2, "no padding");
  auto* tile = reinterpret_cast<kittens::bf16*>(0x10000);
  for (int r = 0; r < Tile::rows; ++r) {
    for (int c = 0; c < Tile::cols; ++c) {
      const uint32_t from_zero = Tile::idx(uint32_t{0}, {r, c});
      EXPECT_EQ(Tile::idx(uint32_t{4096}, {r, c}), 4096 + from_zero);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(Tile::idx(tile, {r, c})), 0x10000 + from_zero);
    }
  }
}

// The transposing write of the GEMM (kernels/gemm/panel.cuh).
TEST(GemmPanel, TransposingWriteHasNoConflicts) {
  using L = shared_layout<2, 256, 64>;
  std::set<std::pair<int, int>> written;
  for (int wave = 0; wave < 8; ++wave) {
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(wave_conflicts(16, 8,
                               [&](int lane) {
                                 const int in_lane = lane / 2 % 8;
                                 const int k_group =
                                     (in_lane & 3) | (in_lane & 4) << 1 | wave / 4 << 2;
                                 const int row = 8 * (lane % 2 + lane / 16 * 2 + wave % 4 * 8) + i;
                                 written.insert({row, k_group});
                                 return L::offset(row, 4 * k_group);
                               }),
                0);
    }
  }
  EXPECT_EQ(written.size(), 256u * 16u) << "every piece of the tile is written once";
}

TEST(Chiplets, OrderIsABijectionAndGivesRunsToADie) {
  for (int n : {1, 7, 63, 64, 255, 256, 257, 304, 1000, 1024}) {
    for (int chunk : {1, 4, 32}) {
      std::vector<bool> seen(n, false);
      for (int id = 0; id < n; ++id) {
        const int place = kittens::chiplet_transform_chunked(id, n, 8, chunk);
        ASSERT_GE(place, 0);
        ASSERT_LT(place, n);
        ASSERT_FALSE(seen[place]) << n << " " << chunk << " " << id;
        seen[place] = true;
      }
    }
  }
  // Die 3 gets ids 3, 11, 19 ...: with chunks of 4 they become 12, 13, 14, 15, 44 ...
  const std::array<int, 5> ids = {3, 11, 19, 27, 35};
  const std::array<int, 5> want = {12, 13, 14, 15, 44};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(kittens::chiplet_transform_chunked(ids[i], 256, 8, 4), want[i]);
  }
}

// --- a tile without a swizzle ---

/// Rows of 64 two-byte elements, 128 bytes apart: all begin in bank 0.
__device__ inline uint32_t row_major(int row, int col) { return (row * 64 + col) * 2; }

template <int bytes, bool is_store>
__global__ void access_row_major() {
  using W = kittens::detail::word<bytes>;
  const int lane = threadIdx.x;
  // A lane's part of a row, as a register tile in row layout has it.
  const uint32_t offset = row_major(lane % 16, bytes / 2 * (lane / 16));
  char* const tile = &tile_test::lds_tile<char>();
  W value;
  if constexpr (is_store) {
    asm volatile("" : "=v"(value));
    *reinterpret_cast<W*>(tile + offset) = value;
  } else {
    value = *reinterpret_cast<const W*>(tile + offset);
    asm volatile("" ::"v"(value));
  }
}
template <int bytes, bool is_store>
std::pair<double, double> row_major_cost() {
  const auto profile =
      tile_test::counts_of([] { access_row_major<bytes, is_store><<<1, 64, 2048>>>(); });
  EXPECT_EQ(profile["lds_instructions"], 1);
  return {profile["SQ_LDS_IDX_ACTIVE"], profile["lds_bank_conflicts"]};
}
TEST(RowMajorTile, IsCountedWithItsConflicts) {
  using Cost = std::pair<double, double>;
  // 32 bits: two groups of 32 lanes; 16 rows in the bank of column 0, 16 in that of column 2.
  EXPECT_EQ((row_major_cost<4, false>()), Cost(2 * 16, 2 * 15));
  EXPECT_EQ((row_major_cost<4, true>()), Cost(2 * 16, 2 * 15));
  // 64 bits: four groups of 16 lanes, each 16 rows of one column.
  EXPECT_EQ((row_major_cost<8, false>()), Cost(4 * 16, 4 * 15));
  EXPECT_EQ((row_major_cost<8, true>()), Cost(4 * 16, 4 * 15));
  EXPECT_EQ(wave_conflicts(16, 8, [](int lane) { return lane % 16 * 128 + lane / 16 * 8; }), 4 * 15)
      << "the arithmetic of this file agrees";
  // 128-bit reads: eight groups of four rows in one column and four in the next; writes: eight
  // groups of eight rows in one column.
  EXPECT_EQ((row_major_cost<16, false>()), Cost(8 * 4, 8 * 3));
  EXPECT_EQ((row_major_cost<16, true>()), Cost(8 * 8, 8 * 7));
}

}  // namespace
