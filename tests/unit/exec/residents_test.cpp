// Workgroups that wait for each other: the barrier of a cooperative launch.
#include "exec/workgroup/residents.h"

#include <gtest/gtest.h>

namespace margay {
namespace {

TEST(GridBarrier, OpensWhenAllHaveCome) {
  GridBarrier barrier(3);
  const auto phase = barrier.arrive(3);
  EXPECT_EQ(barrier.arrive(3), phase);
  EXPECT_FALSE(barrier.open(phase));
  EXPECT_EQ(barrier.arrive(3), phase);
  EXPECT_TRUE(barrier.open(phase));
  EXPECT_EQ(barrier.missing(), 0u);
}

// Workgroups that give up at the barrier end too, on several host threads at once. They are not
// among those that ended without coming to it.
TEST(GridBarrier, WorkgroupsThatGiveUpAreNotMissing) {
  GridBarrier barrier(4);
  barrier.leave();
  (void)barrier.arrive(4);
  (void)barrier.arrive(4);
  EXPECT_EQ(barrier.missing(), 0u);
  (void)barrier.arrive(4);
  EXPECT_EQ(barrier.missing(), 1u);
  barrier.leave();
  EXPECT_EQ(barrier.missing(), 1u);
}

}  // namespace
}  // namespace margay
