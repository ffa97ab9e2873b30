// Launches whose workgroups are not like those that were recorded, in phases.
#include "observe/profile/time/phases.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "timing/launch/device.h"

namespace margay::profile {
namespace {

constexpr std::uint64_t kGrid = 1600;
constexpr std::uint32_t kResident = 2;

/// One wave with `loads` loads of ten lines, `missed` of which come from beyond L2.
timing::WorkgroupRecording workgroup(std::uint64_t id, std::uint32_t loads, std::uint16_t missed,
                                     std::uint32_t instruction = 0) {
  timing::WorkgroupRecording out;
  out.id = id;
  timing::WaveRecording& wave = out.waves.emplace_back();
  wave.instructions.assign(loads, instruction);
  wave.memory.assign(loads, {.l2_lines = 10, .far_lines = missed});
  return out;
}

std::uint32_t length_of(std::uint64_t id) { return 100 + static_cast<std::uint32_t>(id); }

/// Workgroup n has 100 + n instructions; the first 80 of one XCD were recorded.
timing::LaunchRecording ascending(std::uint16_t missed = 0) {
  timing::LaunchRecording launch;
  timing::Instruction load;
  load.unit = timing::Unit::vector_memory;
  load.lane_bytes_in = 16;
  load.has_work = true;
  launch.instructions = {load, load};
  launch.grid = kGrid;
  launch.resident = kResident;
  for (std::uint64_t id = 0; id < kGrid; ++id) launch.lengths.push_back(length_of(id));
  for (std::uint64_t id = 0; id < 640; id += 8)
    launch.workgroups.push_back(workgroup(id, length_of(id), missed));
  timing::ComputeUnitRecording& cu = launch.cus.emplace_back();
  for (const timing::WorkgroupRecording& one : launch.workgroups) cu.workgroups.push_back(&one);
  return launch;
}

std::vector<timing::WorkgroupRecording> probes(std::uint16_t missed,
                                               std::uint32_t instruction = 0) {
  std::vector<timing::WorkgroupRecording> out;
  for (std::uint64_t id = 651; id < kGrid; id += 50)
    out.push_back(workgroup(id, length_of(id), missed, instruction));
  return out;
}

TEST(Phases, AreForLaunchesThatAreNotLikeTheirSample) {
  timing::LaunchRecording launch = ascending();
  EXPECT_TRUE(needs_phases(launch, true));
  for (std::uint32_t& length : launch.lengths) length = 400;
  EXPECT_FALSE(needs_phases(launch, true)) << "400 and 416";
  EXPECT_TRUE(needs_phases(launch, false)) << "recorded here and there";
  launch.lengths.clear();
  EXPECT_FALSE(needs_phases(launch, true)) << "not known";
  launch = ascending();
  launch.grid = launch.workgroups.size();
  EXPECT_FALSE(needs_phases(launch, false)) << "all of it was recorded";
}

TEST(Phases, HaveWorkgroupsOfTheirLength) {
  timing::LaunchRecording launch = ascending();
  launch.lengths[3] = 0;  // ended at once
  divide_into_phases(launch, probes(0));
  ASSERT_EQ(launch.cus.size(), 8u);
  EXPECT_TRUE(launch.has_phases());
  EXPECT_NEAR(timing::sample_length(launch), 1, 0.02);
  for (std::size_t n = 0; n < launch.cus.size(); ++n) {
    const timing::ComputeUnitRecording& cu = launch.cus[n];
    const double mean = 100 + 200 * (static_cast<double>(n) + 0.5);
    EXPECT_NEAR(cu.phase_instructions, mean, 1.5);
    ASSERT_EQ(cu.workgroups.size(), 3 * kResident);
    double all = 0, last = 0;
    for (std::size_t place = 0; place < cu.workgroups.size(); ++place) {
      const double length = timing::instructions_of(*cu.workgroups[place]);
      EXPECT_NEAR(length, mean, 100 + 25) << n;
      all += length;
      if (place >= 2 * kResident) last += length;
    }
    EXPECT_NEAR(all / (3 * kResident), mean, 30) << n;
    // The pace of the last generation is that of the phase.
    EXPECT_NEAR(last / kResident, mean, 50) << n;
  }
}

TEST(Phases, ProbesMissL2AsOftenAsTheSample) {
  timing::LaunchRecording launch = ascending(2);
  // One that had the XCD for itself missed all lines.
  divide_into_phases(launch, probes(10));
  double lines = 0, missed = 0;
  for (const timing::WorkgroupRecording& probe : launch.probes)
    for (const timing::MemoryWork& work : probe.waves[0].memory) {
      EXPECT_LE(work.far_lines, work.l2_lines);
      lines += work.l2_lines;
      missed += work.far_lines;
    }
  ASSERT_GT(lines, 0);
  EXPECT_NEAR(missed / lines, 0.2, 0.001);

  // Of an instruction that the sample never executed there is nothing to take over.
  launch = ascending(2);
  divide_into_phases(launch, probes(10, 1));
  EXPECT_EQ(launch.probes.front().waves[0].memory.front().far_lines, 10);
}

TEST(Phases, AShortLaunchHasFewer) {
  timing::LaunchRecording launch = ascending();
  launch.lengths.assign(kGrid, 0);
  for (const std::uint64_t id : {0, 100, 1500}) launch.lengths[id] = length_of(id);
  divide_into_phases(launch, probes(0));
  ASSERT_EQ(launch.cus.size(), 3u);
  EXPECT_EQ(launch.cus[2].phase_instructions, length_of(1500));
  EXPECT_EQ(launch.cus[2].workgroups.size(), 3 * kResident);
}

}  // namespace
}  // namespace margay::profile
