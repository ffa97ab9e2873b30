// Every vector instruction gives the same bits on every host level, with and without modifiers,
// under any EXEC, through SDWA and DPP. Operands are random, with the values where levels differ.
//
// Which NaN an operation on NaNs gives is not documented, and hosts differ in it: any NaN equals
// any other here.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

constexpr unsigned kRows = 16;
constexpr std::uint32_t kLdsBytes = 2048;

/// A wave with its registers and LDS, comparable with another.
class Bench {
 public:
  Bench() {
    group_.lds = lds_.data();
    group_.lds_bytes = kLdsBytes;
    wave.v = rows_.data();
    wave.vgpr_rows = kRows;
    wave.group = &group_;
  }
  Bench(const Bench&) = delete;

  /// The same state for the same seed.
  void fill(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::uint32_t& word : rows_) word = value(random);
    for (unsigned n = 0; n < 100; ++n) wave.s[n] = value(random);
    for (std::uint8_t& byte : lds_) byte = static_cast<std::uint8_t>(random());
    wave.set_scalar64(kVccIndex, random());
    wave.s[kM0Index] = static_cast<std::uint32_t>(random());
    wave.set_exec(seed % 3 == 0 ? ~0ull : seed % 3 == 1 ? random() : random() & random());
    wave.scc = random() & 1;
    wave.stop = WaveStop::running;
    wave.error.reset();
  }
  /// Addresses that LDS instructions can use, in row 0.
  void fill_addresses(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      wave.v[lane] = static_cast<std::uint32_t>(random() % (kLdsBytes + 64));
  }
  /// Makes all NaNs in `count` rows from `first` on one NaN of the result's kind.
  void unify_nans(OperandType type, unsigned first, unsigned count) {
    for (unsigned n = first * kWaveLanes; n < (first + count) * kWaveLanes; ++n) {
      std::uint32_t& word = rows_[n];
      if (type == OperandType::f32 && (word & 0x7fffffff) > 0x7f800000) word = 0x7fc00000;
      if (type == OperandType::f16)
        for (const unsigned shift : {0u, 16u})
          if ((word >> shift & 0x7fff) > 0x7c00)
            word = (word & ~(0xffffu << shift)) | 0x7e00u << shift;
      if (type != OperandType::f64 || n / kWaveLanes % 2 != 0) continue;
      std::uint32_t& high = rows_[n + kWaveLanes];
      if ((high & 0x7fffffff) > 0x7ff00000 || ((high & 0x7fffffff) == 0x7ff00000 && word != 0)) {
        high = 0x7ff80000;
        word = 0;
      }
    }
  }
  [[nodiscard]] std::string difference(const Bench& other) const {
    for (unsigned n = 0; n < kRows * kWaveLanes; ++n)
      if (rows_[n] != other.rows_[n])
        return "v" + std::to_string(n / kWaveLanes) + " lane " + std::to_string(n % kWaveLanes) +
               ": " + hex(rows_[n]) + " and " + hex(other.rows_[n]);
    for (unsigned n = 0; n < kScalarRegisters; ++n)
      if (wave.s[n] != other.wave.s[n])
        return "scalar " + std::to_string(n) + ": " + hex(wave.s[n]) + " and " +
               hex(other.wave.s[n]);
    if (lds_ != other.lds_) return "LDS";
    if (wave.scc != other.wave.scc) return "SCC";
    return {};
  }

  Wave wave;

 private:
  static std::string hex(std::uint32_t value) {
    char text[12];
    std::snprintf(text, sizeof text, "%08x", value);
    return text;
  }
  static std::uint32_t value(std::mt19937_64& random) {
    constexpr std::array<std::uint32_t, 32> kCorners = {
        0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x800000,   0x3f800000,
        0xbf800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffa00000,
        0x4f000000, 0xcf000000, 0x4f800000, 0x3effffff, 0x3f7fffff, 0x4b000001, 0x7c007c01,
        0xfc017e00, 0x3c00bc00, 0x00010400, 0x7bff8001, 0x3ff00000, 0x7ff00000, 0x7ff80000,
        0x7ff00001, 0x000fffff, 0x41e00000, 0xffffffff};
    switch (random() % 4) {
      case 0:
        return kCorners[random() % kCorners.size()];
      case 1:
        return static_cast<std::uint32_t>(random() % 80);
      default:
        return static_cast<std::uint32_t>(random());
    }
  }
  alignas(64) std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> rows_ = {};
  alignas(64) std::array<std::uint8_t, kLdsBytes + 64> lds_ = {};
  WorkgroupState group_;
};

class HostLevels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    table_ = row_table(GetParam(), default_gpu().arch());
    // A host without AVX2 or AVX-512 cannot execute what is compiled for it, so there is nothing to
    // compare; the levels it has are still compared.
    if (table_ == nullptr) GTEST_SKIP() << "this host or this build does not have " << GetParam();
    generic_ = row_table("generic", default_gpu().arch());
    if (generic_ == nullptr) GTEST_SKIP() << "this build does not have the generic level";
  }
  /// Runs `instruction` from the same state with both levels' rows.
  void compare(const Row& row, const Row& other, const Instruction& instruction, bool modified,
               Handler wrapper, std::uint64_t seed) {
    Bench& a = *one_;
    Bench& b = *two_;
    for (Bench* const bench : {&a, &b}) {
      Instruction i = instruction;
      i.row = bench == &a ? &row : &other;
      bench->fill(seed);
      if (row.instruction_class == InstructionClass::lds) bench->fill_addresses(seed);
      const Handler handler = wrapper != nullptr ? wrapper
                              : modified         ? i.row->modified
                                                 : i.row->plain;
      (void)handler(bench->wave, i);
      const bool packed = row.result == OperandType::u64 || row.result == OperandType::u32;
      OperandType type = row.result;
      if (packed && row.takes_signs && row.plain != nullptr)
        type = row.sources[0] == OperandType::f16 ? OperandType::f16 : OperandType::f32;
      const bool floating =
          row.takes_output || row.result == OperandType::f32 || type != row.result;
      if (floating) bench->unify_nans(type, i.dst, is_64_bit(row.result) ? 2 : 1);
      // Halves of a register that mixed-precision instructions write.
      if (row.mnemonic.starts_with("v_fma_mix")) bench->unify_nans(OperandType::f16, i.dst, 1);
    }
    const std::string difference = a.difference(b);
    if (!difference.empty() && ++shown_ < 40)
      ADD_FAILURE() << row.mnemonic << (modified ? " modified" : "") << ", seed " << seed << ": "
                    << difference;
  }

  const RowTable *table_ = nullptr, *generic_ = nullptr;
  std::unique_ptr<Bench> one_ = std::make_unique<Bench>(), two_ = std::make_unique<Bench>();
  int shown_ = 0;
};

/// Sources and destinations that do not overlap, or (odd seeds) that do; scalars and constants too.
Instruction instruction_for(const Row& row, std::uint64_t seed) {
  Instruction i;
  const bool overlapping = seed & 1;
  i.dst = overlapping ? 0 : 12;
  i.sdst = 20;
  std::mt19937_64 random(seed * 7 + 1);
  for (unsigned n = 0; n < 3; ++n) {
    i.src[n] = Source::vgpr(n * 4);
    i.constant[n] = random() % 2 ? random() % 64 : 0x3f800000;
  }
  if (seed % 5 == 4 && row.source_count > 0) i.src[0] = Source::scalar(30);
  if (seed % 5 == 3 && row.source_count > 1) i.src[1] = Source::constant();
  if (row.reads_vcc && row.source_count <= 3) i.src[row.source_count - 1] = Source::scalar(40);
  if (row.accumulates) i.src[row.source_count - 1] = Source::vgpr(i.dst);
  return i;
}
Modifiers modifiers_for(const Row& row, std::mt19937_64& random) {
  Modifiers m;
  if (row.takes_signs) m.negate = random() & 7, m.absolute = random() & 7;
  if (row.takes_halves) m.op_select = random() & 15;
  if (row.takes_output) m.output = random() & 3;
  if (row.takes_clamp) m.clamp = random() & 1;
  return m;
}

TEST_P(HostLevels, VectorAluAgrees) {
  std::size_t rows = 0;
  generic_->for_each([&](const Row& row) {
    if (row.instruction_class != InstructionClass::valu) return;
    const Row* const other = table_->find(row.mnemonic);
    ASSERT_NE(other, nullptr) << row.mnemonic;
    ++rows;
    const bool lane = row.lane != LaneOperation::none;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Instruction i = instruction_for(row, seed);
      std::mt19937_64 random(seed);
      if (lane && row.source_count > 1) i.src[1] = Source::scalar(31);
      if (row.mnemonic == "v_swap_b32") i.src[0] = Source::vgpr(4);
      i.extra = static_cast<std::uint32_t>(random() & 0x1fff);  // modifiers of packed rows
      compare(row, *other, i, false, nullptr, seed);
      if (row.modified == nullptr) continue;
      i.modifiers = modifiers_for(row, random);
      compare(row, *other, i, true, nullptr, seed);
      if (row.source_count > 2 || row.writes_exec || is_64_bit(row.sources[0])) continue;
      i = instruction_for(row, seed & ~7ull);
      i.extra = static_cast<std::uint32_t>(random()) & 0x06060600;  // SDWA: bytes and words
      if (row.takes_output) i.extra |= 0x600;                       // not parts of a NaN
      compare(row, *other, i, false, run_sdwa, seed);
      i.extra = 0xff000000 | (static_cast<std::uint32_t>(random()) & 0x000ff) << 8;  // quad_perm
      compare(row, *other, i, false, run_dpp, seed);
    }
  });
  EXPECT_GT(rows, 400u);
}

TEST_P(HostLevels, LdsAgrees) {
  std::size_t rows = 0;
  generic_->for_each([&](const Row& row) {
    if (row.instruction_class != InstructionClass::lds) return;
    const Row* const other = table_->find(row.mnemonic);
    ASSERT_NE(other, nullptr) << row.mnemonic;
    ++rows;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Instruction i;
      i.src[0] = Source::vgpr(0);
      i.src[1] = Source::vgpr(4);
      i.src[2] = Source::vgpr(8);
      i.dst = seed % 2 ? 0 : 12;
      i.extra = static_cast<std::uint32_t>(seed) * 0x0301 & 0xffff;
      i.offset = static_cast<std::int32_t>(seed * 9);
      compare(row, *other, i, false, nullptr, seed);
    }
  });
  EXPECT_GT(rows, 80u);
}

INSTANTIATE_TEST_SUITE_P(AgainstGeneric, HostLevels, testing::Values("x86-64-v3", "x86-64-v4"));

}  // namespace
}  // namespace margay
