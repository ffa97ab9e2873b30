// Matrix instructions as the executor runs them: operands in the right registers of the right file,
// the mode that was asked for, C as a constant, the fields that select blocks. The results of an
// instruction are tested in tests/unit/mfma; here the reference of that library gives the expected
// values.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../mfma/operands.h"
#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/program/program.h"
#include "exec/state/wave.h"
#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "isa/decoder.h"
#include "mfma/kernels/reference.h"

namespace margay {
namespace {

using test::Fill;

constexpr unsigned kRows = 256, kFile = 128;  // half VGPRs, half AccVGPRs
constexpr unsigned kD = 0, kA = 64, kB = 80, kC = 96;

class Matrix : public testing::Test {
 protected:
  void SetUp() override {
    auto decoder = isa::Decoder::create(kGfx942);
    ASSERT_TRUE(decoder);
    decoder_ = std::move(*decoder);
    for (std::uint64_t op = 0; op < 128; ++op) {
      const std::uint64_t word = 0b1101'0011'1ull << 23 | op << 16;
      std::array<std::byte, 20> code{};
      std::memcpy(code.data(), &word, sizeof word);
      if (const auto encoded = decoder_->decode(code, 0))
        opcodes_.emplace(std::string(encoded->mnemonic), word);
    }
    wave_.v = v_.data();
    wave_.vgpr_rows = kRows;
    wave_.group = &group_;
    wave_.set_exec(0x5555);  // which matrix instructions do not look at
  }
  void decode(const std::string& mnemonic, std::uint64_t word, Instruction& out) {
    std::array<std::byte, 20> code{};
    std::memcpy(code.data(), &word, sizeof word);
    const auto encoded = decoder_->decode(code, 0);
    ASSERT_TRUE(encoded) << mnemonic;
    ASSERT_EQ(encoded->mnemonic, mnemonic);
    const Row* row = row_table({}, default_gpu().arch())->find(mnemonic);
    ASSERT_NE(row, nullptr);
    const auto bound = bind(*encoded, *row, {.accum_offset = kFile, .vgpr_rows = kRows}, 0);
    ASSERT_TRUE(bound) << bound.error().text();
    out = *bound;
  }
  /// Runs `word` with the register rows as they are.
  void run(const std::string& mnemonic, std::uint64_t word) {
    Instruction i;
    ASSERT_NO_FATAL_FAILURE(decode(mnemonic, word, i));
    wave_.stop = WaveStop::running;
    i.execute(wave_, i);
    ASSERT_EQ(wave_.stop, WaveStop::running) << mnemonic;
  }
  [[nodiscard]] std::uint32_t* row(unsigned number) { return v_.data() + number * kWaveLanes; }
  /// Registers full of normal values of the operands' types.
  void fill(const MfmaShape& shape, unsigned ab_file, unsigned cd_file) {
    using namespace test;
    for (std::uint32_t& word : v_) word = static_cast<std::uint32_t>(random_());
    fill_rows(row(ab_file + kA), shape.a_registers, shape.a, Fill::normal, random_);
    fill_rows(row(ab_file + kB), shape.b_registers, shape.b, Fill::normal, random_);
    for (const unsigned place : {kC, kD})
      fill_rows(row(cd_file + place), shape.d_registers, result_type(shape), Fill::normal, random_);
  }
  void expect_rows(const MfmaShape& shape, const auto& expected) {
    for (std::size_t n = 0; n < kRows * kWaveLanes; ++n)
      ASSERT_EQ(v_[n], expected[n])
          << shape.mnemonic << ": row " << n / kWaveLanes << ", lane " << n % kWaveLanes;
  }

  std::unique_ptr<isa::Decoder> decoder_;
  std::map<std::string, std::uint64_t> opcodes_;
  WorkgroupState group_;
  Wave wave_;
  test::Random random_{5};
  alignas(64) std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> v_{};
};

constexpr std::uint64_t vgpr(unsigned number) { return 256 + number; }

TEST_F(Matrix, Dense) {
  for (const MfmaShape& shape : kMfmaShapes) {
    if (shape.sparse) continue;
    const std::string mnemonic(shape.mnemonic);
    ASSERT_TRUE(opcodes_.contains(mnemonic)) << mnemonic;
    for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma})
      for (const bool ab_acc : {false, true})
        for (const bool cd_acc : {false, true})
          for (const bool constant : {false, true}) {
            const unsigned ab = ab_acc ? kFile : 0, cd = cd_acc ? kFile : 0;
            fill(shape, ab, cd);
            group_.mfma = mode;
            auto expected = v_;
            const auto at = [&](unsigned number) { return &expected[number * kWaveLanes]; };
            MfmaOperands operands{.d = at(cd + kD),
                                  .a = at(ab + kA),
                                  .b = at(ab + kB),
                                  .c = constant ? nullptr : at(cd + kC)};
            if (shape.modifiers == MfmaModifiers::cbsz_abid_blgp) {
              operands.cbsz = 1;
              operands.abid = 1;
            }
            const std::uint64_t word = opcodes_[mnemonic] | kD | std::uint64_t{operands.cbsz} << 8 |
                                       std::uint64_t{operands.abid} << 11 |
                                       std::uint64_t{cd_acc} << 15 | vgpr(kA) << 32 |
                                       vgpr(kB) << 41 | (constant ? 128ull : vgpr(kC)) << 50 |
                                       std::uint64_t{ab_acc} << 59 | std::uint64_t{ab_acc} << 60;
            mfma_reference(shape, mode, operands);
            run(mnemonic, word);
            expect_rows(shape, expected);
            if (HasFailure()) return;
          }
  }
}

TEST_F(Matrix, Sparse) {
  constexpr std::uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  int seen = 0;
  row_table({}, default_gpu().arch())->for_each([&](const Row& r) {
    if (r.shape == nullptr || !r.shape->sparse || r.mnemonic != r.shape->mnemonic) return;
    const MfmaShape& shape = *r.shape;
    const std::string mnemonic(shape.mnemonic);
    ++seen;
    for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma})
      for (const bool acc : {false, true}) {
        const unsigned file = acc ? kFile : 0;
        fill(shape, file, file);
        group_.mfma = mode;
        for (unsigned lane = 0; lane < kWaveLanes; ++lane) {  // the indices are in a VGPR
          std::uint32_t indices = 0;
          for (int n = 0; n < 8; ++n) indices = indices << 4 | kPairs[random_() % 6];
          row(kC)[lane] = indices;
        }
        auto expected = v_;
        const auto at = [&](unsigned number) { return &expected[number * kWaveLanes]; };
        smfmac_reference(
            shape, mode,
            {.d = at(file + kD), .a = at(file + kA), .b = at(file + kB), .index = at(kC)});
        run(mnemonic, opcodes_.at(mnemonic) | kD | std::uint64_t{acc} << 15 | vgpr(kA) << 32 |
                          vgpr(kB) << 41 | vgpr(kC) << 50 | std::uint64_t{acc} << 59 |
                          std::uint64_t{acc} << 60);
        expect_rows(shape, expected);
      }
  });
  EXPECT_EQ(seen, 14);
}

// ---- Another processor -------------------------------------------------------------------------

/// One instruction, which takes longer than on gfx942.
constexpr MatrixInstruction kOneInstruction[] = {{&kMfmaShapes[0], 40}};

TEST(MatrixRows, AreThoseOfTheProcessor) {
  Architecture other = kGfx942;
  other.matrix = kOneInstruction;
  const RowTable& own = *row_table({}, kGfx942);
  const RowTable* const rows = row_table({}, other);
  ASSERT_NE(rows, nullptr);
  std::size_t matrix = 0;
  rows->for_each([&](const Row& row) { matrix += row.shape != nullptr; });
  EXPECT_EQ(matrix, 2u) << "one, by two names";
  const Row* const row = rows->find(kMfmaShapes[0].mnemonic);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->passes, 40);
  EXPECT_NE(own.find(kMfmaShapes[0].mnemonic)->passes, 40);
  EXPECT_EQ(rows->find(kMfmaShapes[1].mnemonic), nullptr);
  EXPECT_NE(own.find(kMfmaShapes[1].mnemonic), nullptr);
  EXPECT_NE(rows->find("v_add_f32"), nullptr);
  other.rows = RowSet::none;
  EXPECT_EQ(row_table({}, other), nullptr);
}

}  // namespace
}  // namespace margay
