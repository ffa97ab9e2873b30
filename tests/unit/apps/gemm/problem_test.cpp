#include "apps/gemm/problem.h"

#include <gtest/gtest.h>

#include "base/host_level.h"

namespace margay::gemm {
namespace {

TEST(Problem, ASlowerHostHasLessToDoByDefault) {
  EXPECT_GT(default_extent("generic"), 0);
  EXPECT_LT(default_extent("generic"), default_extent("x86-64-v3"));
  EXPECT_LT(default_extent("x86-64-v3"), default_extent("x86-64-v4"));
  EXPECT_GT(default_extent(best_host_level()), 0);
}

}  // namespace
}  // namespace margay::gemm
