// What lane_accesses says an LDS instruction touches, against what it touches when it runs: every
// byte that changes was announced as written, no byte that was not announced as read has a say in
// the result, and what was announced does matter.
#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <cstring>
#include <random>

#include "exec/instructions/all_rows.h"
#include "exec/program/lane_access.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

constexpr unsigned kRows = 24, kAddress = 0, kFirstData = 4, kSecondData = 8, kResult = 12;
constexpr std::uint32_t kLdsBytes = 2048;
using Bytes = std::bitset<kLdsBytes>;

struct State {
  alignas(64) std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> rows;
  std::array<std::uint8_t, kLdsBytes> lds;
};

class Machine {
 public:
  Machine() {
    group_.lds = now.lds.data();
    group_.lds_bytes = kLdsBytes;
    wave.v = now.rows.data();
    wave.vgpr_rows = kRows;
    wave.group = &group_;
  }
  Machine(const Machine&) = delete;
  void fill(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::uint32_t& word : now.rows) word = static_cast<std::uint32_t>(random());
    for (std::uint8_t& byte : now.lds) byte = static_cast<std::uint8_t>(random());
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)  // aligned, and some beyond the end
      now.rows[kAddress * kWaveLanes + lane] =
          static_cast<std::uint32_t>(random() % (kLdsBytes + 128)) & ~7u;
    wave.s[kM0Index] = static_cast<std::uint32_t>(random() % kLdsBytes) & ~3u;
    wave.set_exec(seed % 3 == 0 ? ~0ull : random());
  }
  /// Makes the first data what is in memory: what a compare-and-store waits for.
  void expect_memory(const LaneAccess& access) {
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      for (unsigned byte = 0; byte < access.bytes; byte += 4)
        if (access.at[lane] + access.bytes <= kLdsBytes)
          std::memcpy(&now.rows[(kFirstData + byte / 4) * kWaveLanes + lane],
                      &now.lds[access.at[lane] + byte], 4);
  }
  State now;
  Wave wave;

 private:
  WorkgroupState group_;
};

Instruction instruction_for(const Row& row, std::uint64_t seed) {
  Instruction i;
  i.row = &row;
  i.execute = row.plain;
  if (!row.address_from_m0) i.src[0] = Source::vgpr(kAddress);
  i.src[1] = Source::vgpr(kFirstData);
  i.src[2] = Source::vgpr(kSecondData);
  i.dst = kResult;
  i.offset = static_cast<std::int32_t>(seed * 40 & 0xff8);
  i.extra = static_cast<std::uint32_t>(seed) * 0x0301 & 0x1f1f;
  if (memory_form(i).path == MemoryForm::Path::ds_two) i.offset = 0;
  return i;
}
/// The bytes of the accesses that `chosen` names.
template <typename Chosen>
Bytes bytes_of(const LaneAccesses& accesses, Chosen chosen) {
  Bytes out;
  for (std::uint32_t n = 0; n < accesses.count; ++n) {
    const LaneAccess& access = accesses.access[n];
    EXPECT_EQ(access.space, MemorySpace::lds);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      for (unsigned byte = 0; byte < access.bytes; ++byte)
        if (chosen(access) && (access.active >> lane & 1) && access.at[lane] + byte < kLdsBytes)
          out.set(access.at[lane] + byte);
  }
  return out;
}

TEST(LdsAccess, IsWhatAnInstructionTouches) {
  unsigned rows = 0;
  row_table({}, default_gpu().arch())->for_each([&](const Row& row) {
    if (row.instruction_class != InstructionClass::lds) return;
    const bool lane_exchange = !row.is_load && !row.is_atomic && row.returns_value;
    ++rows;
    std::size_t changed = 0, mattered = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Machine machine;
      machine.fill(seed);
      const Instruction i = instruction_for(row, seed);
      const MemoryForm form = memory_form(i);
      LaneAccesses accesses;
      lane_accesses(machine.wave, i, form, accesses);
      ASSERT_EQ(accesses.count == 0, lane_exchange) << row.mnemonic;
      const Bytes written = bytes_of(accesses, [](const LaneAccess& a) { return a.is_write; });
      const Bytes read = bytes_of(accesses, [](const LaneAccess& a) { return a.is_read; });

      if (row.mnemonic.starts_with("ds_cmpst")) machine.expect_memory(accesses.access[0]);
      const State before = machine.now;
      ASSERT_NE(row.plain(machine.wave, i), nullptr) << row.mnemonic;
      const State after = machine.now;
      for (std::uint32_t at = 0; at < kLdsBytes; ++at) {
        if (before.lds[at] == after.lds[at]) continue;
        ++changed;
        ASSERT_TRUE(written[at]) << row.mnemonic << ", seed " << seed << ": byte " << at;
      }
      // Again with other bytes where nothing is read according to it: the same results.
      machine.now = before;
      for (std::uint32_t at = 0; at < kLdsBytes; ++at)
        if (!read[at]) machine.now.lds[at] ^= 0xa5;
      (void)row.plain(machine.wave, i);
      ASSERT_EQ(machine.now.rows, after.rows) << row.mnemonic << ", seed " << seed;
      // And with other bytes where something is.
      machine.now = before;
      for (std::uint32_t at = 0; at < kLdsBytes; ++at)
        if (read[at]) machine.now.lds[at] ^= 0xa5;
      (void)row.plain(machine.wave, i);
      mattered += machine.now.rows != after.rows;
    }
    EXPECT_EQ(changed > 0, row.is_atomic || (row.is_store && !lane_exchange)) << row.mnemonic;
    EXPECT_EQ(mattered > 0, row.is_load || (row.is_atomic && row.returns_value)) << row.mnemonic;
  });
  EXPECT_GT(rows, 100u);
}

}  // namespace
}  // namespace margay
