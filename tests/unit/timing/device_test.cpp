// From compute units to the device: clock, tail, and workgroups that were not recorded.
#include "timing/device.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(Device, ParametersAreThereForEveryMachine) {
  for (const Gpu& gpu : all_gpus()) {
    const Parameters& parameters = parameters_of(gpu);
    for (const ParameterInfo& info : parameter_table()) {
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

// Dense matrix work does not keep the boost clock. AMD's MAF: MI325X, bf16, 843 TFLOP/s at 1447
// MHz.
TEST(Device, DenseMatrixWorkRunsAtALowerClockForLong) {
  LaunchRecording launch = matrix_launch(304 * 4, 304 * 4, 10000);
  launch.resident = 4;
  const KernelTime time = time_of(launch, default_gpu());
  EXPECT_GT(time.us_sustained, 1.2 * time.us_boost);
  EXPECT_NEAR(time.sustained_ghz, 1.447, 0.15);
  EXPECT_EQ(time_of(launch, default_gpu(), 1.5).us_sustained,
            time_of(launch, default_gpu(), 1.5).us_boost);
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

}  // namespace
}  // namespace margay::timing
