// From compute units to the device: clock, tail, and workgroups that were not recorded.
#include "timing/launch/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace margay::timing {
namespace {

/// Workgroups of one wave with `instructions` matrix instructions of 16x16x16 bf16 each.
LaunchRecording matrix_launch(std::uint64_t recorded, std::uint64_t grid, unsigned instructions) {
  LaunchRecording launch;
  Instruction matrix;
  matrix.unit = Unit::matrix;
  matrix.turns = 4;
  launch.instructions = {matrix};
  launch.grid = grid;
  launch.equivalent_workgroups = static_cast<double>(grid);
  launch.workgroups.resize(recorded);
  const std::uint32_t cus = default_gpu().compute_units();
  launch.cus.resize(std::min<std::uint64_t>(recorded, cus));
  for (std::uint64_t n = 0; n < recorded; ++n) {
    launch.workgroups[n].id = n;
    launch.workgroups[n].waves.resize(1);
    launch.workgroups[n].waves[0].instructions.assign(instructions, 0);
    launch.cus[n % cus].workgroups.push_back(&launch.workgroups[n]);
  }
  launch.bf16_flops = static_cast<double>(grid) * instructions * 2 * 16 * 16 * 16;
  return launch;
}

const WhatIf& what_if_of(const KernelTime& time, WhatIfKind kind) {
  return *std::ranges::find(time.what_if, kind, &WhatIf::kind);
}

TEST(Device, ParametersAreThereForEveryMachine) {
  for (const Gpu& gpu : all_gpus()) {
    const Parameters& parameters = parameters_of(gpu);
    for (const ParameterInfo& info : parameter_table()) {
      // Where nothing is known of a limit there is none.
      const bool is_limit =
          info.name == "translated_gib" || info.name == "untranslated_bytes_per_ns";
      if (!is_limit || gpu.option == "mi300a")
        EXPECT_GT(parameters.*info.member, 0) << gpu.option << ' ' << info.name;
      EXPECT_FALSE(info.source.empty()) << info.name;
    }
  }
}

TEST(Device, AMatrixLoopIsBoundByTheMatrixUnits) {
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 4, 5000);
  launch.resident = 4;
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_EQ(time.bound, Bound::matrix);
  EXPECT_NEAR(time.busy.matrix, 1, 0.02);
  // 16 cycles each, on four SIMDs of each compute unit at once.
  EXPECT_NEAR(time.us_boost - time.launch_us, 5000 * 16 / 2.1e3, 1);
}

TEST(Device, AScalarLoopIsBoundByTheScalarUnits) {
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 4, 20000);
  launch.resident = 4;
  launch.instructions[0] = {.unit = Unit::salu};
  launch.bf16_flops = 0;
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_EQ(time.bound, Bound::scalar);
  EXPECT_NEAR(time.busy.scalar, 1, 0.02);
  EXPECT_EQ(time.busy.matrix, 0);
}

// Dense matrix work does not keep the boost clock. AMD's MAF: MI325X, bf16, 843 TFLOP/s at 1447
// MHz.
TEST(Device, DenseMatrixWorkRunsAtALowerClockForLong) {
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 4, 10000);
  launch.resident = 4;
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_GT(time.us_sustained, 1.2 * time.us_boost);
  EXPECT_NEAR(time.sustained_ghz, 1.447, 0.15);
  EXPECT_EQ(time_of(launch, default_gpu(), {.clock_ghz = 1.5}).us_sustained,
            time_of(launch, default_gpu(), {.clock_ghz = 1.5}).us_boost);
}

// AMD's maximum achievable FLOP/s and clocks.
TEST(Device, MatrixWorkNeedsMorePowerOnAnMi325x) {
  const auto parameters = [](const char* option) { return parameters_of(**find_gpu(option)); };
  const Parameters larger = parameters("mi325x"), usual = parameters("mi300x");
  EXPECT_GT(larger.bf16_watts, 1.1 * usual.bf16_watts);
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 4, 10000);
  launch.resident = 4;
  const double ghz = time_of(launch, default_gpu()).sustained_ghz;
  // As much more f16 as its instructions need more power, held at the same clock.
  LaunchRecording half = matrix_launch(304 * 4, 304 * 4, 10000);
  half.resident = 4;
  half.f16_flops = half.bf16_flops * larger.bf16_watts / larger.f16_watts;
  half.bf16_flops = 0;
  EXPECT_NEAR(time_of(half, default_gpu()).sustained_ghz, ghz, 0.011);
  EXPECT_NEAR(ghz, 1.51, 0.03);
}

TEST(Device, WorkgroupsThatWereNotRecordedTakeAsLong) {
  const KernelTime all = time_of(matrix_launch(304 * 8, 304 * 8, 3000), default_gpu());
  const KernelTime sample = time_of(matrix_launch(304 * 2, 304 * 8, 3000), default_gpu());
  EXPECT_NEAR(sample.us_boost, all.us_boost, 0.01 * all.us_boost);
}

// Long workgroups are recorded on some compute units only.
TEST(Device, ComputeUnitsThatWereNotRecordedTakeAsLong) {
  const KernelTime all = time_of(matrix_launch(304 * 3, 304 * 3, 3000), default_gpu());
  const KernelTime sample = time_of(matrix_launch(100, 304 * 3, 3000), default_gpu());
  EXPECT_NEAR(sample.us_boost, all.us_boost, 0.02 * all.us_boost);
}

TEST(Device, OneMoreWorkgroupThanComputeUnitsMakesATail) {
  const KernelTime even = time_of(matrix_launch(304, 304, 3000), default_gpu());
  const KernelTime odd = time_of(matrix_launch(305, 305, 3000), default_gpu());
  EXPECT_LT(even.tail_us, 0.1);
  EXPECT_GT(odd.tail_us, 0.4 * even.us_boost);
}

// Matrix units of the units that work are busy, but most units do not.
TEST(Device, ALongTailIsTheBound) {
  LaunchRecording launch = matrix_launch(305, 305, 3000);
  for (WorkgroupRecording& group : launch.workgroups) group.waves.resize(4, group.waves.front());
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_GT(time.busy.matrix, 0.9);
  EXPECT_EQ(time.bound, Bound::tail);
}

// The few units that tell how changes and clocks compare have the one that ends last.
TEST(WhatIf, TheUnitWithMostToDoIsAmongTheFew) {
  LaunchRecording launch = matrix_launch(305, 305, 3000);
  launch.resident = 1;
  EXPECT_NEAR(
      what_if_of(time_of(launch, default_gpu()), WhatIfKind::additional_workgroup).saves_percent,
      50, 5);
}

TEST(Device, WorkgroupsThatEndAtOnceAreDispatched) {
  LaunchRecording launch = matrix_launch(4, 4, 30);
  const double without = time_of(launch, default_gpu()).cycles;
  launch.ended_at_once = 304;
  EXPECT_EQ(time_of(launch, default_gpu()).cycles, without) << "while the others work";
  launch.ended_at_once = 8'000'000;
  const Parameters& p = parameters_of(default_gpu());
  EXPECT_GT(time_of(launch, default_gpu()).cycles, 1e6 * p.workgroup_start);
}

// How much the others have to do is a quotient of sums, which may come out a little above 1.
TEST(Device, AsManyWorkgroupsAsComputeUnitsHaveOneEach) {
  LaunchRecording launch = matrix_launch(100, 304, 3000);
  launch.resident = 2;
  const double exact = time_of(launch, default_gpu()).cycles;
  launch.equivalent_workgroups = std::nextafter(304.0, 305.0);
  EXPECT_NEAR(time_of(launch, default_gpu()).cycles, exact, 1);
}

// Two waves of different SIMDs do not disturb each other.
TEST(Device, WorkgroupsThatRunAtTheSameTimeMakeNoTail) {
  for (const std::uint64_t grid : {305, 400, 607}) {
    LaunchRecording launch = matrix_launch(100, grid, 3000);
    launch.resident = 2;
    const KernelTime time = time_of(launch, default_gpu());
    EXPECT_LT(time.tail_us, 0.01 * time.us_boost) << grid;
    EXPECT_EQ(time.bound, Bound::latency) << grid << ": one or two of four SIMDs work";
  }
}

// Each workgroup has one wave, and a compute unit room for one workgroup, so that times add up.
TEST(Device, ALongWorkgroupThatBeginsLastIsATail) {
  constexpr std::uint64_t kGrid = 304 * 8;
  constexpr unsigned kInstructions = 3000;
  LaunchRecording launch = matrix_launch(100, kGrid, kInstructions);
  const double even = time_of(launch, default_gpu()).cycles;
  launch.lengths.assign(kGrid, kInstructions);
  EXPECT_EQ(time_of(launch, default_gpu()).cycles, even);
  EXPECT_EQ(time_of(launch, default_gpu()).sample_length, 1);
  launch.lengths.back() = 9 * kInstructions;
  const KernelTime last = time_of(launch, default_gpu());
  const double of_one = kInstructions * 16;
  EXPECT_NEAR(last.cycles - even, 8 * of_one, 0.2 * of_one);
  EXPECT_NEAR(last.tail_us, 8 * of_one / last.boost_ghz / 1e3, 0.05 * last.tail_us);
  EXPECT_NEAR(what_if_of(last, WhatIfKind::longest_first).saves_percent,
              100 * (1 - even / last.cycles), 10);
  EXPECT_NEAR(what_if_of(last, WhatIfKind::no_tail).saves_percent, 100 * (1 - even / last.cycles),
              10);

  std::swap(launch.lengths.front(), launch.lengths.back());
  const KernelTime first = time_of(launch, default_gpu());
  EXPECT_NEAR(first.cycles - even, of_one, 0.2 * of_one) << "9 of 8 + 8 / 304";
  EXPECT_EQ(what_if_of(first, WhatIfKind::longest_first).saves_percent, 0);
  EXPECT_LT(first.error_percent, 50);

  launch.lengths.assign(kGrid, 2 * kInstructions);
  const KernelTime shorter = time_of(launch, default_gpu());
  EXPECT_EQ(shorter.sample_length, 0.5);
  EXPECT_EQ(shorter.error_percent, 50) << "the sample's workgroups are not like the others";
}

TEST(Device, WhatWasRecordedMayBeATailItself) {
  constexpr std::uint64_t kGrid = 304 * 4;
  LaunchRecording launch = matrix_launch(kGrid / 8, kGrid, 0);
  launch.resident = 4;
  launch.cus.clear();
  launch.cus.resize(38);
  double all = 0;
  for (std::uint64_t n = 0; n < kGrid; ++n)
    all += launch.lengths.emplace_back(static_cast<std::uint32_t>(n));
  for (WorkgroupRecording& group : launch.workgroups) {
    group.waves[0].instructions.assign(launch.lengths[group.id * 8], 0);
    launch.cus[group.id % 38].workgroups.push_back(&group);
  }
  launch.workgroup_instructions = all / kGrid;
  // Four waves on four SIMDs do not disturb each other: the longest one ends last.
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_NEAR((time.us_boost - time.launch_us) * time.boost_ghz * 1e3, kGrid * 16,
              0.1 * kGrid * 16);
}

// Of the workgroups that were not recorded most find nothing to do.
TEST(Device, WorkgroupsWithLittleToDoAreStartedLikeOthers) {
  constexpr std::uint64_t kGrid = 304 * 400;
  LaunchRecording launch = matrix_launch(304 * 4, kGrid, 30);
  launch.resident = 4;
  const Parameters& p = parameters_of(default_gpu());
  const double starting = static_cast<double>(kGrid) / default_gpu().xcds * p.dispatch_cycles(1);
  const KernelTime all = time_of(launch, default_gpu());
  EXPECT_GT(all.cycles, starting);
  launch.equivalent_workgroups = kGrid / 10.0;
  EXPECT_GT(time_of(launch, default_gpu()).cycles, starting);
}

TEST(Device, SmallWorkgroupsAreBoundByTheDispatcher) {
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 400, 3);
  launch.resident = 4;
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_EQ(time.bound, Bound::dispatcher);
  EXPECT_GT(time.busy.dispatcher, 0.9);
  EXPECT_LT(time.tail_us, 0.05 * time.us_boost);
  const WhatIf& most = time.what_if[0];
  EXPECT_EQ(most.kind, WhatIfKind::larger_workgroups);
  // A workgroup of four waves takes 6.5 cycles, four of one 22.4; and 32 turns are not hidden then.
  EXPECT_GT(most.saves_percent, 50);
}

TEST(WhatIf, WorkgroupsOfFourWavesAreLargeEnough) {
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 400, 3);
  for (WorkgroupRecording& group : launch.workgroups) group.waves.resize(4, group.waves.front());
  for (const WhatIf& what_if : time_of(launch, default_gpu()).what_if)
    if (what_if.kind == WhatIfKind::larger_workgroups) EXPECT_EQ(what_if.saves_percent, 0);
}

// An MI308X has a fourth of the compute units, which leaves power: pyhip's gpu-frequency-probe has
// it at 1.59 GHz with a stream of HBM, the model at 1.56. 304 units could not hold 1 GHz.
TEST(Device, FewerComputeUnitsLeavePowerForTheClock) {
  const Gpu& gpu = *std::ranges::find(all_gpus(), "mi308x", &Gpu::option);
  LaunchRecording launch = matrix_launch(80 * 4, 80 * 4, 3000);
  launch.bf16_flops = 0;
  launch.memory_bytes = 4.6e12 * time_of(launch, gpu).us_boost * 1e-6;
  const double held = time_of(launch, gpu).sustained_ghz;
  EXPECT_GT(held, 1.2);
  EXPECT_LT(held, 1.75);
}

// The mean of equal figures can be larger than each of them by rounding.
TEST(Device, ATailIsNeverNegative) {
  for (unsigned count = 1; count <= 304; count += 3)
    for (const unsigned instructions : {7u, 31u})
      EXPECT_GE(time_of(matrix_launch(count, count, instructions), default_gpu()).tail_us, 0)
          << count << " workgroups of " << instructions;
}

TEST(Device, HostThreadsMakeNoDifference) {
  const LaunchRecording launch = matrix_launch(40, 40, 300);
  const KernelTime one = time_of(launch, default_gpu(), {}, 1);
  const KernelTime four = time_of(launch, default_gpu(), {}, 4);
  EXPECT_EQ(one.us_boost, four.us_boost);
  EXPECT_EQ(one.us_sustained, four.us_sustained);
  ASSERT_EQ(one.sites.size(), four.sites.size());
  EXPECT_EQ(one.sites[0].latency, four.sites[0].latency);
  EXPECT_EQ(one.stalls, four.stalls);
}

TEST(WhatIf, NothingIsTriedThatIsNotAskedFor) {
  EXPECT_TRUE(time_of(matrix_launch(4, 4, 30), default_gpu(), {.what_if = false}).what_if.empty());
}

/// What no barrier skew saves of workgroups of two waves on different SIMDs, in a loop of ten trips
/// with a barrier: by turns one of them works for 800 cycles, or waits for a load, while the other
/// has nothing to do.
double barrier_skew(bool waits) {
  LaunchRecording launch = matrix_launch(304, 304, 1);
  Instruction load, wait, barrier;
  load.unit = Unit::vector_memory;
  load.has_work = load.counts_vm = true;
  load.lane_bytes_in = 4;
  wait.unit = Unit::wait;
  wait.wait_vm = 0;
  barrier.unit = Unit::barrier;
  launch.instructions = {load, wait, barrier, {}};
  for (WorkgroupRecording& group : launch.workgroups) {
    group.waves = std::vector<WaveRecording>(2);
    for (std::size_t trip = 0; trip < 10; ++trip) {
      WaveRecording& late = group.waves[trip % 2];
      if (waits) {
        late.instructions.insert(late.instructions.end(), {0, 1});
        late.memory.push_back({.cycles = 1, .l2_lines = 1, .far_lines = 1});
      } else {
        late.instructions.insert(late.instructions.end(), 200, 3);
      }
      for (WaveRecording& wave : group.waves) wave.instructions.push_back(2);
    }
  }
  return what_if_of(time_of(launch, default_gpu()), WhatIfKind::no_barrier_skew).saves_percent;
}

TEST(WhatIf, BarrierSkewIsThatOfWorkNotOfWaits) {
  EXPECT_GT(barrier_skew(false), 15);
  EXPECT_GE(barrier_skew(true), 0);
  EXPECT_LT(barrier_skew(true), 5);
}

/// What half as many barriers save of workgroups of two waves on different SIMDs, in a loop of ten
/// trips with a barrier each. In each trip one of them works for 800 cycles and the other has
/// nothing to do: by turns, or always the first.
double half_the_barriers(bool by_turns, std::uint32_t resident, std::uint32_t with_twice_the_lds) {
  LaunchRecording launch = matrix_launch(304 * resident, 304 * resident, 1);
  launch.resident = resident;
  launch.resident_with_twice_the_lds = with_twice_the_lds;
  Instruction barrier;
  barrier.unit = Unit::barrier;
  launch.instructions = {barrier, {}};
  for (WorkgroupRecording& group : launch.workgroups) {
    group.waves = std::vector<WaveRecording>(2);
    for (std::size_t trip = 0; trip < 10; ++trip) {
      std::vector<std::uint32_t>& late = group.waves[by_turns ? trip % 2 : 0].instructions;
      late.insert(late.end(), 200, 1);
      for (WaveRecording& wave : group.waves) wave.instructions.push_back(0);
    }
  }
  return what_if_of(time_of(launch, default_gpu()), WhatIfKind::half_the_barriers).saves_percent;
}

TEST(WhatIf, HalfTheBarriersLetWavesBeLateByTurns) {
  EXPECT_GT(half_the_barriers(true, 1, 1), 25);
  EXPECT_NEAR(half_the_barriers(false, 1, 1), 0, 2) << "the same wave is always late";
}

// Two buffers, or larger steps.
TEST(WhatIf, HalfTheBarriersTakeTwiceTheLds) {
  const double with_room = half_the_barriers(true, 2, 2);
  EXPECT_LT(half_the_barriers(true, 2, 1), with_room - 20);
}

// Of a kernel that has two LDS buffers, and nevertheless two barriers for each step.
TEST(WhatIf, HalfTheBarriersTakeNoLdsWhereThereAreTwoForEachStep) {
  const auto saved = [](bool two) {
    LaunchRecording launch = matrix_launch(304, 304, 1);
    launch.resident_with_twice_the_lds = 0;
    Instruction barrier, load;
    barrier.unit = Unit::barrier;
    load.unit = Unit::vector_memory;
    load.has_work = load.counts_vm = true;
    load.lane_bytes_in = 16;
    launch.instructions = {barrier, {}, load};
    for (WorkgroupRecording& group : launch.workgroups) {
      group.waves = std::vector<WaveRecording>(2);
      for (std::size_t trip = 0; trip < 10; ++trip) {
        for (WaveRecording& wave : group.waves) {
          // One wave works before the first barrier, the other one behind it.
          const bool first = &wave == &group.waves[0];
          if (first) wave.instructions.push_back(2);
          if (first) wave.memory.push_back({.cycles = 1});
          if (first || !two) wave.instructions.insert(wave.instructions.end(), 200, 1);
          if (two) wave.instructions.push_back(0);
          if (!first && two) wave.instructions.insert(wave.instructions.end(), 200, 1);
          wave.instructions.push_back(0);
        }
      }
    }
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::half_the_barriers).saves_percent;
  };
  EXPECT_GT(saved(true), 20);
  EXPECT_EQ(saved(false), 0) << "the next buffer would be needed";
}

/// A launch of waves that each load 40 times from beyond L2, and wait for it.
LaunchRecording loading_launch() {
  LaunchRecording launch = matrix_launch(304, 304, 1);
  Instruction load, other, wait, barrier;
  load.unit = Unit::vector_memory;
  load.has_work = load.counts_vm = true;
  load.lane_bytes_in = 16;
  other = load;
  other.vaddr = 8;
  wait.unit = Unit::wait;
  wait.wait_vm = 0;
  wait.vaddr = 16;
  barrier.unit = Unit::barrier;
  barrier.vaddr = 20;
  launch.instructions = {load, other, wait, barrier};
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves) {
      wave.instructions.clear();
      for (unsigned trip = 0; trip < 20; ++trip)
        for (const std::uint32_t n : {0u, 1u, 2u, 3u}) wave.instructions.push_back(n);
      wave.memory.assign(40, {.cycles = 16, .l2_lines = 8, .far_lines = 8});
    }
  return launch;
}

TEST(WhatIf, LinesThatHaveToMissL2AreNotSaved) {
  LaunchRecording launch = loading_launch();
  const auto saved = [&](double needed, WhatIfKind kind) {
    launch.needed_far_lines = needed;
    return what_if_of(time_of(launch, default_gpu()), kind).saves_percent;
  };
  const double limit = saved(1, WhatIfKind::no_l2_misses);
  EXPECT_GT(limit, 20);
  EXPECT_EQ(saved(1, WhatIfKind::shared_l2_lines), 0);
  EXPECT_NEAR(saved(0, WhatIfKind::shared_l2_lines), limit, 1);
  const double half = saved(0.5, WhatIfKind::shared_l2_lines);
  EXPECT_GT(half, 0.1 * limit);
  EXPECT_LT(half, 0.9 * limit);
}

// HBM is read once for all XCDs: what they no longer load again was in the Infinity Cache.
TEST(WhatIf, LinesSharedInL2AreStillReadFromMemoryOnce) {
  LaunchRecording launch = loading_launch();
  launch.needed_far_lines = 0.5;
  const auto us_with = [&](double infinity_cache_hits) {
    launch.infinity_cache_hits = infinity_cache_hits;
    const KernelTime time = time_of(launch, default_gpu());
    const double saves = what_if_of(time, WhatIfKind::shared_l2_lines).saves_percent;
    return time.us_boost * (1 - saves / 100);
  };
  // Half of the lines are left: none of them is one that the Infinity Cache had.
  EXPECT_NEAR(us_with(0.5), us_with(0), 0.01);
  EXPECT_LT(us_with(0.75), us_with(0.5) - 0.1);
}

// A wave's 16 bytes per lane take vL1D 16 cycles.
TEST(WhatIf, LoadsOfLanesSideBySideAreNotCoalescedBetter) {
  LaunchRecording launch = loading_launch();
  const auto coalesced = [&] {
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::perfect_coalescing);
  };
  EXPECT_EQ(coalesced().saves_percent, 0);
  // The second load's lanes are apart.
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves)
      for (std::size_t n = 1; n < wave.memory.size(); n += 2)
        wave.memory[n] = {.cycles = 64, .l2_lines = 64, .far_lines = 64};
  const WhatIf scattered = coalesced();
  EXPECT_GT(scattered.saves_percent, 20);
  ASSERT_EQ(scattered.sites.size(), 1U);
  EXPECT_EQ(scattered.sites[0].vaddr, 8U);
}

// Each lane reads a line of its own in pieces, of which the first has the misses.
TEST(WhatIf, LinesThatAreReadInPiecesAreReadFromMemoryAllTheSame) {
  LaunchRecording launch = loading_launch();
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves)
      for (std::size_t n = 0; n < wave.memory.size(); ++n) wave.memory[n] = {.cycles = 64};
  const auto saved = [&](std::size_t each) {
    for (WorkgroupRecording& group : launch.workgroups)
      for (WaveRecording& wave : group.waves)
        for (std::size_t n = 0; n < wave.memory.size(); n += each)
          wave.memory[n] = {.cycles = 64, .l2_lines = 64, .far_lines = 64};
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::perfect_coalescing).saves_percent;
  };
  const double whole_lines = saved(8);
  EXPECT_LT(whole_lines, 10) << "8 loads of 16 bytes are a line";
  launch.touched_bytes = 4096;
  EXPECT_GT(saved(8), 20) << "of one small place, again and again";
  launch.touched_bytes = 0;
  EXPECT_GT(saved(1), 50) << "no other load uses the rest of the lines";
}

TEST(WhatIf, EachInstructionOfAnUnrolledLoopIsNamed) {
  LaunchRecording launch = loading_launch();
  constexpr std::uint32_t kLoads = 100;
  launch.instructions.resize(4 + kLoads, launch.instructions[0]);
  for (std::uint32_t n = 0; n < kLoads; ++n) launch.instructions[4 + n].vaddr = 100 + 8 * n;
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves) {
      wave.instructions.clear();
      for (std::uint32_t n = 0; n < kLoads; ++n) wave.instructions.push_back(4 + n);
      wave.memory.assign(kLoads, {.cycles = 64, .l2_lines = 64, .far_lines = 64});
    }
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_EQ(what_if_of(time, WhatIfKind::perfect_coalescing).sites.size(), kLoads);
}

TEST(WhatIf, WithoutBarriersThereAreNoneToHalve) {
  LaunchRecording launch = loading_launch();
  launch.resident = 4;
  launch.resident_with_twice_the_lds = 1;
  const auto saved = [&] {
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::half_the_barriers).saves_percent;
  };
  EXPECT_NE(saved(), 0);
  std::erase_if(launch.instructions, [](const Instruction& i) { return i.unit == Unit::barrier; });
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves) std::erase(wave.instructions, 3U);
  EXPECT_EQ(saved(), 0);
}

TEST(WhatIf, LoadsAStepAheadTakeTheRegistersOfAStep) {
  LaunchRecording launch = loading_launch();
  const auto vgprs = [&] {
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::loads_ahead).vgprs;
  };
  EXPECT_EQ(vgprs(), 8U) << "two loads of 16 bytes";
  LaunchRecording unrolled = loading_launch();
  for (WorkgroupRecording& group : unrolled.workgroups)
    for (WaveRecording& wave : group.waves) {
      wave.instructions.clear();
      for (unsigned trip = 0; trip < 20; ++trip)
        for (const std::uint32_t n : {0u, 2u, 3u, 1u, 2u, 3u}) wave.instructions.push_back(n);
    }
  EXPECT_EQ(what_if_of(time_of(unrolled, default_gpu()), WhatIfKind::loads_ahead).vgprs, 4U)
      << "a step is from barrier to barrier";
  // Without barriers a step ends where a load is executed again.
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves) std::erase(wave.instructions, 3U);
  EXPECT_EQ(vgprs(), 8U);
  EXPECT_EQ(what_if_of(time_of(launch, default_gpu()), WhatIfKind::no_memory_waits).vgprs, 0U);
}

TEST(WhatIf, OtherDevicesRunTheSameLaunch) {
  // Twice for each of 80 compute units, once for each of 228.
  const KernelTime time = time_of(matrix_launch(160, 160, 20000), default_gpu());
  std::map<std::string_view, Elsewhere> there;
  for (const Elsewhere& one : time.elsewhere) there[one.device] = one;
  ASSERT_EQ(there.size(), all_gpus().size() - 1);
  for (const auto& [device, one] : there) {
    EXPECT_FALSE(one.misses_decide) << device;
    EXPECT_GE(one.us_sustained, one.us_boost) << device;
  }
  EXPECT_NEAR(there["MI300X"].us_boost, time.us_boost, 0.02 * time.us_boost);
  EXPECT_NEAR(there["MI300A"].us_boost, time.us_boost, 0.02 * time.us_boost);
  EXPECT_NEAR(there["MI308X"].us_boost, 2 * time.us_boost * 2.1 / 1.83, 0.05 * time.us_boost);
}

// MI300X has 750 W for what MI325X has 1000 W for.
TEST(WhatIf, OtherDevicesHoldOtherClocks) {
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 4, 10000);
  launch.resident = 4;
  const KernelTime time = time_of(launch, default_gpu());
  const auto other = std::ranges::find(time.elsewhere, "MI300X", &Elsewhere::device);
  ASSERT_NE(other, time.elsewhere.end());
  EXPECT_NEAR(other->us_boost, time.us_boost, 0.02 * time.us_boost);
  EXPECT_GT(other->us_sustained, 1.1 * time.us_sustained);
}

// Which lines miss L2 depends on the workgroups that share it.
TEST(WhatIf, OtherDevicesAreNotGuessedWhereMissesDecide) {
  LaunchRecording launch = matrix_launch(160, 160, 10);
  Instruction load;
  load.unit = Unit::vector_memory;
  load.has_work = load.counts_vm = true;
  load.lane_bytes_in = 16;
  Instruction wait;
  wait.unit = Unit::wait;
  wait.wait_vm = 0;
  launch.instructions = {load, wait};
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves) {
      wave.instructions.assign(2000, 0);
      wave.instructions.push_back(1);
      wave.memory.assign(2000, {.cycles = 16, .l2_lines = 8, .far_lines = 8});
    }
  const KernelTime time = time_of(launch, default_gpu());
  for (const Elsewhere& one : time.elsewhere) {
    if (one.device == "MI300X") EXPECT_GT(one.us_boost, time.us_boost) << "HBM is slower";
    EXPECT_EQ(one.misses_decide, one.device != "MI300X") << one.device;
  }
}

TEST(WhatIf, EveryChangeIsNamedAndTried) {
  const KernelTime time = time_of(matrix_launch(304, 304, 300), default_gpu());
  ASSERT_EQ(time.what_if.size(), kWhatIfs);
  for (std::size_t n = 0; n + 1 < kWhatIfs; ++n)
    EXPECT_GE(time.what_if[n].saves_percent, time.what_if[n + 1].saves_percent);
}

TEST(WhatIf, AKernelThatWaitsForConflictsIsFasterWithoutThem) {
  LaunchRecording launch;
  Instruction read;
  read.unit = Unit::lds;
  read.counts_lgkm = read.has_work = true;
  read.lane_bytes_in = 4;
  launch.instructions = {read};
  launch.grid = 304;
  launch.equivalent_workgroups = 304;
  launch.workgroups.resize(304);
  launch.cus.resize(304);
  for (std::size_t n = 0; n < 304; ++n) {
    WaveRecording& wave = launch.workgroups[n].waves.emplace_back();
    wave.instructions.assign(2000, 0);
    wave.memory.assign(2000, {.cycles = 64, .conflicts = 62});
    launch.cus[n].workgroups.push_back(&launch.workgroups[n]);
  }
  const KernelTime time = time_of(launch, default_gpu());
  const WhatIf& most = time.what_if[0];
  EXPECT_EQ(most.kind, WhatIfKind::no_bank_conflicts);
  EXPECT_GT(most.saves_percent, 80);
  EXPECT_EQ(most.sites.size(), 1u);
  EXPECT_TRUE(is_beyond_error(most.saves_percent, time.error_percent));
  for (const WhatIf& what_if : time.what_if)
    if (what_if.kind == WhatIfKind::no_l2_misses)
      EXPECT_FALSE(is_beyond_error(what_if.saves_percent, time.error_percent));
}

TEST(Device, TheTimelineHasWorkgroupsAndWhatWavesOfSomeDo) {
  LaunchRecording launch = matrix_launch(304 * 2, 304 * 2, 100);
  launch.is_warm = true;
  EXPECT_TRUE(time_of(launch, default_gpu()).timeline.empty());
  const Timeline timeline = time_of(launch, default_gpu(), {.traced_workgroups = 3}).timeline;
  ASSERT_EQ(timeline.workgroups.size(), 304U * 2);
  // One place on each compute unit: the second begins when the first has ended.
  const WorkgroupSpan &first = timeline.workgroups[0], &second = timeline.workgroups[1];
  EXPECT_EQ(second.id, 304U);
  EXPECT_GE(second.begin, first.begin + first.cycles);
  EXPECT_EQ(first.cycles, 4U + 99 * 16 + 4) << "the last one is over when it has issued";
  ASSERT_EQ(timeline.waves.size(), 3U);
  EXPECT_EQ(timeline.waves[1].workgroup, 1U);
  EXPECT_EQ(timeline.waves[2].workgroup, 2U) << "of the next compute unit";
  // 4 cycles of issue, then 12 until the unit is free again.
  const std::vector<TimelineSlice>& slices = timeline.waves[0].slices;
  ASSERT_EQ(slices.size(), 199U);
  EXPECT_EQ(slices[0].cycles, 4U);
  EXPECT_FALSE(slices[0].stall);
  EXPECT_EQ(slices[1].cycles, 12U);
  EXPECT_EQ(slices[1].stall, Stall::ex_stall);
  EXPECT_EQ(slices[2].begin, slices[1].begin + 12);
  // A wave at a time on each unit.
  ASSERT_EQ(timeline.occupancy.size(), 304U);
  ASSERT_GE(timeline.occupancy[0].waves.size(), 2U);
  EXPECT_EQ(timeline.occupancy[0].waves.front(), (TimelineCount{first.begin + 4, 1}));
  EXPECT_EQ(timeline.occupancy[0].waves.back().count, 0U);
}

TEST(Device, WorkgroupsThatWereNotRecordedAreMarked) {
  LaunchRecording launch = matrix_launch(304, 304 * 8, 100);
  const Timeline timeline = time_of(launch, default_gpu(), {.traced_workgroups = 1}).timeline;
  ASSERT_GE(timeline.workgroups.size(), 3U);
  EXPECT_FALSE(timeline.workgroups[0].stand_in);
  EXPECT_TRUE(timeline.workgroups[1].stand_in);
  EXPECT_EQ(timeline.workgroups[1].id, timeline.workgroups[0].id);
}

TEST(Device, WorkgroupsThatWereNotRecordedMayBeLonger) {
  constexpr std::uint64_t kGrid = 304 * 64;
  const KernelTime mean = time_of(matrix_launch(304, kGrid, 400), default_gpu());
  // Of a triangle, say, short rows were recorded.
  LaunchRecording launch = matrix_launch(304, kGrid, 100);
  for (std::size_t n = 0; n < 304; n += 2)
    launch.workgroups[n].waves[0].instructions.assign(50 + n % 100, 0);
  launch.workgroup_instructions = 400;
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_NEAR(time.us_boost / mean.us_boost, 1, 0.03);
  launch.workgroup_instructions = 50;
  EXPECT_NEAR(time_of(launch, default_gpu()).us_boost / mean.us_boost, 0.125, 0.03);
}

TEST(Timeline, CountsWhatBeginsAndEnds) {
  const std::pair<double, double> spans[] = {{0, 10}, {4, 20}, {10, 30.4}, {12, 12}};
  EXPECT_EQ(counts_of(spans), (std::vector<TimelineCount>{{0, 1}, {4, 2}, {20, 1}, {30, 0}}));
  EXPECT_TRUE(counts_of({}).empty());
}

TEST(Timeline, InstructionsOfOneUnitAreOneSlice) {
  WaveTimelineRecorder recorder;
  Instruction valu, wait;
  valu.vaddr = 0x40;
  wait.unit = Unit::wait;
  wait.vaddr = 0x48;
  std::array<double, kStalls> none{}, stalled{};
  stalled[static_cast<unsigned>(Stall::waitcnt)] = 30;
  stalled[static_cast<unsigned>(Stall::not_win)] = 4;
  recorder.add(valu, 100, none, 104);
  recorder.add(valu, 104, none, 108);
  recorder.add(wait, 108, stalled, 146);
  recorder.add(valu, 146, none, 150);
  EXPECT_EQ(recorder.take(), (std::vector<TimelineSlice>{{100, 8, {}, 0x40, 2},
                                                         {108, 34, Stall::waitcnt, 0x48, 1},
                                                         {142, 4, {}, 0x48, 1},
                                                         {146, 4, {}, 0x40, 1}}));
}

}  // namespace
}  // namespace margay::timing
