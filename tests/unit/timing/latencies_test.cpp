// Hidden and exposed latency, and what overlaps, of sequences whose cycles follow from the
// parameters by hand: a wave's first instruction is at 4, a turn takes 4, a load that hits vL1D
// comes back 117 cycles after its issue (a turn, a lookup, 112).
#include "timing/latencies.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "timing/compute_unit.h"
#include "timing/launch/device.h"

namespace margay::timing {
namespace {

constexpr std::string_view kLetters = "vMLSwBnb";

/// v: VALU, M: matrix instruction of 64 cycles, L: load that hits vL1D, S: scalar load, w: wait for
/// all, B: barrier, n: s_nop of ten turns, b: branch, behind the others in the code.
std::vector<Instruction> alphabet() {
  std::vector<Instruction> out(kLetters.size());
  for (std::size_t n = 0; n < out.size(); ++n) out[n].vaddr = static_cast<std::uint32_t>(32 * n);
  const auto of = [&](char letter) -> Instruction& { return out[kLetters.find(letter)]; };
  of('M').unit = Unit::matrix;
  of('M').turns = 16;
  of('L').unit = Unit::vector_memory;
  of('L').has_work = of('L').counts_vm = true;
  of('L').lane_bytes_in = 4;
  of('S').unit = Unit::scalar_memory;
  of('S').has_work = of('S').counts_lgkm = true;
  of('w').unit = Unit::wait;
  of('w').wait_vm = of('w').wait_lgkm = 0;
  of('B').unit = Unit::barrier;
  of('n').unit = Unit::idle;
  of('n').turns = 10;
  of('b').unit = Unit::branch;
  return out;
}

/// A workgroup on a compute unit of its own: a wave for each text. Waves 0 and 4 share a SIMD.
class Latency : public ::testing::Test {
 protected:
  void run(const std::vector<std::string>& waves, bool latencies = true) {
    WorkgroupRecording group;
    for (const std::string& letters : waves) {
      WaveRecording& wave = group.waves.emplace_back();
      for (const char letter : letters) {
        wave.instructions.push_back(static_cast<std::uint32_t>(kLetters.find(letter)));
        if (letter == 'L' || letter == 'S') wave.memory.push_back({.cycles = 1});
      }
    }
    const ComputeUnitRecording cu{0, 0, {&group}};
    time_ = replay(cu, alphabet(), {1, 0}, default_gpu(), parameters_of(default_gpu()), {}, {},
                   {.latencies = latencies});
  }
  [[nodiscard]] const SiteTime& of(char letter) const { return time_.sites[kLetters.find(letter)]; }

  ComputeUnitTime time_;
};

TEST_F(Latency, OfALoadIsHiddenByWhatItsWaveDoesMeanwhile) {
  run({"L" + std::string(10, 'v') + "w"});
  EXPECT_EQ(of('L').flight, 117);
  // Issue of the load and of ten others hide 44 cycles.
  EXPECT_EQ(of('w').stall(), 73);
  EXPECT_EQ(of('w').exposed, 73);
  EXPECT_EQ(of('L').unhidden, 73);
  EXPECT_EQ(of('L').exposed, 0);
  EXPECT_EQ(time_.simds.idle, 73);
}

TEST_F(Latency, IsHiddenByMatrixWorkInFlight) {
  run({"LMw"});
  // The matrix unit works from 8 to 72; the wave waits from 12 to 121.
  EXPECT_EQ(of('w').stall(), 109);
  EXPECT_EQ(of('w').exposed, 49);
  EXPECT_EQ(of('L').unhidden, 49);
}

TEST_F(Latency, IsHiddenByAnotherWaveOfTheSimd) {
  run({"Lw", "", "", "", std::string(100, 'v')});
  EXPECT_GT(of('w').stall(), 100);
  EXPECT_EQ(of('w').exposed, 0);
  EXPECT_EQ(of('L').unhidden, 0);
}

TEST_F(Latency, IsNotHiddenByWavesOfOtherSimds) {
  run({"Lw", std::string(100, 'v')});
  EXPECT_EQ(of('w').exposed, of('w').stall());
}

TEST_F(Latency, ThatWavesOfOneSimdExposeTogetherIsLostOnce) {
  run({"Lw", "", "", "", "Lw"});
  EXPECT_GT(of('w').exposed, 1.9 * of('w').lost);
  EXPECT_LE(of('w').lost, time_.simds.idle);
  EXPECT_GT(of('w').lost, time_.simds.idle - 20);
}

TEST_F(Latency, OfScalarLoadsIsKnownToo) {
  run({"Sw"});
  EXPECT_EQ(of('S').flight, 40);
  EXPECT_EQ(of('S').unhidden, 36);
}

// The wait is for the load that comes back last.
TEST_F(Latency, BelongsToTheAccessThatIsWaitedFor) {
  run({"SLw"});
  EXPECT_EQ(of('S').unhidden, 0);
  EXPECT_GT(of('L').unhidden, 100);
}

TEST_F(Latency, AtABarrierIsThatOfTheWaveThatCameFirst) {
  run({"Bv", std::string(50, 'v') + "Bv"});
  // The first comes at 4; the other at 4 and 50 turns later; then both are released.
  EXPECT_EQ(of('B').exposed, 200 + 2 * parameters_of(default_gpu()).barrier_release);
  EXPECT_EQ(of('B').exposed, of('B').stall());
}

TEST_F(Latency, OfAPauseIsExposedAfterItsIssue) {
  run({"nv"});
  EXPECT_EQ(of('n').exposed, 36);
  EXPECT_EQ(of('n').stall(), 36);
  EXPECT_EQ(of('v').exposed, 0);
}

TEST_F(Latency, OfALateInstructionIsItsOwn) {
  run({"bv"});
  EXPECT_EQ(of('v').stall(), 16);
  EXPECT_EQ(of('v').exposed, 16);
  EXPECT_EQ(of('b').exposed, 0);
}

TEST_F(Latency, OverlapOfMatrixWorkAndMemoryAddsUp) {
  run({"LMwM"});
  // Memory from 4 to 121, matrix work from 8 to 72 and from 125 to 189; the wave ends at 129.
  EXPECT_EQ(time_.cycles, 129);
  EXPECT_EQ(time_.simds.both, 64);
  EXPECT_EQ(time_.simds.memory, 117 - 64);
  EXPECT_EQ(time_.simds.matrix, 129 - 125);
  EXPECT_EQ(time_.simds.neither, 4 + 4 + 3 * 129);
  EXPECT_EQ(time_.simds.empty, 3 * 129 + 4) << "three SIMDs have no wave, one begins late";
  ASSERT_EQ(time_.lives.size(), 1u);
  EXPECT_EQ(time_.lives[0].begin, 4);
  EXPECT_EQ(time_.lives[0].end, 129);
}

// Whatever waves do: times add up, and looking at them changes nothing.
TEST_F(Latency, AddsUpForAnySequences) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<std::string> waves(1 + random() % 16);
    for (std::string& letters : waves) {
      for (unsigned n = random() % 60; n != 0; --n) {
        const char letter = kLetters[random() % kLetters.size()];
        if (letter != 'B') letters += letter;  // waves need as many barriers as each other
      }
      letters.insert(letters.size() / 2, "B");
      letters += "BL";
    }
    run(waves, false);
    const ComputeUnitTime without = time_;
    run(waves);
    EXPECT_EQ(time_.cycles, without.cycles);
    double lost = 0;
    for (std::size_t n = 0; n < time_.sites.size(); ++n) {
      const SiteTime& site = time_.sites[n];
      EXPECT_EQ(site.latency, without.sites[n].latency);
      EXPECT_EQ(site.stalls, without.sites[n].stalls);
      EXPECT_LE(site.exposed, site.stall() + 1e-6) << kLetters[n] << " in round " << round;
      EXPECT_LE(site.lost, site.exposed + 1e-6) << kLetters[n];
      EXPECT_LE(site.unhidden, site.flight + 1e-6) << kLetters[n];
      lost += site.lost;
    }
    const SimdTime& simds = time_.simds;
    EXPECT_NEAR(simds.idle, lost, 1e-6);
    EXPECT_NEAR(simds.all(), 4 * time_.cycles, 1e-6);
    EXPECT_NEAR(simds.both + simds.matrix + simds.memory + simds.neither, 4 * time_.cycles, 1e-6);
  }
}

/// Each workgroup has `waves` waves of a hundred matrix instructions; a compute unit has room for
/// one.
LaunchRecording launch_of(std::uint64_t workgroups, std::size_t waves) {
  LaunchRecording launch;
  launch.instructions = alphabet();
  launch.grid = workgroups;
  launch.equivalent_workgroups = static_cast<double>(workgroups);
  launch.is_warm = true;
  launch.workgroups.resize(workgroups);
  launch.cus.resize(std::min<std::size_t>(workgroups, 304));
  for (std::size_t n = 0; n < workgroups; ++n) {
    launch.workgroups[n].waves.resize(waves);
    for (WaveRecording& wave : launch.workgroups[n].waves)
      wave.instructions.assign(100, static_cast<std::uint32_t>(kLetters.find('M')));
    launch.cus[n % launch.cus.size()].workgroups.push_back(&launch.workgroups[n]);
  }
  return launch;
}

// Of the two waves of each SIMD the older one goes first, and ends after half the time.
TEST(Occupancy, OfALaunchIsTheMeanOfItsSimds) {
  const KernelTime time = time_of(launch_of(304, 8), default_gpu());
  EXPECT_NEAR(time.waves_per_simd, 1.5, 0.01);
  ASSERT_EQ(time.occupancy.size(), 64u);
  EXPECT_NEAR(time.occupancy[1], 2, 0.01);
  EXPECT_NEAR(time.occupancy[30], 2, 0.01);
  EXPECT_NEAR(time.occupancy[33], 1, 0.01);
}

TEST(Occupancy, FallsWhereFewUnitsHaveASecondWorkgroup) {
  const KernelTime time = time_of(launch_of(304 + 152, 4), default_gpu());
  const std::size_t parts = time.occupancy.size();
  EXPECT_NEAR(time.occupancy[parts / 4], 1, 0.01);
  EXPECT_NEAR(time.occupancy[3 * parts / 4], 0.5, 0.01);
  const double sum = std::accumulate(time.occupancy.begin(), time.occupancy.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(parts), 0.75, 0.01);
  // That does not count units that have ended.
  EXPECT_NEAR(time.waves_per_simd, 1, 0.01);
}

TEST(Occupancy, IsLeftOutWhereItIsNotAskedFor) {
  const KernelTime time = time_of(launch_of(304, 8), default_gpu(), {.latencies = false});
  EXPECT_TRUE(time.occupancy.empty());
  EXPECT_EQ(time.simd_cycles, 0);
}

}  // namespace
}  // namespace margay::timing
