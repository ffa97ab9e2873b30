// The issue rules against sequences that were measured on gfx942.
// Source: tingqli/pyhip, tests/flydsl/attn_4wave/tools/mfma-valu-coissue.md (one million groups,
// s_memtime, median of five).
#include "timing/compute_unit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace margay::timing {
namespace {

/// v: VALU, c: conversion, e: exp, p: packed f32, M: 16x16x16 bf16, F: 16x16x4 f32.
Instruction instruction_of(char letter) {
  Instruction i;
  switch (letter) {
    case 'v':
      i.unit = Unit::valu;
      break;
    case 'c':
      i.unit = Unit::conversion;
      break;
    case 'e':
      i.unit = Unit::transcendental;
      break;
    case 'p':
      i.unit = Unit::packed;
      break;
    case 'M':
      i.unit = Unit::matrix;
      i.turns = 4;
      break;
    case 'F':
      i.unit = Unit::matrix;
      i.turns = 8;
      i.holds_vector = true;
      break;
    case 's':
      i.unit = Unit::salu;
      break;
    case '.':
      i.unit = Unit::end;
      break;
    default:
      ADD_FAILURE() << letter;
  }
  return i;
}

/// Workgroups whose waves run the same: each group of letters many times.
class Sequences : public ::testing::Test {
 protected:
  static constexpr unsigned kGroups = 500;

  /// Cycles from group to group, of a workgroup with one wave for each text.
  [[nodiscard]] double cycles_per_group(const std::vector<std::string>& waves) {
    WorkgroupRecording group;
    std::vector<Instruction> instructions;
    for (const std::string& letters : waves) {
      WaveRecording& wave = group.waves.emplace_back();
      const auto first = static_cast<std::uint32_t>(instructions.size());
      for (const char letter : letters) instructions.push_back(instruction_of(letter));
      for (unsigned n = 0; n < kGroups; ++n)
        for (std::uint32_t k = 0; k < letters.size(); ++k) wave.instructions.push_back(first + k);
    }
    const ComputeUnitRecording cu{0, 0, {&group}};
    const ComputeUnitTime time = replay(cu, instructions, {1, 0}, default_gpu(), parameters_, {});
    return (time.cycles - parameters_.wave_start) / kGroups;
  }
  [[nodiscard]] double alone(const std::string& letters) { return cycles_per_group({letters}); }

  /// Of two waves on one SIMD.
  [[nodiscard]] double cycles_of_opposite_phases(char first, const std::string& second) {
    constexpr unsigned kRun = 1000, kSwaps = 4;
    std::vector<Instruction> instructions{instruction_of(first), {.unit = Unit::barrier}};
    for (const char letter : second) instructions.push_back(instruction_of(letter));
    WorkgroupRecording group;
    group.waves.resize(5);  // the first and the fifth share a SIMD; the others end at once
    for (unsigned swap = 0; swap < kSwaps; ++swap)
      for (const unsigned n : {0u, 4u}) {
        std::vector<std::uint32_t>& wave = group.waves[n].instructions;
        const bool is_first = (swap % 2 == 0) == (n == 0);
        for (unsigned k = 0; k < kRun * (is_first ? 1 : second.size()); ++k)
          wave.push_back(is_first ? 0 : static_cast<std::uint32_t>(2 + k % second.size()));
        wave.push_back(1);
      }
    const ComputeUnitRecording cu{0, 0, {&group}};
    return replay(cu, instructions, {1, 0}, default_gpu(), parameters_, {}).cycles / kRun / kSwaps;
  }

  Parameters parameters_ = parameters_of(default_gpu());
};

TEST_F(Sequences, OfOneWaveTakeWhatWasMeasured) {
  const std::pair<const char*, double> measured[] = {
      {"v", 4.01},    {"e", 16.0},      {"Mv", 16.0},      {"Mvv", 16.0},
      {"Mvvv", 16.0}, {"Mvvvv", 20.03}, {"Me", 20.056},    {"Mee", 36.0},
      {"Mp", 28.0},   {"Mpp", 32.0},    {"Mppp", 36.0},    {"Mpppp", 40.0},
      {"ev", 20.0},   {"ee", 32.0},     {"MvvvMe", 36.05}, {"MMvvve", 48.05}};
  for (const auto& [letters, cycles] : measured)
    EXPECT_NEAR(alone(letters), cycles, 0.3) << letters;
}

/// Cycles of a trip of a loop of `length` VALU instructions and a branch, for each of `waves` waves
/// that share a SIMD. Not taken: the branch goes to the next instruction, and the trips follow one
/// another in the code.
double cycles_of_trip(unsigned length, unsigned waves, bool taken) {
  constexpr unsigned kTrips = 400;
  std::vector<Instruction> instructions;
  for (unsigned n = 0; n < (taken ? 1 : kTrips) * (length + 1); ++n) {
    Instruction& i = instructions.emplace_back();
    i.vaddr = 4 * n;
    if (n % (length + 1) == length) i.unit = Unit::branch;
  }
  const Gpu& gpu = default_gpu();
  WorkgroupRecording group;
  group.waves.resize(gpu.arch().cu.simds * (waves - 1) + 1);
  for (std::size_t wave = 0; wave < group.waves.size(); wave += gpu.arch().cu.simds)
    for (unsigned n = 0; n < kTrips * (length + 1); ++n)
      group.waves[wave].instructions.push_back(n % static_cast<unsigned>(instructions.size()));
  const ComputeUnitRecording cu{0, 0, {&group}};
  return replay(cu, instructions, {1, 0}, gpu, parameters_of(gpu), {}).cycles / kTrips;
}

// AMD's counters of vcopy on MI300X: a fetch takes 16.0 cycles (SQ_IFETCH_LEVEL / SQ_IFETCH, where
// the code is warm). MGPUSim's mi300a.csv: a trip of fir's loop of 17 instructions takes 189
// cycles, 171 of them its instructions and waits.
TEST(Branches, AWaveWaitsForTheBeginOfALoop) {
  EXPECT_NEAR(cycles_of_trip(9, 1, false), 10 * 4, 0.5);
  EXPECT_NEAR(cycles_of_trip(9, 1, true), 10 * 4 + 16, 0.5);
  const double together = cycles_of_trip(9, 2, true);
  EXPECT_GE(together, 2 * 9 * 4);
  EXPECT_LT(together, 1.6 * (10 * 4 + 16)) << "meanwhile the other wave issues";
}

// Source: LLVM pull request 233721, rules for gfx942 from thread traces: a packed instruction
// issues two turns after the last pass of a matrix instruction, and all VALU instructions if it is
// on f32.
TEST_F(Sequences, VectorWorkWaitsForMatrixInstructions) {
  EXPECT_NEAR(alone("Mp"), 4 * (4 + 2 + 1), 0.1);
  EXPECT_NEAR(alone("Mvp"), 4 * (4 + 2 + 1), 0.1);
  EXPECT_NEAR(alone("F"), 4 * 8, 0.1);
  EXPECT_NEAR(alone("Fv"), 4 * (8 + 2 + 1), 0.1);
  EXPECT_NEAR(alone("Fe"), 4 * (8 + 2 + 4), 0.1);
  EXPECT_NEAR(alone("Fs"), 4 * 8, 0.1);
  // Matrix instructions leave no gap that is long enough for those of another wave.
  EXPECT_NEAR(cycles_of_opposite_phases('M', "pp"), 16 + 2 * 4, 0.3);
}

// s_nop, satisfied waits, branches and scalar instructions take a turn each (MI300 thread trace).
TEST_F(Sequences, ScalarInstructionsTakeATurn) { EXPECT_NEAR(alone("s"), 4, 0.1); }

// The wave issues other instructions meanwhile, where it has some.
TEST_F(Sequences, AConversionKeepsThePortBusy) {
  EXPECT_NEAR(alone("c"), 16, 0.1);
  EXPECT_NEAR(alone("css"), 16, 0.1);
  EXPECT_NEAR(alone("cv"), 20, 0.1);
}

// Waves i and i + 4 share a SIMD, others have one of their own.
TEST_F(Sequences, TheFifthWaveSharesASimdWithTheFirst) {
  EXPECT_NEAR(cycles_per_group({"v", "v", "v", "v"}), 4, 0.1);
  EXPECT_NEAR(cycles_per_group({"v", "v", "v", "v", "v"}), 8, 0.1);
}

// Of two waves on one SIMD one computes while the other's matrix instruction runs.
TEST_F(Sequences, WavesOverlapMatrixAndVectorWork) {
  EXPECT_NEAR(cycles_per_group({"M", "", "", "", "vvv"}), 16, 0.5);
}

// Source: the same, "inter": while one wave executes a thousand of the first, the other executes as
// many groups of the second; then they change roles. A matrix instruction never waits for the other
// wave's ordinary instructions, and no longer than for one exp.
TEST_F(Sequences, OfTwoWavesTakeWhatWasMeasured) {
  struct Pair {
    char first;
    const char* second;
    double cycles;
  };
  for (const auto& [first, second, cycles] :
       {Pair{'M', "v", 16.01}, Pair{'M', "vv", 16.01}, Pair{'M', "vvv", 16.02},
        Pair{'M', "vvvv", 19.99}, Pair{'M', "e", 20.02}, Pair{'M', "ee", 35.99},
        Pair{'M', "eee", 51.99}, Pair{'M', "eeee", 67.99}, Pair{'e', "v", 20.01},
        Pair{'e', "e", 32.01}})
    EXPECT_NEAR(cycles_of_opposite_phases(first, second), cycles, 0.3) << first << ' ' << second;
}

// Source: the same, fetch counts and wave cycles of one million 8-byte instructions: a quarter more
// when they are at 4 modulo 8, where one in four crosses a fetch of 32 bytes.
TEST_F(Sequences, AMisalignedInstructionOfEightBytesTakesFiveCycles) {
  for (const std::uint32_t begin : {0u, 4u}) {
    WorkgroupRecording group;
    std::vector<Instruction> instructions;
    for (std::uint32_t n = 0; n < 4000; ++n) {
      Instruction i = instruction_of('v');
      i.bytes = 8;
      i.vaddr = begin + 8 * n;
      instructions.push_back(i);
    }
    WaveRecording& wave = group.waves.emplace_back();
    for (std::uint32_t n = 0; n < 4000; ++n) wave.instructions.push_back(n);
    const ComputeUnitRecording cu{0, 0, {&group}};
    const ComputeUnitTime time = replay(cu, instructions, {1, 0}, default_gpu(), parameters_, {});
    EXPECT_NEAR((time.cycles - parameters_.wave_start) / 4000, begin == 0 ? 4.05 : 5.05, 0.1);
  }
}

/// Cycles of a wave that executes `instructions` one after the other.
double cycles_in_line(const std::vector<Instruction>& instructions) {
  WorkgroupRecording group;
  WaveRecording& wave = group.waves.emplace_back();
  for (std::uint32_t n = 0; n < instructions.size(); ++n) wave.instructions.push_back(n);
  const ComputeUnitRecording cu{0, 0, {&group}};
  const Parameters& parameters = parameters_of(default_gpu());
  return replay(cu, instructions, {1, 0}, default_gpu(), parameters, {}).cycles -
         parameters.wave_start;
}

// Derived from the above: a fetch is asked for when the one before the last has issued. In the
// MI300 thread trace instructions that cross fetches are late only where all of 8 bytes follow one
// another; a fifth instruction for the 32 bytes gives the next fetch its time.
TEST(Fetch, IsInTimeWhereSomeInstructionsHaveFourBytes) {
  std::vector<Instruction> instructions;
  std::uint32_t at = 4;
  for (unsigned n = 0; n < 1000; ++n) {
    Instruction& i = instructions.emplace_back();
    i.vaddr = at;
    i.bytes = n % 5 < 3 ? 8 : 4;  // 8, 8, 8, 4, 4: the third one crosses
    at += i.bytes;
  }
  EXPECT_NEAR(cycles_in_line(instructions) / 1000, 4, 0.05);
}

// In the MI300 thread trace scalar instructions are idle behind v_cmp, and not behind other VALU
// instructions; source and derivation: the parameter's.
TEST(ScalarResults, HoldUpScalarInstructions) {
  Registers to_scalars, to_vectors;
  to_scalars.writes[8] = 1;
  to_vectors.writes[0] = 1;
  const double wait = parameters_of(default_gpu()).scalar_result;
  for (const auto& [registers, waits] : {std::pair{&to_scalars, wait}, {&to_vectors, 0.0}}) {
    Instruction compare = instruction_of('v'), scalar = instruction_of('s');
    compare.registers = scalar.registers = registers;
    EXPECT_EQ(cycles_in_line({compare, scalar}), 8 + waits);
    EXPECT_EQ(cycles_in_line({compare, instruction_of('v')}), 8) << "the VALU has it at once";
    EXPECT_EQ(cycles_in_line({compare, scalar, scalar}), 12 + waits) << "only the first one waits";
    Instruction branch = scalar;
    branch.unit = Unit::branch;
    EXPECT_EQ(cycles_in_line({compare, branch}), 8) << "reads SCC";
    Registers reads;
    reads.reads[9] = 1ull << 42;  // VCC
    branch.registers = &reads;
    EXPECT_EQ(cycles_in_line({compare, branch}), 8 + waits);
  }
}

// LDS reads of one dword per lane, lane n at dword n * stride: cycles per wave. That strides
// without conflicts take 3.2 cycles is the loop's own issue: four waves, 12.8 cycles for a trip.
// Source: tingqli/pyhip, archive/bank-conflict (strides 1 to 18).
TEST(Lds, StridesTakeWhatWasMeasured) {
  for (unsigned stride = 1; stride <= 18; ++stride) {
    unsigned ways = 1;
    while (stride % (2 * ways) == 0 && ways < 32) ways *= 2;
    Instruction read;
    read.unit = Unit::lds;
    read.counts_lgkm = read.has_work = true;
    read.lane_bytes_in = 4;
    Instruction wait;
    wait.unit = Unit::wait;
    wait.wait_lgkm = 8;
    const std::vector<Instruction> instructions = {read, wait, instruction_of('s')};
    WorkgroupRecording group;
    constexpr unsigned kReads = 500, kWaves = 4;
    group.waves.resize(kWaves);
    for (WaveRecording& wave : group.waves)
      for (unsigned n = 0; n < kReads; ++n) {
        wave.instructions.insert(wave.instructions.end(), {0, 1, 2});
        if (n % 5 == 0) wave.instructions.push_back(2);
        wave.memory.push_back({.cycles = static_cast<std::uint16_t>(2 * ways)});
      }
    const ComputeUnitRecording cu{0, 0, {&group}};
    const Parameters& parameters = parameters_of(default_gpu());
    const ComputeUnitTime time = replay(cu, instructions, {1, 0}, default_gpu(), parameters, {});
    const double measured = std::max(3.2, 2.0 * ways);
    EXPECT_NEAR((time.cycles - parameters.wave_start) / kReads / kWaves, measured, 0.05 * measured)
        << stride;
  }
}

// Bursts of reads by all four SIMDs: what the thread trace of an MI300 shows (7.9 cycles each).
TEST(Lds, AReadOfOneDwordTakesTwoCyclesOfTheComputeUnit) {
  Instruction read;
  read.unit = Unit::lds;
  read.counts_lgkm = read.has_work = true;
  read.lane_bytes_in = 2;
  WorkgroupRecording group;
  group.waves.resize(4);
  for (WaveRecording& wave : group.waves) {
    wave.instructions.assign(1000, 0);
    wave.memory.assign(1000, {.cycles = 2});
  }
  const ComputeUnitRecording cu{0, 0, {&group}};
  const Parameters& parameters = parameters_of(default_gpu());
  const ComputeUnitTime time =
      replay(cu, std::vector<Instruction>{read}, {1, 0}, default_gpu(), parameters, {});
  EXPECT_NEAR((time.cycles - parameters.wave_start) / 1000, 7.9, 0.3);
}

}  // namespace
}  // namespace margay::timing
