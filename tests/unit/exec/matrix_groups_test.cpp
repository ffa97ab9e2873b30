// Matrix instructions that wait for others (exec/instructions/matrix/groups.cpp): every program
// leaves the registers as its instructions do one by one.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/program/program.h"
#include "exec/state/wave.h"
#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "isa/decoder.h"
#include "mfma/mfma.h"

namespace margay {
namespace {

// Results are below kOperands, A and B below kNumbers. The last rows hold bf16 and f32 numbers:
// small integers, so that sums are the same in any order.
constexpr unsigned kOperands = 32, kNumbers = 52, kFloats = 58, kRows = 64;
using Registers = std::array<std::uint32_t, (kRows + kTemporaryRows + kSpareRows) * kWaveLanes>;

/// A mode, and an instruction: its encoding without registers.
struct Case {
  const char* name;
  MfmaMode mode;
  std::uint64_t multiply;
  unsigned results = 8;  ///< Where programs have D: v0, v4 ...
};
// v_mfma_f32_16x16x16_bf16, v_mfma_f32_32x32x8_bf16, v_mfma_i32_16x16x32_i8, v_mfma_i32_32x32x16_i8
constexpr std::uint64_t kBfloats = 0xd3e1, kWideBfloats = 0xd3e0, kBytes = 0xd3d7,
                        kWideBytes = 0xd3d6;

class MatrixGroups : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (std::getenv("MARGAY_BREAK_ROW") != nullptr)
      GTEST_SKIP() << "MARGAY_BREAK_ROW is set: instructions are looked at one by one, in no group";
    auto decoder = isa::Decoder::create(kGfx942);
    ASSERT_TRUE(decoder);
    decoder_ = std::move(*decoder);
    group_.mfma = GetParam().mode;
    wave_.v = v_.data();
    wave_.vgpr_rows = kRows;
    wave_.group = &group_;
    wave_.set_exec(~0ull);
    for (unsigned n = 0; n < kRows * kWaveLanes; ++n) {
      const unsigned row = n / kWaveLanes;
      v_[n] = row < kOperands || row >= kFloats ? small_float() : small_pair();
    }
  }

  void add(std::uint64_t word) {
    std::array<std::byte, 20> code{};
    std::memcpy(code.data(), &word, sizeof word);
    const auto encoded = decoder_->decode(code, 0);
    ASSERT_TRUE(encoded);
    const Row* row = row_table("", default_gpu().arch())->find(encoded->mnemonic);
    ASSERT_NE(row, nullptr) << encoded->mnemonic;
    const auto bound = bind(*encoded, *row, {.accum_offset = kRows, .vgpr_rows = kRows}, 0);
    ASSERT_TRUE(bound) << bound.error().text();
    text_ += std::to_string(program_.size()) + " " + std::string(encoded->mnemonic);
    for (unsigned n = 0; n < 4; ++n)
      text_ += n == 0 ? " v" + std::to_string(bound->dst)
               : n <= row->source_count && bound->src[n - 1].is_vgpr()
                   ? " v" + std::to_string(bound->src[n - 1].index())
                   : "";
    text_ += "\n";
    program_.push_back(*bound);
  }
  /// `c` may be kNoC.
  static constexpr unsigned kNoC = ~0u;
  void multiply(unsigned d, unsigned a, unsigned b, unsigned c) {
    const std::uint64_t of_c = c == kNoC ? 128 : 256 + c;
    add(GetParam().multiply << 16 | d | (256ull + a) << 32 | (256ull + b) << 41 | of_c << 50);
  }
  void multiply(unsigned d, unsigned a, unsigned b) { multiply(d, a, b, d); }
  void move(unsigned to, unsigned from) { add(0x7e000200 | to << 17 | (256 + from)); }
  void nop() { add(0xbf800000); }
  void wait() { add(0xbf8c0000); }
  void barrier() { add(0xbf8a0000); }
  /// EXEC becomes a small number, -1 by default.
  void set_exec(int number = -1) {
    add(0xbe800100 | 126u << 16 | static_cast<unsigned>(number < 0 ? 192 - number : 128 + number));
  }

  struct Steps {
    std::size_t steps = 0, instructions = 0, matrix_instructions = 0;
    bool operator==(const Steps&) const = default;
  };
  /// Compares the program in groups with its instructions one by one.
  Steps run(bool observed = false, const std::vector<std::size_t>& targets = {}) {
    std::vector<bool> is_target(program_.size());
    for (const std::size_t n : targets) is_target[n] = true;
    auto grouped = program_;
    const auto groups =
        group_matrix_instructions(grouped, is_target, kRows + kTemporaryRows, GetParam().mode);
    const Registers before = v_;
    const std::uint64_t exec = wave_.exec();
    group_.observed = false;
    for (const Instruction& i : program_) i.execute(wave_, i);
    const Registers expected = std::exchange(v_, before);
    wave_.set_exec(exec);
    group_.observed = observed;
    wave_.instructions = wave_.mfma_instructions = 0;
    Steps taken;
    for (const Instruction* at = grouped.data(); at < grouped.data() + grouped.size();) {
      const Instruction* next = at->execute(wave_, *at);
      if (next == nullptr) next = wave_.next;  // a barrier
      wave_.stop = WaveStop::running;
      if (observed) EXPECT_EQ(next - at, matrix_run_length(*at));
      at = next;
      ++taken.steps;
    }
    taken.instructions = wave_.instructions + taken.steps;
    taken.matrix_instructions = wave_.mfma_instructions;
    for (unsigned n = 0; n < kRows * kWaveLanes; ++n)
      if (v_[n] != expected[n]) {
        ADD_FAILURE() << "row " << n / kWaveLanes << ", lane " << n % kWaveLanes << "\n" << text_;
        break;
      }
    v_ = before;
    wave_.set_exec(exec);
    return taken;
  }
  /// A program of `count` instructions, and which of them can be branched to.
  std::vector<std::size_t> make_program(std::size_t count) {
    program_.clear();
    text_.clear();
    std::vector<std::size_t> targets;
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random_() % n); };
    while (program_.size() < count) {
      if (below(40) == 0) targets.push_back(program_.size());
      const unsigned kind = below(100), d = below(GetParam().results) * 4;
      const unsigned a = kOperands + below(18), b = kOperands + below(18);
      if (kind < 55)
        multiply(d, a, b);
      else if (kind < 65)
        multiply(below(4) == 0 ? below(GetParam().results * 4 - 3) : d, a, b,
                 below(3) == 0 ? kNoC : below(GetParam().results) * 4);
      else if (kind < 80)
        move(kOperands + below(20), kNumbers + below(6));
      else if (kind < 88)
        move(below(kOperands), kFloats + below(5));
      else if (kind < 91)
        move(kRows - 1, below(kOperands));
      else if (kind < 94)
        set_exec(below(2) == 0 ? -1 : static_cast<int>(below(30)));
      else
        (this->*(below(2) == 0 ? &MatrixGroups::wait : &MatrixGroups::nop))();
    }
    return targets;
  }

  std::unique_ptr<isa::Decoder> decoder_;
  std::vector<Instruction> program_;
  std::string text_;
  WorkgroupState group_;
  Wave wave_;
  std::mt19937 random_{7};
  alignas(64) Registers v_{};

 private:
  std::uint32_t small_float() {
    const auto value = static_cast<float>(static_cast<int>(random_() % 9) - 4);
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  std::uint32_t small_pair() { return small_float() >> 16 | small_float(); }
};

TEST_P(MatrixGroups, WaitOverPausesUnlessTheyAreObserved) {
  multiply(0, 32, 40);
  wait();
  multiply(4, 34, 40);
  multiply(8, 36, 40);
  nop();
  multiply(12, 38, 40);
  barrier();
  multiply(16, 32, 40);
  EXPECT_EQ(run(), (Steps{3, 8, 5}));
  EXPECT_EQ(run(true), (Steps{7, 8, 5}));
  // Something may branch into the middle.
  EXPECT_EQ(run(false, {3}), (Steps{5, 8, 5}));
  EXPECT_EQ(run(true, {3}), (Steps{8, 8, 5}));
}

TEST_P(MatrixGroups, KeepOperandsThatAreOverwritten) {
  multiply(0, 32, 40);
  multiply(4, 34, 40);
  move(33, kNumbers);  // the upper half of the first A
  move(40, kNumbers + 1);
  multiply(0, 32, 40);
  EXPECT_EQ(run(), (Steps{5, 5, 3}));
}

TEST_P(MatrixGroups, EndWhereAResultIsRead) {
  multiply(0, 32, 40);
  multiply(4, 34, 40);
  move(kRows - 1, 2);
  multiply(8, 34, 40);
  EXPECT_EQ(run(), (Steps{4, 4, 3}));
  program_.clear();
  multiply(0, 32, 40);
  multiply(4, 34, 40);
  multiply(8, 2, 40);  // A is the first one's result
  multiply(12, 34, 40);
  run();
}

TEST_P(MatrixGroups, AResultMayBeOverwrittenUnread) {
  // The accumulator moves from v0 to v8, as compilers have it; v1 and v2 are then used for others.
  multiply(0, 32, 40);
  multiply(4, 34, 40);
  multiply(8, 36, 40, 0);
  move(1, kFloats);
  move(2, kFloats + 1);
  multiply(8, 38, 40);
  EXPECT_EQ(run(), (Steps{5, 6, 4}));
  // Lanes that are off keep the result.
  wave_.set_exec(0x5555);
  EXPECT_EQ(run().matrix_instructions, 4u);
}

TEST_P(MatrixGroups, AResultThatIsOverwrittenMayHaveBeenReadTwice) {
  multiply(0, 32, 40);
  multiply(4, 34, 40, 0);
  multiply(8, 36, 40, 0);
  for (const unsigned n : {0u, 1u, 2u, 3u}) move(n, kFloats + n);
  multiply(12, 38, 40);
  EXPECT_EQ(run().matrix_instructions, 4u);
}

TEST_P(MatrixGroups, ResultsMoveInTurn) {
  // Up, so that each takes the place of the next one, which has gone; then down.
  for (const unsigned n : {0u, 1u, 2u, 3u}) multiply(n * 4, 32, 40 + n);
  for (const unsigned n : {3u, 2u, 1u, 0u}) multiply(n * 4 + 4, 34, 40 + n, n * 4);
  for (const unsigned n : {0u, 1u, 2u, 3u}) multiply(n * 4, 36, 40 + n, n * 4 + 4);
  EXPECT_EQ(run().matrix_instructions, 12u);
  program_.clear();
  // Each takes the place of another, which none can leave first.
  for (const unsigned n : {0u, 1u, 2u}) multiply(n * 4, 32, 40 + n);
  multiply(12, 34, 40, 0);
  multiply(0, 34, 41, 4);
  multiply(4, 34, 42, 8);
  multiply(8, 36, 43, 12);
  EXPECT_EQ(run().matrix_instructions, 7u);
}

TEST_P(MatrixGroups, WhatAResultLeavesIsReadBefore) {
  multiply(8, 32, 40);
  multiply(8, 34, 0);  // B is where the next one's result is for a while
  multiply(0, 36, 40, kNoC);
  multiply(4, 38, 42, 0);
  EXPECT_EQ(run().matrix_instructions, 4u);
}

TEST_P(MatrixGroups, AResultGoesWhereALaterOneWas) {
  for (const unsigned n : {0u, 1u, 2u, 3u, 4u}) multiply(n * 4, 32, 40 + n);
  multiply(24, 34, 44, 16);
  multiply(28, 36, 44, 24);
  multiply(24, 34, 40, 0);
  for (const unsigned n : {1u, 2u, 3u}) multiply(n * 4, 34, 40 + n);
  EXPECT_EQ(run().matrix_instructions, 11u);
}

TEST_P(MatrixGroups, TheNextGroupMayRunOneByOne) {
  multiply(0, 32, 40);
  multiply(16, 34, 40);
  multiply(0, 16, 40);  // A is the second one's result
  multiply(24, 36, 40);
  move(1, kFloats);  // the lanes that are off keep a result
  wave_.set_exec(0x5555);
  EXPECT_EQ(run().matrix_instructions, 4u);
}

TEST_P(MatrixGroups, AnyProgram) {
  for (unsigned n = 0; n < 3000; ++n) {
    const auto targets = make_program(20 + n % 60);
    run(false, targets);
    if (HasFailure()) {
      ADD_FAILURE() << "program " << n;
      return;
    }
    if (n % 16 == 0) run(true, targets);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, MatrixGroups,
                         testing::Values(Case{"exact", MfmaMode::exact, kBfloats},
                                         Case{"fma", MfmaMode::fma, kBfloats},
                                         Case{"fast", MfmaMode::fast, kBfloats},
                                         Case{"wide_exact", MfmaMode::exact, kWideBfloats, 5},
                                         Case{"wide_fast", MfmaMode::fast, kWideBfloats, 5},
                                         Case{"bytes", MfmaMode::exact, kBytes},
                                         // D has 16 registers, some of which are those of A and B.
                                         Case{"wide_bytes", MfmaMode::exact, kWideBytes}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace margay
