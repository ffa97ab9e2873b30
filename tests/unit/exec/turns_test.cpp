// The order in which the waves of a workgroup run, and what never ends.
#include "exec/program/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

#include "exec/device/device.h"
#include "machine.h"

namespace margay {
namespace {

using ::testing::HasSubstr;

class Turns : public ::testing::TestWithParam<unsigned> {
 protected:
  void start(DeviceOptions options) { machine_.emplace(MARGAY_TEST_TURNS, std::move(options)); }
  void SetUp() override { start({.threads = GetParam()}); }
  template <typename T>
  std::span<T> allocate(std::size_t count) {
    return machine_->allocate<T>(count);
  }
  template <typename... A>
  Result<LaunchReport> launch(const char* kernel, Dim3 grid, Dim3 block, A... arguments) {
    return machine_->launch(kernel, grid, block, arguments...);
  }

  std::optional<TestMachine> machine_;
};

constexpr std::uint32_t kItems = 512, kSteps = 20;

/// What a kernel that rewrites its tile gives where every wave reads what belongs to its step.
std::vector<std::uint32_t> sums(std::span<const std::uint32_t> in) {
  std::vector<std::uint32_t> out(kItems);
  for (std::uint32_t self = 0; self < kItems; ++self)
    for (std::uint32_t step = 0; step < kSteps; ++step)
      out[self] = out[self] * 3 + in[step * kItems + kItems - 1 - self];
  return out;
}

TEST_P(Turns, ATileMayBeRewrittenWithoutABarrierBehindItsReads) {
  const auto in = allocate<std::uint32_t>((kSteps + 1) * kItems);
  for (std::uint32_t n = 0; n < in.size(); ++n) in[n] = n * 2654435761u;
  const std::vector<std::uint32_t> expected = sums(in);
  for (const char* kernel : {"rewrite_at_once", "rewrite_later", "rewrite_by_direct_loads"}) {
    const auto out = allocate<std::uint32_t>(kItems);
    const auto report =
        launch(kernel, {3, 1, 1}, {kItems, 1, 1}, in.data(), out.data(), std::int32_t{kSteps});
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_TRUE(std::ranges::equal(out, expected)) << kernel;
  }
}

TEST_P(Turns, TwoTilesMayLagByLessThanAStep) {
  const auto in = allocate<std::uint32_t>((kSteps + 1) * kItems);
  for (std::uint32_t n = 0; n < in.size(); ++n) in[n] = n * 2654435761u;
  const auto out = allocate<std::uint32_t>(kItems);
  const auto report = launch("double_buffer", {2, 1, 1}, {kItems, 1, 1}, in.data(), out.data(),
                             std::int32_t{kSteps});
  ASSERT_TRUE(report) << report.error().text();
  for (std::uint32_t self = 0; self < kItems; ++self) {
    std::uint32_t sum = 0;
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      const std::uint32_t* const tile = &in[step * kItems];
      sum = sum * 3 + tile[kItems - 1 - self] + tile[(self + 64) % kItems];
    }
    ASSERT_EQ(out[self], sum) << self;
  }
}

TEST_P(Turns, AWaveThatPollsRunsNoFurtherThanTheOthers) {
  const auto out = allocate<std::uint32_t>(1);
  const auto report = launch("poll_lds", {1, 1, 1}, {128, 1, 1}, out.data(), std::int32_t{100});
  ASSERT_TRUE(report) << report.error().text();
  // A look is four instructions and more, a step of the other wave two and more.
  EXPECT_LT(out[0], 200u);
  EXPECT_GT(out[0], 10u);
}

TEST_P(Turns, WorkgroupsMayWaitForEachOtherInLoopsOverBarriers) {
  for (const char* kernel : {"wait_for_all", "wait_for_all_by_atomics"}) {
    const auto arrived = allocate<std::int32_t>(1);
    arrived[0] = 0;
    const auto report = launch(kernel, {16, 1, 1}, {128, 1, 1}, arrived.data(), std::int32_t{16});
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_EQ(arrived[0], 16);
  }
}

TEST_P(Turns, StepsThatReadTheSameWordsAreWork) {
  constexpr std::uint32_t kThreads = 128, kManySteps = 20'000;
  const auto table = allocate<std::uint32_t>(kThreads), out = allocate<std::uint32_t>(kThreads);
  std::vector<std::uint32_t> x(kThreads), before;
  for (std::uint32_t n = 0; n < kThreads; ++n) table[n] = 2 * n + 1, x[n] = n;
  for (std::uint32_t step = 0; step < kManySteps; ++step) {
    before = x;
    for (std::uint32_t n = 0; n < kThreads; ++n)
      x[n] = before[n] * table[n] + before[(n + 1) % kThreads];
  }
  const auto report = launch("many_steps", {2, 1, 1}, {kThreads, 1, 1}, table.data(), out.data(),
                             std::int32_t{kManySteps});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(std::ranges::equal(out, x));
}

TEST_P(Turns, GoingRoundBarriersForEverIsNamed) {
  const auto report = launch("endless_barriers", {1, 1, 1}, {128, 1, 1});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::deadlock);
  EXPECT_THAT(report.error().where, HasSubstr("wave 1 repeats itself without end"));
  EXPECT_THAT(report.error().where, HasSubstr("turns.hip:"));
}

INSTANTIATE_TEST_SUITE_P(Threads, Turns, ::testing::Values(1u, 3u));

class LongLaunchTest : public Turns {
 protected:
  void SetUp() override {}
};
TEST_P(LongLaunchTest, IsSaidOnceWithItsPlace) {
  std::mutex mutex;
  std::vector<LongLaunch> said;
  DeviceOptions options;
  options.threads = GetParam();
  options.long_launch = std::chrono::milliseconds(100);
  options.on_long_launch = [&](const LongLaunch& launch) {
    const std::lock_guard lock(mutex);
    said.push_back(launch);
  };
  start(std::move(options));
  const auto out = allocate<std::uint64_t>(64);
  // Short ones are not reported.
  ASSERT_TRUE(launch("count_to", {1, 1, 1}, {64, 1, 1}, std::uint64_t{10}, out.data()));
  EXPECT_TRUE(said.empty());
  std::uint64_t last = 1 << 20;
  for (; said.empty() && last < std::uint64_t{1} << 32; last *= 4) {
    const auto report = launch("count_to", {2, 1, 1}, {64, 1, 1}, last, out.data());
    ASSERT_TRUE(report) << "a launch that takes long is no error: " << report.error().text();
    EXPECT_EQ(out[5], last);
  }
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].kernel, "count_to");
  EXPECT_GE(said[0].seconds, 0.1);
  EXPECT_EQ(said[0].workgroups, 2u);
  EXPECT_LT(said[0].workgroups_done, 2u);
  EXPECT_THAT(said[0].where, HasSubstr("wave 0 of workgroup ("));
  EXPECT_THAT(said[0].where, HasSubstr("turns.hip:"));
}
INSTANTIATE_TEST_SUITE_P(Threads, LongLaunchTest, ::testing::Values(1u, 3u));

}  // namespace
}  // namespace margay
