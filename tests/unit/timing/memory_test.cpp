// What a compute unit gets from vL1D, L2, the Infinity Cache and HBM.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "timing/compute_unit.h"
#include "timing/launch/device.h"

namespace margay::timing {
namespace {

const Gpu& mi300a() {
  for (const Gpu& gpu : all_gpus())
    if (gpu.option == "mi300a") return gpu;
  ADD_FAILURE() << "no mi300a";
  return default_gpu();
}

Instruction access(bool store) {
  Instruction i;
  i.unit = Unit::vector_memory;
  i.has_work = i.counts_vm = true;
  i.is_store = store;
  (store ? i.lane_bytes_out : i.lane_bytes_in) = 16;
  return i;
}

Instruction wait_for_all() {
  Instruction i;
  i.unit = Unit::wait;
  i.wait_vm = 0;
  return i;
}

/// Of one wave that performs `count` accesses and waits for them.
double cycles_of(const Instruction& one, const MemoryWork& work, unsigned count, const Gpu& gpu,
                 const Share& share) {
  WorkgroupRecording group;
  WaveRecording& wave = group.waves.emplace_back();
  wave.instructions.assign(count, 0);
  wave.instructions.push_back(1);
  wave.memory.assign(count, work);
  ComputeUnitRecording cu;
  cu.workgroups.push_back(&group);
  const std::vector<Instruction> instructions = {one, wait_for_all()};
  return replay(cu, instructions, {1, 0}, gpu, parameters_of(gpu), share).cycles;
}

/// Of a step of a chain: each load waits for the one before.
double cycles_of_step(const Instruction& load, const MemoryWork& work) {
  constexpr unsigned kSteps = 1000;
  WorkgroupRecording group;
  WaveRecording& wave = group.waves.emplace_back();
  for (unsigned n = 0; n < kSteps; ++n) wave.instructions.insert(wave.instructions.end(), {0, 1});
  wave.memory.assign(kSteps, work);
  ComputeUnitRecording cu;
  cu.workgroups.push_back(&group);
  Instruction wait = wait_for_all();
  wait.wait_lgkm = 0;
  const std::vector<Instruction> instructions = {load, wait};
  return replay(cu, instructions, {1, 0}, default_gpu(), parameters_of(default_gpu()), {}).cycles /
         kSteps;
}

// RRZE gpu-latency; scalar loads: MT4G, chips and cheese.
TEST(Memory, AChainOfLoadsTakesWhatWasMeasured) {
  const double vector_cache = cycles_of_step(access(false), {.cycles = 1});
  EXPECT_GE(vector_cache, 116);
  EXPECT_LE(vector_cache, 122);
  const double l2 = cycles_of_step(access(false), {.cycles = 1, .l2_lines = 1});
  EXPECT_GE(l2, 201);
  EXPECT_LE(l2, 228);
  Instruction scalar;
  scalar.unit = Unit::scalar_memory;
  scalar.has_work = scalar.counts_lgkm = true;
  EXPECT_NEAR(cycles_of_step(scalar, {}), 48, 4.1);
}

TEST(Memory, AHitOnALineThatIsOnItsWayTakesAsLongAsTheLine) {
  const double far = cycles_of_step(access(false), {.cycles = 1, .l2_lines = 1, .far_lines = 1});
  const double l2 = cycles_of_step(access(false), {.cycles = 1, .l2_lines = 1});
  EXPECT_GT(far, l2 + 300);
  EXPECT_NEAR(cycles_of_step(access(false), {.cycles = 1, .awaited = Level::memory}), far, 4);
  EXPECT_NEAR(cycles_of_step(access(false), {.cycles = 1, .l2_lines = 1, .awaited = Level::memory}),
              far, 4);
  EXPECT_NEAR(cycles_of_step(access(false), {.cycles = 1, .awaited = Level::l2}), l2, 4);
  Instruction scalar;
  scalar.unit = Unit::scalar_memory;
  scalar.has_work = scalar.counts_lgkm = true;
  EXPECT_NEAR(cycles_of_step(scalar, {.awaited = Level::memory}),
              cycles_of_step(scalar, {.l2_lines = 1, .far_lines = 1}), 0.1);
  EXPECT_NEAR(cycles_of_step(scalar, {.awaited = Level::l2}),
              cycles_of_step(scalar, {.l2_lines = 1}), 0.1);
}

// AMD's CDNA 3 white paper: 128 bytes per clock from L2 to a compute unit.
TEST(Memory, LinesOfL2ComeOneInACycleUnlessTheyAreForOneBank) {
  constexpr unsigned kLoads = 2000;
  const auto cycles = [](const MemoryWork& work) {
    return cycles_of(access(false), work, kLoads, default_gpu(), {}) / kLoads;
  };
  EXPECT_NEAR(cycles({.cycles = 4, .l2_lines = 8, .bank_lines = 2}), 8, 0.2);
  EXPECT_NEAR(cycles({.cycles = 4, .l2_lines = 8, .bank_lines = 4}), 8, 0.2);
  EXPECT_NEAR(cycles({.cycles = 4, .l2_lines = 8, .bank_lines = 8}), 16, 0.2);
}

// MGPUSim's mi300a.csv: a vector sum reads twice as much as it writes, a copy as much.
TEST(Memory, TheInfinityCacheTakesWritesMoreSlowlyThanItGivesReads) {
  constexpr unsigned kAccesses = 20000;
  const Share share = {.clock_ghz = 2.1,
                       .active_cus = 228,
                       .active_cus_per_xcd = 38,
                       .infinity_cache_hits = 1,
                       .infinity_cache_write_hits = 1};
  const MemoryWork load = {.cycles = 16, .l2_lines = 8, .far_lines = 8};
  const MemoryWork store = {.cycles = 16, .l2_lines = 16, .far_lines = 8};
  const double reads = cycles_of(access(false), load, kAccesses, mi300a(), share);
  const double writes = cycles_of(access(true), store, kAccesses, mi300a(), share);
  EXPECT_GT(writes, 1.3 * reads);
  const double bytes = 228.0 * kAccesses * 8 * 128;
  EXPECT_NEAR(bytes / (writes / 2.1), 3400, 0.1 * 3400);
  EXPECT_NEAR(bytes / (reads / 2.1), 4900, 0.1 * 4900);
}

// What loads find in the Infinity Cache says nothing of stores and atomics.
TEST(Memory, StoresAndAtomicsHaveTheirOwnHitsInTheInfinityCache) {
  Instruction atomic = access(true);
  atomic.is_store = false;
  atomic.is_atomic = true;
  for (const Instruction& one : {access(true), atomic}) {
    const auto cycles = [&](double hits, double write_hits) {
      const Share share = {.clock_ghz = 2.1,
                           .active_cus = 304,
                           .active_cus_per_xcd = 38,
                           .infinity_cache_hits = hits,
                           .infinity_cache_write_hits = write_hits};
      return cycles_of(one, {.cycles = 16, .l2_lines = 16, .far_lines = 8}, 5000, default_gpu(),
                       share);
    };
    EXPECT_NEAR(cycles(1, 0), cycles(0, 0), 0.01 * cycles(0, 0));
    EXPECT_LT(cycles(0, 1), 0.9 * cycles(0, 0));
  }
}

// What an atomic changes has to come to L2 and to go back. Who gets the old value waits for it.
TEST(Memory, AtomicsThatMissL2ReadAndWriteMemory) {
  constexpr unsigned kAccesses = 20000;
  const Share share = {.clock_ghz = 2.1, .active_cus = 304, .active_cus_per_xcd = 38};
  Instruction atomic = access(true);
  atomic.is_store = false;
  atomic.is_atomic = true;
  const auto cycles = [&](const Instruction& i, unsigned count) {
    return cycles_of(i, {.cycles = 16, .l2_lines = 16, .far_lines = 8}, count, default_gpu(),
                     share);
  };
  const double reads = cycles_of(access(false), {.cycles = 16, .l2_lines = 8, .far_lines = 8},
                                 kAccesses, default_gpu(), share);
  const double writes = cycles(access(true), kAccesses);
  EXPECT_NEAR(cycles(atomic, kAccesses), reads + writes, 0.05 * (reads + writes));

  Instruction returning = atomic;
  returning.lane_bytes_in = 4;
  const double far = parameters_of(default_gpu()).memory_ns * share.clock_ghz;
  EXPECT_NEAR(cycles(returning, 1) - cycles(atomic, 1), far, 0.5 * far);
}

// A wave ends with its last stores in flight, but the launch does not: a fill by few workgroups.
TEST(Memory, ALaunchEndsWhenL2HasTakenItsStores) {
  constexpr unsigned kStores = 5000;
  const Share share = {.clock_ghz = 2.1, .active_cus = 304, .active_cus_per_xcd = 38};
  const MemoryWork store = {.cycles = 16, .l2_lines = 16, .far_lines = 8};
  const double waited = cycles_of(access(true), store, kStores, default_gpu(), share);
  WorkgroupRecording group;
  WaveRecording& wave = group.waves.emplace_back();
  wave.instructions.assign(kStores, 0);
  wave.memory.assign(kStores, store);
  ComputeUnitRecording cu;
  cu.workgroups.push_back(&group);
  const std::vector<Instruction> instructions = {access(true)};
  const ComputeUnitTime time =
      replay(cu, instructions, {1, 0}, default_gpu(), parameters_of(default_gpu()), share);
  EXPECT_NEAR(time.cycles, waited, 0.01 * waited);
  // Of its stores 63 can be in flight, so that it ends not much earlier.
  EXPECT_GT(time.workgroup_end[0], 0.95 * time.cycles);
}

TEST(Memory, XcdsThatShareALineInOneGenerationWaitForHbmTogether) {
  EXPECT_EQ(ready_in_infinity_cache(1, 1, 8), 0) << "each line is read once";
  EXPECT_EQ(ready_in_infinity_cache(8, 1, 8), 0) << "by all XCDs, at one time";
  EXPECT_DOUBLE_EQ(ready_in_infinity_cache(10, 10, 8), 0.9) << "once in each generation";
  EXPECT_DOUBLE_EQ(ready_in_infinity_cache(16, 4, 8), 0.75) << "four at a time, of sixteen";
  EXPECT_DOUBLE_EQ(ready_in_infinity_cache(100, 1, 8), 0.92) << "there are no more XCDs";
  EXPECT_EQ(ready_in_infinity_cache(2, 0.5, 8), 0) << "half a generation";
  EXPECT_DOUBLE_EQ(ready_in_infinity_cache(4, 1, 1), 0.75) << "four passes by one XCD";
}

TEST(Memory, WhatTheInfinityCacheGetsFromHbmMeanwhileTakesAsLong) {
  const auto cycles = [](double ready) {
    const Share share = {.active_cus = 8,
                         .active_cus_per_xcd = 1,
                         .infinity_cache_hits = 0.5,
                         .infinity_cache_ready = ready};
    return cycles_of(access(false), {.cycles = 1, .l2_lines = 1, .far_lines = 1}, 1, default_gpu(),
                     share);
  };
  const Parameters& p = parameters_of(default_gpu());
  EXPECT_NEAR(cycles(0) - cycles(1), (p.memory_ns - p.infinity_cache_ns) * 2.1, 1);
}

/// Two waves on different SIMDs: the first loads one line from far away, the second then loads
/// lines that vL1D has. Cycles of the one that ends first.
double hits_behind(const MemoryWork& first) {
  WorkgroupRecording group;
  group.waves.resize(2);
  group.waves[0].instructions = {0, 1};
  group.waves[0].memory = {first};
  group.waves[1].instructions = {2, 2, 2, 2, 2, 2, 2, 2, 0, 1};
  group.waves[1].memory = {{.cycles = 1}};
  ComputeUnitRecording cu;
  cu.workgroups.push_back(&group);
  const std::vector<Instruction> instructions = {access(false), wait_for_all(), Instruction{}};
  const ComputeUnitTime time = replay(cu, instructions, {1, 0}, default_gpu(),
                                      parameters_of(default_gpu()), {}, {}, {.latencies = true});
  double out = time.cycles;
  for (const WaveLife& life : time.lives) out = std::min(out, life.end - life.begin);
  return out;
}

TEST(Memory, LoadsReturnInTheOrderOfRequestsWhicheverWaveAsked) {
  const double behind_a_miss = hits_behind({.cycles = 1, .l2_lines = 1, .far_lines = 1});
  const double behind_a_hit = hits_behind({.cycles = 1});
  EXPECT_LT(behind_a_hit, 200);
  EXPECT_GT(behind_a_miss, 800) << "as long as HBM takes";
}

/// Ends of workgroups of one wave, which idles for 1000 cycles, then loads kernel arguments of the
/// given lines.
std::vector<double> ends_of_argument_loads(const std::vector<MemoryWork>& loads,
                                           std::uint32_t resident, const Share& share) {
  Instruction load, wait, idle;
  load.unit = Unit::scalar_memory;
  load.has_work = load.counts_lgkm = true;
  wait.unit = Unit::wait;
  wait.wait_lgkm = 0;
  idle.unit = Unit::idle;
  idle.turns = 250;
  std::vector<WorkgroupRecording> groups(loads.size());
  ComputeUnitRecording cu;
  for (std::size_t n = 0; n < loads.size(); ++n) {
    WaveRecording& wave = groups[n].waves.emplace_back();
    wave.instructions = {2, 0, 1};
    wave.memory = {loads[n]};
    cu.workgroups.push_back(&groups[n]);
  }
  return replay(cu, {{load, wait, idle}}, {resident, 0}, default_gpu(),
                parameters_of(default_gpu()), share)
      .workgroup_end;
}

// vcopy's counters: each scalar cache misses the arguments' line once, and 30 requests find it on
// its way (SQC_DCACHE_MISSES_DUPLICATE); those after it hit.
TEST(Memory, WavesThatBeginTogetherWaitForTheSameKernelArguments) {
  const MemoryWork load = {.argument_lines = 2};
  const Share share = {.arguments_ns = 1000};
  const std::vector<double> together = ends_of_argument_loads({load, load, load}, 3, share);
  for (const double end : together) EXPECT_NEAR(end, 1000 + 2100, 50);
  const std::vector<double> behind = ends_of_argument_loads({load, load, load}, 1, share);
  EXPECT_NEAR(behind[1] - behind[0], 1000 + 48, 20) << "the scalar cache has the line";
  EXPECT_NEAR(behind[2] - behind[1], 1000 + 48, 20);
  const MemoryWork other = {.argument_lines = 4}, both = {.argument_lines = 6};
  EXPECT_NEAR(ends_of_argument_loads({load, other}, 1, share)[1], 2 * (1000 + 2100), 50);
  EXPECT_NEAR(ends_of_argument_loads({load, both}, 1, share)[1], 2 * (1000 + 2100), 50);
}

// vcopy's counters: of the instruction fetches of a first launch 24 for each L1I wait, no more.
TEST(Memory, OnlyWavesThatBeginBeforeTheCodeIsThereWaitForIt) {
  const MemoryWork hits = {.argument_lines = 2};
  Share share = {.arguments_ns = 0};
  const std::vector<double> warm = ends_of_argument_loads({hits, hits, hits}, 2, share);
  share.code_is_warm = false;
  const std::vector<double> cold = ends_of_argument_loads({hits, hits, hits}, 2, share);
  const double cold_code = parameters_of(default_gpu()).cold_code;
  EXPECT_NEAR(cold[0] - warm[0], cold_code, 1);
  EXPECT_NEAR(cold[1] - warm[1], cold_code, 10);
  EXPECT_NEAR(cold[2] - cold[0], warm[2] - warm[0], 10);
  share.active_cus_per_xcd = 38;  // the dispatcher comes back to this unit later than the code
  std::vector<MemoryWork> many(8, hits);
  const std::vector<double> last = ends_of_argument_loads(many, 8, share);
  share.code_is_warm = true;
  EXPECT_NEAR(last[7], ends_of_argument_loads(many, 8, share)[7], 10);
}

/// Microseconds of a launch in which each compute unit reads the same number of lines from HBM.
double us_of_reads(const Gpu& gpu, double touched_bytes) {
  const std::uint64_t cus = gpu.compute_units();
  LaunchRecording launch;
  launch.instructions = {access(false), wait_for_all()};
  launch.grid = cus;
  launch.equivalent_workgroups = static_cast<double>(cus);
  launch.touched_bytes = touched_bytes;
  launch.workgroups.resize(cus);
  launch.cus.resize(cus);
  for (std::uint64_t n = 0; n < cus; ++n) {
    WorkgroupRecording& group = launch.workgroups[n];
    group.id = n;
    WaveRecording& wave = group.waves.emplace_back();
    wave.instructions.assign(3000, 0);
    wave.instructions.push_back(1);
    wave.memory.assign(3000, {.cycles = 16, .l2_lines = 8, .far_lines = 8});
    launch.cus[n].workgroups.push_back(&group);
  }
  const KernelTime time = time_of(launch, gpu, {.what_if = false});
  return time.us_boost - time.launch_us;
}

// MGPUSim's mi300a.csv: vectoradd of 256 M elements (3 GiB) runs at 0.70 of the bandwidth that
// 64 M elements (0.75 GiB) have.
TEST(Memory, BeyondTheReachOfTheTlbsHbmIsSlower) {
  constexpr double kGiB = 1 << 30;
  const double within = us_of_reads(mi300a(), 0.75 * kGiB);
  EXPECT_NEAR(us_of_reads(mi300a(), 1.25 * kGiB), within, 0.001 * within);
  EXPECT_NEAR(us_of_reads(mi300a(), 3 * kGiB), within / 0.70, 0.05 * within / 0.70);
  EXPECT_GT(us_of_reads(mi300a(), 6 * kGiB), us_of_reads(mi300a(), 3 * kGiB));
  // Of other devices no such limit was measured.
  EXPECT_EQ(us_of_reads(default_gpu(), 6 * kGiB), us_of_reads(default_gpu(), 0.75 * kGiB));
}

// Where the host shares the device's memory, it makes no difference.
TEST(Memory, KernelArgumentsInTheHostsMemoryTakeLonger) {
  LaunchRecording launch;
  Instruction load, wait;
  load.unit = Unit::scalar_memory;
  load.has_work = load.counts_lgkm = true;
  wait.unit = Unit::wait;
  wait.wait_lgkm = 0;
  launch.instructions = {load, wait};
  launch.grid = 1;
  launch.equivalent_workgroups = 1;
  launch.workgroups.resize(1);
  launch.workgroups[0].waves.resize(1);
  launch.workgroups[0].waves[0].instructions = {0, 1};
  launch.workgroups[0].waves[0].memory = {{.argument_lines = 2}};
  launch.cus.resize(1);
  launch.cus[0].workgroups.push_back(&launch.workgroups[0]);
  const auto us = [&](const Gpu& gpu, bool in_host) {
    launch.host_arguments = in_host;
    return time_of(launch, gpu, {.what_if = false}).us_boost;
  };
  const Parameters& p = parameters_of(default_gpu());
  EXPECT_NEAR(us(default_gpu(), true) - us(default_gpu(), false),
              1e-3 * (p.host_arguments_ns - p.arguments_ns), 0.01);
  EXPECT_EQ(us(mi300a(), true), us(mi300a(), false));
}

}  // namespace
}  // namespace margay::timing
