// Loads and stores of whole dwords, for lanes that are side by side in memory and for lanes that
// are nearly so: the patterns between which the executor chooses its ways of moving data. Compared
// with a loop that moves dword by dword.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "exec/instructions/all_rows.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

constexpr unsigned kAddress = 0, kData = 4, kRows = 8;
constexpr std::uint32_t kBytes = 2048;

/// The place of each lane's data, counted in its size.
using Pattern = std::array<std::uint32_t, kWaveLanes>;

std::vector<Pattern> patterns() {
  Pattern in_order;
  std::iota(in_order.begin(), in_order.end(), 0u);
  std::vector<Pattern> all = {in_order};
  // One lane is elsewhere; two are exchanged; all but the first two and the last are.
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    all.push_back(in_order);
    all.back()[lane] = lane ^ 5;
    all.push_back(in_order);
    std::swap(all.back()[lane], all.back()[(lane * 7 + 3) % kWaveLanes]);
  }
  Pattern inner = in_order;
  std::reverse(inner.begin() + 2, inner.end() - 1);
  all.push_back(inner);
  Pattern descending = in_order;
  std::reverse(descending.begin(), descending.end());
  all.push_back(descending);
  all.push_back({});  // all lanes at one place
  // Rows of a matrix, four lanes each; and the same with two lanes exchanged.
  Pattern blocks;
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) blocks[lane] = lane ^ 0x34;
  all.push_back(blocks);
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    all.push_back(blocks);
    std::swap(all.back()[lane], all.back()[(lane + 1) % kWaveLanes]);
  }
  // An operand of a matrix instruction: lanes n, n + 16, n + 32 and n + 48 have row n's four
  // pieces, in order or swizzled; and the same with two lanes exchanged.
  for (const bool is_swizzled : {false, true}) {
    Pattern operand;
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      const unsigned row = lane % 16, piece = lane / 16;
      operand[lane] = (15 - row) * 4 + (is_swizzled ? piece ^ (row * 7 / 4 & 3) : piece);
    }
    all.push_back(operand);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      all.push_back(operand);
      std::swap(all.back()[lane], all.back()[(lane + 16) % kWaveLanes]);
    }
  }
  return all;
}

struct Form {
  std::string_view mnemonic;
  unsigned dwords;
  bool is_lds, is_store;
};
constexpr Form kForms[] = {
    {"ds_read_b32", 1, true, false},          {"ds_read_b64", 2, true, false},
    {"ds_read_b96", 3, true, false},          {"ds_read_b128", 4, true, false},
    {"ds_write_b32", 1, true, true},          {"ds_write_b64", 2, true, true},
    {"ds_write_b96", 3, true, true},          {"ds_write_b128", 4, true, true},
    {"global_load_dword", 1, false, false},   {"global_load_dwordx2", 2, false, false},
    {"global_load_dwordx3", 3, false, false}, {"global_load_dwordx4", 4, false, false},
    {"global_store_dword", 1, false, true},   {"global_store_dwordx2", 2, false, true},
    {"global_store_dwordx3", 3, false, true}, {"global_store_dwordx4", 4, false, true},
};

struct State {
  alignas(64) std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> rows;
  alignas(64) std::array<std::uint32_t, kBytes / 4> memory;
};

/// Dword d of a lane is row kData + d; the lowest lane goes first.
void move_dwords(const Form& form, const Pattern& at, std::uint64_t exec, State& state) {
  for (unsigned lane = 0; lane < kWaveLanes; ++lane)
    for (unsigned d = 0; d < form.dwords && (exec >> lane & 1) != 0; ++d) {
      std::uint32_t& value = state.rows[(kData + d) * kWaveLanes + lane];
      std::uint32_t& place = state.memory[at[lane] * form.dwords + d];
      form.is_store ? place = value : value = place;
    }
}

TEST(LanePatterns, MoveWhatLaneByLaneMoves) {
  for (const std::string_view level : {"generic", "x86-64-v3", "x86-64-v4"}) {
    const RowTable* const table = row_table(level, default_gpu().arch());
    if (table == nullptr) continue;  // not this host, or not this build
    for (const Form& form : kForms) {
      const Row* const row = table->find(form.mnemonic);
      ASSERT_NE(row, nullptr) << form.mnemonic;
      for (const Pattern& at : patterns())
        for (const std::uint64_t exec : {~0ull, ~0ull >> 1, 0x0f0f'3333'5555'ff00ull}) {
          State state;
          std::iota(state.rows.begin(), state.rows.end(), 0x1000'0000u);
          std::iota(state.memory.begin(), state.memory.end(), 0x2000'0000u);
          WorkgroupState group;
          group.lds = reinterpret_cast<std::uint8_t*>(state.memory.data());
          group.lds_bytes = form.is_lds ? kBytes : 0;
          Wave wave;
          wave.v = state.rows.data();
          wave.vgpr_rows = kRows;
          wave.group = &group;
          wave.set_exec(exec);
          const auto begin = reinterpret_cast<std::uint64_t>(state.memory.data());
          wave.ranges[0] = {begin, begin + kBytes};

          Instruction i;
          i.row = row;
          i.execute = row->plain;
          i.src[0] = Source::vgpr(kAddress);
          i.src[1] = Source::vgpr(kData);
          i.dst = kData;
          for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
            const std::uint64_t place = (form.is_lds ? 0 : begin) + at[lane] * form.dwords * 4;
            state.rows[kAddress * kWaveLanes + lane] = static_cast<std::uint32_t>(place);
            state.rows[(kAddress + 1) * kWaveLanes + lane] =
                static_cast<std::uint32_t>(place >> 32);
          }
          State expected = state;
          move_dwords(form, at, exec, expected);
          ASSERT_NE(row->plain(wave, i), nullptr) << form.mnemonic;
          ASSERT_EQ(state.rows, expected.rows) << level << " " << form.mnemonic;
          ASSERT_EQ(state.memory, expected.memory) << level << " " << form.mnemonic;
        }
    }
  }
}

// A load may write the register that holds its addresses.
TEST(LanePatterns, LoadsMayOverwriteTheirAddresses) {
  constexpr unsigned rows = 16, address = 4, elsewhere = 12;
  constexpr std::string_view kLoads[] = {
      "ds_read_u8",   "ds_read_u16_d16_hi", "ds_read_b32",  "ds_read_b64",      "ds_read_b96",
      "ds_read_b128", "ds_read2_b32",       "ds_read2_b64", "ds_read2st64_b32", "ds_read2st64_b64"};
  for (const std::string_view level : {"generic", "x86-64-v3", "x86-64-v4"}) {
    const RowTable* const table = row_table(level, default_gpu().arch());
    if (table == nullptr) continue;  // not this host, or not this build
    for (const std::string_view mnemonic : kLoads) {
      const Row* const row = table->find(mnemonic);
      ASSERT_NE(row, nullptr) << mnemonic;
      for (const Pattern& at : patterns())
        for (std::uint16_t dst = 1; dst <= address; ++dst) {
          const auto run = [&](unsigned addresses) {
            alignas(64) std::array<std::uint32_t, (rows + kTemporaryRows) * kWaveLanes> v{};
            alignas(64) std::array<std::uint32_t, 4096> memory;
            std::iota(memory.begin(), memory.end(), 0x2000'0000u);
            for (unsigned lane = 0; lane < kWaveLanes; ++lane)
              v[addresses * kWaveLanes + lane] = at[lane] * 16;
            WorkgroupState group;
            group.lds = reinterpret_cast<std::uint8_t*>(memory.data());
            group.lds_bytes = sizeof memory;
            Wave wave;
            wave.v = v.data();
            wave.vgpr_rows = rows;
            wave.group = &group;
            wave.set_exec(~0ull);
            Instruction i;
            i.row = row;
            i.src[0] = Source::vgpr(addresses);
            i.dst = dst;
            i.extra = 0x0301;
            EXPECT_NE(row->plain(wave, i), nullptr);
            return std::vector(v.begin() + dst * kWaveLanes,
                               v.begin() + (dst + row->registers) * kWaveLanes);
          };
          ASSERT_EQ(run(address), run(elsewhere)) << level << " " << mnemonic << " to " << dst;
        }
    }
  }
}

}  // namespace
}  // namespace margay
