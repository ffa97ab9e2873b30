// Workgroups with unequal amounts of work on compute units.
#include "timing/launch/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace margay::timing {
namespace {

using Work = std::vector<std::uint32_t>;

TEST(Schedule, OneUnitWithRoomForOneAddsThemUp) {
  EXPECT_DOUBLE_EQ(makespan_of_one(Work{3, 1, 2}, {0.5}), 12);
}

TEST(Schedule, WhatAUnitDoesAtOnceItDoesFaster) {
  // Both at 1.5 in all until the older one, at 1, is done; then the other one's 2 that are left.
  EXPECT_DOUBLE_EQ(makespan_of_one(Work{2, 3}, {1, 1.5}), 2 + 2);
  EXPECT_DOUBLE_EQ(makespan_of_one(Work{2, 3}, {1, 1}), 5) << "the younger one waits";
  EXPECT_DOUBLE_EQ(makespan_of_one(Work{2, 3}, {1, 2}), 3) << "they do not disturb each other";
}

TEST(Schedule, EachXcdGetsEveryEighthWorkgroup) {
  const Gpu& gpu = default_gpu();
  Work work(std::size_t{2} * gpu.compute_units(), 1);
  EXPECT_DOUBLE_EQ(makespan(work, gpu, {1}), 2);
  // All long ones are on one XCD.
  for (std::size_t n = 0; n < work.size(); n += gpu.xcds) work[n] = 10;
  EXPECT_DOUBLE_EQ(makespan(work, gpu, {1}), 20);
  // Spread over all of them, a few units have one each, and the others all that is short.
  std::ranges::fill(work, 1);
  std::fill_n(work.begin(), work.size() / gpu.xcds, 10);
  EXPECT_DOUBLE_EQ(makespan(work, gpu, {1}), 10);
}

TEST(Schedule, TheNextWorkgroupBeginsWhereThereIsRoom) {
  const Gpu& gpu = default_gpu();
  // Of one XCD: a long one, then as many short ones as fill the other units three times.
  Work work(std::size_t{gpu.xcds} * (1 + 3 * (gpu.cus_per_xcd - 1)), 0);
  for (std::size_t n = 0; n < work.size(); n += gpu.xcds) work[n] = n == 0 ? 30 : 10;
  EXPECT_DOUBLE_EQ(makespan(work, gpu, {1}), 30);
  std::ranges::reverse(work);  // the long one begins last, on another XCD
  EXPECT_DOUBLE_EQ(makespan(work, gpu, {1}), 20 + 30);
}

}  // namespace
}  // namespace margay::timing
