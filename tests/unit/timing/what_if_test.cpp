// What changes would save, and other devices.
#include "timing/launch/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "launches.h"

namespace margay::timing {
namespace {

// The few units that tell how changes and clocks compare have the one that ends last.
TEST(WhatIf, TheUnitWithMostToDoIsAmongTheFew) {
  LaunchRecording launch = matrix_launch(305, 305, 3000);
  launch.resident = 1;
  EXPECT_NEAR(
      what_if_of(time_of(launch, default_gpu()), WhatIfKind::additional_workgroup).saves_percent,
      50, 5);
}

// Workgroups of four waves are large enough, unless there are more than the dispatcher can start
// meanwhile.
TEST(WhatIf, FewerWorkgroupsAreFasterWhereTheDispatcherDecides) {
  const auto saved = [](std::size_t work) {
    LaunchRecording launch = matrix_launch(304 * 4, 304 * 400, work);
    for (WorkgroupRecording& group : launch.workgroups) group.waves.resize(4, group.waves.front());
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::fewer_workgroups).saves_percent;
  };
  EXPECT_NEAR(saved(3), 50, 5);
  EXPECT_EQ(saved(30), 0);
}

TEST(WhatIf, WithAllLanesActiveTheVectorUnitHasLessToDo) {
  const auto saved = [](Unit unit, float active) {
    LaunchRecording launch = matrix_launch(4, 4, 30000);
    launch.instructions[0] = {.unit = unit, .active_lanes = active};
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::all_lanes_active).saves_percent;
  };
  for (const Unit unit : {Unit::valu, Unit::conversion, Unit::transcendental, Unit::packed})
    EXPECT_NEAR(saved(unit, 0.25), 75, 5) << static_cast<unsigned>(unit);
  EXPECT_EQ(saved(Unit::valu, 1), 0);
}

// A loop of a load from scratch and one from memory, each of which waits.
TEST(WhatIf, WithoutScratchItsAccessesTakeNothing) {
  LaunchRecording launch = matrix_launch(304, 304, 1);
  Instruction load, wait;
  load.unit = Unit::vector_memory;
  load.has_work = load.counts_vm = true;
  load.lane_bytes_in = 4;
  wait.unit = Unit::wait;
  wait.wait_vm = 0;
  launch.instructions = {load, wait, load, wait};
  for (std::uint32_t n = 0; n < 4; ++n) launch.instructions[n].vaddr = 8 * n;
  for (WorkgroupRecording& group : launch.workgroups)
    for (WaveRecording& wave : group.waves) {
      wave.instructions.clear();
      for (unsigned trip = 0; trip < 200; ++trip)
        for (const std::uint32_t n : {0u, 1u, 2u, 3u}) wave.instructions.push_back(n);
      wave.memory.assign(400, {.cycles = 16, .l2_lines = 4});
    }
  const auto no_scratch = [&] {
    return what_if_of(time_of(launch, default_gpu()), WhatIfKind::no_scratch);
  };
  EXPECT_EQ(no_scratch().saves_percent, 0);
  launch.instructions[0].is_scratch = true;
  const WhatIf one = no_scratch();
  EXPECT_GT(one.saves_percent, 35);
  EXPECT_LT(one.saves_percent, 50);
  ASSERT_EQ(one.sites.size(), 1U);
  EXPECT_EQ(one.sites[0].vaddr, 0U);
  launch.instructions[2].is_scratch = true;
  EXPECT_GT(no_scratch().saves_percent, 70);
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
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 4, 2500);
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

}  // namespace
}  // namespace margay::timing
