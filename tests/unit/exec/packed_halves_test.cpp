// Packed f16 instructions on all lanes at once, which have a way of their own without modifiers,
// against the same instruction on one lane after another.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string_view>

#include "exec/instructions/all_rows.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

constexpr unsigned kFirstSource = 0, kResult = 3, kRows = 4;
struct alignas(64) Rows : std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> {};

/// Pairs of f16, finite; every tenth an infinity, a NaN or a denormal where `extreme`.
void fill(Rows& rows, std::mt19937& random, bool extreme) {
  const auto half = [&] {
    const auto bits = static_cast<std::uint32_t>(random() & 0xffff);
    if (extreme && random() % 10 == 0)
      return random() % 2 == 0 ? (bits & 0x83ff)
                               : 0x7c00u | (random() % 2 == 0 ? bits & 0x83ff : 0);
    return (bits & 0x7c00) == 0x7c00 ? bits & 0xbfff : bits;
  };
  for (std::uint32_t& word : rows) word = half() | half() << 16;
}

void run(const Row& row, Rows& rows, std::uint64_t exec, std::uint32_t modifiers) {
  WorkgroupState group;
  Wave wave;
  wave.v = rows.data();
  wave.vgpr_rows = kRows;
  wave.group = &group;
  wave.set_exec(exec);
  Instruction i;
  i.row = &row;
  i.execute = row.plain;
  i.src[0] = Source::vgpr(kFirstSource);
  i.src[1] = Source::vgpr(kFirstSource + 1);
  if (row.source_count == 3) i.src[2] = Source::vgpr(kFirstSource + 2);
  i.dst = kResult;
  i.extra = modifiers;
  ASSERT_NE(row.plain(wave, i), nullptr);
}

TEST(PackedHalves, AllLanesAreAsEachLane) {
  // op_sel_hi as assemblers write it; another op_sel; a sign; clamp.
  constexpr std::uint32_t usual = 7u << 3;
  std::mt19937 random(1);
  for (const std::string_view level : {"generic", "x86-64-v3", "x86-64-v4"}) {
    const RowTable* const table = row_table(level, default_gpu().arch());
    if (table == nullptr) continue;  // not this host, or not this build
    for (const std::string_view name :
         {"v_pk_add_f16", "v_pk_mul_f16", "v_pk_fma_f16", "v_pk_min_f16", "v_pk_max_f16"}) {
      const Row* const row = table->find(name);
      ASSERT_NE(row, nullptr) << name;
      for (const std::uint32_t modifiers :
           {usual, usual | 1, 5u << 3, usual | 1 << 6, usual | 1 << 12})
        for (int round = 0; round < 60; ++round) {
          Rows rows;
          fill(rows, random, round % 2 == 1);
          // A signalling and a quiet NaN, in one half of one lane.
          if (round % 5 == 4)
            reinterpret_cast<std::uint16_t*>(rows.data())[random() % (3 * 2 * kWaveLanes)] =
                round % 10 == 4 ? 0x7c01 : 0x7e01;
          Rows each = rows;
          run(*row, rows, ~0ull, modifiers);
          for (unsigned lane = 0; lane < kWaveLanes; ++lane)
            run(*row, each, 1ull << lane, modifiers);
          ASSERT_EQ(rows, each) << level << " " << name << ", modifiers " << modifiers;
        }
    }
  }
}

}  // namespace
}  // namespace margay
