// The addresses that are computed for the watchers of a run are the ones that the handlers use:
// with them an instruction does the same when the registers that its addresses come from hold
// something else. For each row that accesses memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "exec/instructions/all_rows.h"
#include "exec/program/lane_access.h"
#include "exec/state/extra.h"
#include "exec/state/memory.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

constexpr unsigned kRows = 32, kAddress = 0, kFirstData = 4, kSecondData = 12, kResult = 20;
// Scalars: a base address, a descriptor, an offset, data, a result.
constexpr unsigned kBase = 0, kResource = 4, kOffset = 8, kScalarData = 16, kScalarResult = 32;
constexpr std::uint32_t kLdsBytes = 8192, kScratchBytes = 256, kBlockBytes = 8192;

struct State {
  alignas(64) std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> rows;
  std::array<std::uint32_t, kScalarRegisters> scalars;
  std::array<std::uint8_t, kLdsBytes> lds;
  alignas(64) std::array<std::uint8_t, kScratchBytes * kWaveLanes> scratch;
  std::array<std::uint8_t, kBlockBytes> block;
  bool operator==(const State&) const = default;
};

class Bench {
 public:
  explicit Bench(const char* level) : rows(row_table(level, default_gpu().arch())) {
    memory_ = std::move(*Memory::create(1 << 22));
    block_ = static_cast<std::uint8_t*>(*memory_->allocate(kBlockBytes, "block"));
    group_.memory = memory_.get();
    group_.range_cache = &ranges_;
    group_.lds = now.lds.data();
    group_.lds_bytes = kLdsBytes;
    group_.scratch_bytes_per_lane = kScratchBytes;
    wave.v = now.rows.data();
    wave.vgpr_rows = kRows;
    wave.group = &group_;
    wave.scratch = now.scratch.data();
  }
  Bench(const Bench&) = delete;

  void fill(const Row& row, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (auto& word : now.rows) word = static_cast<std::uint32_t>(random());
    for (auto& byte : now.lds) byte = static_cast<std::uint8_t>(random());
    for (auto& byte : now.scratch) byte = static_cast<std::uint8_t>(random());
    for (auto& byte : now.block) byte = static_cast<std::uint8_t>(random());
    if (row.is_atomic && row.memory.data_operands == 2) {  // a compare-and-store finds its value
      now.lds.fill(0x40);
      std::fill(now.rows.begin() + kFirstData * kWaveLanes,
                now.rows.begin() + kSecondData * kWaveLanes, 0x4040'4040);
    }
    now.scalars.fill(0x1234);
    const auto base = reinterpret_cast<std::uint64_t>(block_);
    std::memcpy(&now.scalars[kBase], &base, 8);
    const bool swizzled = seed % 4 == 3;  // or a raw buffer, the end of which some lanes reach
    now.scalars[kResource] = static_cast<std::uint32_t>(base);
    now.scalars[kResource + 1] =
        static_cast<std::uint32_t>(base >> 32) | (swizzled ? 1u << 31 | 32u << 16 : 0);
    now.scalars[kResource + 2] = swizzled ? 64 : 2040;
    now.scalars[kResource + 3] = 0xfac | 7u << 12 | 4u << 15 | 3u << 19 | (swizzled ? 1u << 23 : 0);
    now.scalars[kOffset] = 16;
    now.scalars[kM0Index] = 512;
    const std::uint64_t exec = seed % 3 == 0 ? ~0ull : random();
    std::memcpy(&now.scalars[kExecIndex], &exec, 8);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      set_address(row, lane, (random() % (row.memory.path == MemoryPath::scratch ? 20 : 254)) * 8);
  }
  /// The registers that addresses come from hold something else.
  void spoil() {
    for (unsigned n = 0; n < 2 * kWaveLanes; ++n) now.rows[kAddress * kWaveLanes + n] = 0x00ab'cd00;
    for (const unsigned n : {kBase, kBase + 1, kOffset, kM0Index}) now.scalars[n] = 0x00ab'cd00;
  }
  /// The sentence of the fault, if any; the state is then what it left.
  std::string run(const Instruction& i, LaneAccesses* accesses) {
    std::memcpy(block_, now.block.data(), kBlockBytes);
    std::memcpy(wave.s, now.scalars.data(), sizeof now.scalars);
    wave.stop = WaveStop::running;
    wave.error.reset();
    wave.accesses = accesses;
    (void)i.row->plain(wave, i);
    wave.accesses = nullptr;
    std::memcpy(now.scalars.data(), wave.s, sizeof now.scalars);
    std::memcpy(now.block.data(), block_, kBlockBytes);
    return wave.stop == WaveStop::fault ? wave.error->what : std::string();
  }
  void accesses_of(const Instruction& i, LaneAccesses& out) {
    std::memcpy(wave.s, now.scalars.data(), sizeof now.scalars);
    lane_accesses(wave, i, memory_form(i), out);
  }

  const RowTable* rows;
  State now;
  Wave wave;

 private:
  void set_address(const Row& row, unsigned lane, std::uint64_t offset) {
    std::uint64_t address = offset;
    const bool is_flat = row.memory.path == MemoryPath::flat;
    if (is_flat && lane % 5 == 1)
      address = std::uint64_t{kSharedApertureHigh} << 32 | offset;
    else if (is_flat && lane % 5 == 2 && !row.is_atomic)
      address = std::uint64_t{kPrivateApertureHigh} << 32 | offset % 160;
    else if (is_flat || row.memory.path == MemoryPath::global)
      address += reinterpret_cast<std::uint64_t>(block_);
    now.rows[kAddress * kWaveLanes + lane] = static_cast<std::uint32_t>(address);
    now.rows[(kAddress + 1) * kWaveLanes + lane] = static_cast<std::uint32_t>(address >> 32);
  }

  std::unique_ptr<Memory> memory_;
  std::uint8_t* block_ = nullptr;
  RangeCache ranges_;
  WorkgroupState group_;
};

/// With the operands of its path.
Instruction instruction_for(const Row& row, std::uint64_t seed) {
  Instruction i;
  i.row = &row;
  i.offset = seed % 2 == 0 ? 0 : 8;
  i.dst = kResult;
  i.src[0] = Source::vgpr(kAddress);
  i.src[1] = Source::vgpr(kFirstData);
  switch (row.memory.path) {
    case MemoryPath::ds_two:
      i.extra = 0x0201;
      i.offset = 0;
      [[fallthrough]];
    case MemoryPath::ds:
      if (row.address_from_m0) i.src[0] = {};
      i.src[2] = Source::vgpr(kSecondData);
      break;
    case MemoryPath::scratch:
      i.src[2] = Source::scalar(kOffset);
      if (seed % 2 == 0) i.extra = extra::kScratchVaddr;
      break;
    case MemoryPath::buffer:
      i.src[1] = Source::scalar(kResource);
      i.src[2] = Source::scalar(kOffset);
      i.extra = extra::kOffen | extra::kSc0;
      if (seed % 5 == 0) i.extra |= extra::kIdxen;
      if (row.memory.formatted) i.extra |= extra::kFormatted | 4u << 8 | 7u << 12;
      if (seed % 2 == 1 && row.is_load && row.registers == 1 && !row.memory.part.half &&
          !row.memory.typed)
        i.extra |= extra::kToLds;
      break;
    case MemoryPath::scalar:
      i.src[0] = Source::scalar(row.memory.scalar_buffer ? kResource : kBase);
      i.src[1] = Source::scalar(kOffset);
      i.src[2] = Source::scalar(kScalarData);
      i.sdst = kScalarResult;
      i.extra = extra::kSc0;
      break;
    default:
      break;
  }
  return i;
}

class WatchedAddresses : public testing::TestWithParam<const char*> {};

TEST_P(WatchedAddresses, AreTheOnesThatAreUsed) {
  if (row_table(GetParam(), default_gpu().arch()) == nullptr)
    GTEST_SKIP() << "this host or this build does not have " << GetParam();
  const auto bench = std::make_unique<Bench>(GetParam());
  std::size_t rows = 0;
  bench->rows->for_each([&](const Row& row) {
    if (row.memory.path == MemoryPath::none) return;
    SCOPED_TRACE(row.mnemonic);
    ++rows;
    bool mattered = false;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Instruction i = instruction_for(row, seed);
      bench->fill(row, seed);
      const auto before = std::make_unique<State>(bench->now);
      const std::string expected_fault = bench->run(i, nullptr);
      const auto expected = std::make_unique<State>(bench->now);

      bench->now = *before;
      LaneAccesses accesses;
      bench->accesses_of(i, accesses);
      if (accesses.count == 0) continue;
      bench->spoil();
      const auto spoilt = std::make_unique<State>(bench->now);
      const std::string fault = bench->run(i, &accesses);
      for (unsigned n = 0; n < 2 * kWaveLanes; ++n) bench->now.rows[n] = expected->rows[n];
      for (const unsigned n : {kBase, kBase + 1, kOffset, kM0Index})
        bench->now.scalars[n] = expected->scalars[n];
      ASSERT_EQ(fault, expected_fault) << "seed " << seed;
      ASSERT_TRUE(bench->now == *expected) << "seed " << seed;

      // Without them it does something else.
      bench->now = *spoilt;
      mattered |=
          bench->run(i, nullptr) != expected_fault || bench->now.block != expected->block ||
          bench->now.lds != expected->lds || bench->now.scratch != expected->scratch ||
          bench->now.scalars[kScalarResult] != expected->scalars[kScalarResult] ||
          !std::equal(bench->now.rows.begin() + kFirstData * kWaveLanes, bench->now.rows.end(),
                      expected->rows.begin() + kFirstData * kWaveLanes);
    }
    EXPECT_TRUE(mattered);
  });
  EXPECT_GT(rows, 300u);
}

INSTANTIATE_TEST_SUITE_P(HostLevels, WatchedAddresses,
                         testing::Values("generic", "x86-64-v3", "x86-64-v4"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace margay
