// -DKITTENS_DEBUG: a coordinate outside its tensor says which tile of which tensor, and stops the
// kernel; one inside says nothing. Each kernel runs in a process of its own, whose output is read.
#include <unistd.h>

#include "device_test.h"

namespace {

using namespace kittens;
using namespace tile_test;

enum class Way { kRegister, kShared, kStore, kVector, kBounded, kGroup };

template <Way way>
__global__ void access(Global<bf16> g, coord<> at) {
  __shared__ st_bf<32, 64> tile;
  __shared__ sv_bf<64> vector;
  rt_bf<32, 64> registers;
  zero(registers);
  if constexpr (way == Way::kRegister) {
    load(registers, g, coord<rt_bf<32, 64>>(at));
    store(tile, registers);
  }
  if constexpr (way == Way::kShared) load(tile, g, coord<st_bf<32, 64>>(at));
  if constexpr (way == Way::kStore) store(g, registers, coord<rt_bf<32, 64>>(at));
  if constexpr (way == Way::kVector) load(vector, g, coord<sv_bf<64>>(at));
  if constexpr (way == Way::kBounded) {
    load(registers, bounded(g), coord<rt_bf<32, 64>>(at));
    store(tile, registers);
  }
  if constexpr (way == Way::kGroup) group<4>::load(tile, g, coord<st_bf<32, 64>>(at));
}

__global__ void load_far_rows(gl<bf16, 1, 1, -1, -1, strided> g, bool with_edges) {
  rt_bf<32, 64> registers;
  __shared__ st_bf<32, 64> tile;
  if (with_edges) {
    load(registers, bounded(g), {0, 0});
  } else {
    load(registers, g, {0, 0});
  }
  store(tile, registers);
}

/// Exits with 0 if the kernel ran, with 3 if it was stopped. What it prints goes to stderr.
template <Way way>
void run(coord<> at, int warps = 1) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Buffer<bf16> data(matrix<bf16>(2 * 128, 128));
  access<way><<<1, 64 * warps>>>(tensor(data, 128, 128, 2), at);
  _exit(hipGetLastError() == hipSuccess && hipDeviceSynchronize() == hipSuccess ? 0 : 3);
}

class Debug : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using DebugDeathTest = Debug;

TEST_F(DebugDeathTest, NamesTheTileAndTheTensor) {
  EXPECT_EXIT(run<Way::kRegister>({0, 1, 4, 1}), testing::ExitedWithCode(3),
              "the coordinate \\{0, 1, 4, 1\\}, which counts tiles of 32 x 64, means rows 128 to "
              "159, columns 64 to 127, batch 0, depth 1: outside the tensor 1 x 2 x 128 x 128 of "
              "2-byte elements");
}
/// Rows so far apart that a tile of them spans more than 4 GiB: nothing is read, the kernel stops.
void run_far_rows(bool with_edges) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Buffer<bf16> data(32);
  const gl<bf16, 1, 1, -1, -1, strided> far(data.get(), nullptr, nullptr, 32, 64, 1 << 27);
  load_far_rows<<<1, 64>>>(far, with_edges);
  _exit(hipGetLastError() == hipSuccess && hipDeviceSynchronize() == hipSuccess ? 0 : 3);
}
TEST_F(DebugDeathTest, RowsThatSpanMoreThanOffsetsReach) {
  for (const bool with_edges : {false, true}) {
    EXPECT_EXIT(
        run_far_rows(with_edges), testing::ExitedWithCode(3),
        "the 32 rows of the tile \\{0, 0, 0, 0\\} are 268435456 bytes apart, more than 4 GiB "
        "together");
  }
}
TEST_F(DebugDeathTest, TheUsersLineComesFirst) {
  EXPECT_EXIT(run<Way::kRegister>({0, 1, 4, 1}), testing::ExitedWithCode(3),
              "hipErrorLaunchFailure\\), [^ ]*debug_test.hip:[0-9]+:[0-9]+ in [^\n]*access[^\n]*\n"
              " +by way of debug.cuh:[0-9]+ in outside<...>\n");
}
TEST_F(DebugDeathTest, EveryDirection) {
  EXPECT_EXIT(run<Way::kRegister>({0, 2, 0, 0}), testing::ExitedWithCode(3), "depth 2: outside");
  EXPECT_EXIT(run<Way::kRegister>({1, 0, 0, 0}), testing::ExitedWithCode(3), "batch 1, depth 0");
  EXPECT_EXIT(run<Way::kRegister>({0, 0, 0, 2}), testing::ExitedWithCode(3), "columns 128 to 191");
  EXPECT_EXIT(run<Way::kRegister>({0, 0, -1, 0}), testing::ExitedWithCode(3), "rows -32 to -1");
}
TEST_F(DebugDeathTest, EveryOperation) {
  EXPECT_EXIT(run<Way::kShared>({0, 0, 4, 0}), testing::ExitedWithCode(3), "rows 128 to 159");
  EXPECT_EXIT(run<Way::kStore>({0, 0, 4, 0}), testing::ExitedWithCode(3), "rows 128 to 159");
  EXPECT_EXIT(run<Way::kGroup>({0, 0, 4, 0}, 4), testing::ExitedWithCode(3), "rows 128 to 159");
  EXPECT_EXIT(run<Way::kVector>({0, 0, 0, 2}), testing::ExitedWithCode(3), "columns 128 to 191");
  EXPECT_EXIT(run<Way::kBounded>({0, 2, 0, 0}), testing::ExitedWithCode(3), "depth 2: outside");
}
TEST_F(DebugDeathTest, AGroupNeedsItsWarps) {
  EXPECT_EXIT(run<Way::kGroup>({0, 0, 0, 0}, 2), testing::ExitedWithCode(3),
              "an operation of a group of 4 warps in a workgroup of 128 threads");
}
TEST_F(DebugDeathTest, SilentWhereAllIsWell) {
  EXPECT_EXIT(run<Way::kRegister>({0, 1, 3, 1}), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(run<Way::kShared>({0, 0, 3, 1}), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(run<Way::kVector>({0, 0, 127, 1}), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(run<Way::kBounded>({0, 1, 3, 2}), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(run<Way::kGroup>({0, 0, 3, 1}, 4), testing::ExitedWithCode(0), "^$");
}

}  // namespace
