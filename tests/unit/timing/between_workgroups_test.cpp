// What workgroups do to wait for each other (timing/launch/between_workgroups.h).
#include "timing/launch/between_workgroups.h"

#include <gtest/gtest.h>

namespace margay::timing {
namespace {

/// Bit n of the VGPRs.
RegisterMask vgpr(unsigned n) {
  RegisterMask mask{};
  mask[n / 64] = std::uint64_t{1} << n % 64;
  return mask;
}
constexpr std::uint64_t kExec = std::uint64_t{3} << 62;

// v1 <- load [v0]; s_waitcnt; s_cbranch; v0 <- v0 + 4; store [v2]; buffer_wbl2
enum : std::uint32_t { load, wait, branch, advance, store, write_back };
struct Launch {
  std::vector<Registers> registers = std::vector<Registers>(6);
  LaunchRecording recording;

  explicit Launch(std::vector<std::uint32_t> executed) {
    recording.instructions.resize(6);
    for (std::uint32_t n = 0; n < 6; ++n) {
      recording.instructions[n].vaddr = 0x100 + 8 * n;
      recording.instructions[n].registers = &registers[n];
    }
    registers[load] = {vgpr(0), vgpr(1)};
    registers[load].reads[9] = kExec;
    registers[branch].writes[9] = kExec;  // lanes leave the loop
    registers[advance] = {vgpr(0), vgpr(0)};
    recording.instructions[load].has_work = recording.instructions[load].sees_others = true;
    recording.instructions[store].has_work = true;
    recording.instructions[write_back].syncs_grid = true;
    recording.workgroups.resize(1);
    recording.workgroups[0].waves.push_back({std::move(executed), {}});
  }
  [[nodiscard]] BetweenWorkgroups between() const { return between_workgroups(recording); }
};

TEST(BetweenWorkgroups, ALoadOfTheSamePlaceAgainPolls) {
  const BetweenWorkgroups found =
      Launch({load, wait, branch, load, wait, branch, load, wait, branch, store}).between();
  EXPECT_DOUBLE_EQ(found.polling, 6 / 10.0) << "two trips are more than one";
  EXPECT_EQ(found.polls_at, 0x100);
  EXPECT_EQ(found.grid_syncs, 0);
}

TEST(BetweenWorkgroups, OneTripIsNoWait) {
  EXPECT_EQ(Launch({load, wait, branch, store}).between().polling, 0);
}

TEST(BetweenWorkgroups, AWalkThroughMemoryIsNoWait) {
  EXPECT_EQ(Launch({load, wait, advance, branch, load, wait, advance, branch}).between().polling,
            0);
}

TEST(BetweenWorkgroups, ALoopThatStoresDoesSomethingElse) {
  EXPECT_EQ(Launch({load, wait, store, branch, load, wait, store, branch}).between().polling, 0);
}

TEST(BetweenWorkgroups, ALoadThatSeesNoOtherWorkgroupIsNoWait) {
  Launch launch({load, wait, branch, load, wait, branch});
  launch.recording.instructions[load].sees_others = false;
  EXPECT_EQ(launch.between().polling, 0);
}

TEST(BetweenWorkgroups, FencesAreCountedForEachWave) {
  Launch launch({store, write_back, load, write_back});
  launch.recording.workgroups[0].waves.push_back({{store}, {}});
  EXPECT_DOUBLE_EQ(launch.between().grid_syncs, 1);
}

}  // namespace
}  // namespace margay::timing
