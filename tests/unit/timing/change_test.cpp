// Changes of a replay, with sequences whose cycles follow from the parameters by hand: see
// latencies_test.cpp.
#include "timing/change.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "timing/compute_unit.h"

namespace margay::timing {
namespace {

/// v: VALU without registers, u: VALU that reads what loads write, o: one that overwrites it.
/// L, K: load to a register, l: load to LDS, S: store, r: LDS read to a register, k: scalar load.
/// w: wait for all, 1: wait until one access to memory is left, B: barrier.
class Changes : public ::testing::Test {
 protected:
  Changes() {
    of('v');
    use_.reads[1] = write_.writes[1] = 4;
    scalar_use_.reads[8] = scalar_write_.writes[8] = 4;
    of('u').registers = &use_;
    of('o').registers = &write_;
    of('y').registers = &scalar_use_;
    for (const char letter : {'L', 'K', 'l', 'S'}) {
      of(letter).unit = Unit::vector_memory;
      of(letter).has_work = of(letter).counts_vm = true;
      of(letter).registers = &none_;
    }
    of('L').registers = &write_;
    of('L').lane_bytes_in = 4;
    of('K') = Instruction(of('L'));
    of('S').is_store = true;
    of('r').unit = Unit::lds;
    of('r').lane_bytes_in = 4;
    of('r').registers = &write_;
    of('k').unit = Unit::scalar_memory;
    of('k').registers = &scalar_write_;
    for (const char letter : {'r', 'k'}) of(letter).has_work = of(letter).counts_lgkm = true;
    for (const char letter : {'w', '1'}) of(letter).unit = Unit::wait;
    of('w').wait_vm = of('w').wait_lgkm = 0;
    of('1').wait_vm = 1;
    of('B').unit = Unit::barrier;
  }
  Instruction& of(char letter) {
    const auto [at, is_new] =
        numbers_.try_emplace(letter, static_cast<std::uint32_t>(instructions_.size()));
    if (is_new) instructions_.emplace_back();
    return instructions_[at->second];
  }
  /// Of one wave.
  [[nodiscard]] double cycles(const std::string& letters, const Change& change) {
    WorkgroupRecording group;
    WaveRecording& wave = group.waves.emplace_back();
    for (const char letter : letters) {
      wave.instructions.push_back(numbers_.at(letter));
      if (of(letter).has_work) wave.memory.push_back({.cycles = 1});
    }
    const ComputeUnitRecording cu{0, 0, {&group}};
    return replay(cu, instructions_, {1, 0}, default_gpu(), parameters_of(default_gpu()), {},
                  change)
        .cycles;
  }
  [[nodiscard]] double saved(const std::string& letters) {
    return cycles(letters, {}) - cycles(letters, {.waits_at_use = true});
  }

 private:
  Registers use_, write_, scalar_use_, scalar_write_, none_;
  std::map<char, std::uint32_t> numbers_;
  std::vector<Instruction> instructions_;
};

// A trip of the loop takes 100 cycles of work at least; the load takes 117.
TEST_F(Changes, LoadsAStepAheadAreShorterByAStep) {
  std::string loop;
  for (int trip = 0; trip < 10; ++trip) loop += "Lw" + std::string(25, 'v');
  const double now = cycles(loop, {}), ahead = cycles(loop, {.loads_ahead = true});
  // A trip of 108 does not cover all of 117: every other one waits for 5 more.
  EXPECT_EQ(now, 4 + 10 * (117 + 4 + 100));
  EXPECT_EQ(ahead, 4 + (117 + 4 + 100) + 5 * 108 + 4 * 113);
  EXPECT_EQ(cycles("Lwvvv", {.loads_ahead = true}), cycles("Lwvvv", {})) << "no loop";
}

TEST_F(Changes, LoadsAStepAheadAreAStepAheadInAnUnrolledLoop) {
  std::string loop, unrolled;
  const std::string work = "w" + std::string(10, 'v') + "B";
  for (int trip = 0; trip < 10; ++trip) loop += "L" + work;
  for (int trip = 0; trip < 5; ++trip) unrolled += "L" + work + "K" + work;
  EXPECT_EQ(cycles(unrolled, {}), cycles(loop, {}));
  const double now = cycles(loop, {}), ahead = cycles(loop, {.loads_ahead = true});
  EXPECT_LT(ahead, 0.7 * now);
  // The second of the unrolled loads has no trip before it for longer.
  EXPECT_NEAR(cycles(unrolled, {.loads_ahead = true}), ahead, 0.15 * now);
  EXPECT_GE(cycles(unrolled, {.loads_ahead = true}), 0.99 * ahead);
}

TEST_F(Changes, LoadsAStepAheadAreAStepAheadWhereEachIsExecutedOnce) {
  // The first of all has nothing before it.
  EXPECT_EQ(cycles("LwvvvB", {.loads_ahead = true}), cycles("LwvvvB", {}));
  EXPECT_LT(cycles("BvvvvvvvvvvBKw", {.loads_ahead = true}), cycles("BvvvvvvvvvvBKw", {}) - 40);
}

TEST_F(Changes, WaitsAtUseOfALoadAreWhereItsRegisterIsRead) {
  // It comes back at 121, and ten others need 40 cycles meanwhile.
  EXPECT_EQ(cycles("Lwvvvvvvvvvvu", {}), 121 + 4 + 40 + 4);
  EXPECT_EQ(cycles("Lwvvvvvvvvvvu", {.waits_at_use = true}), 121 + 4);
}

TEST_F(Changes, WaitsAtUseOrWhereItIsOverwritten) { EXPECT_EQ(saved("Lwvvvvvvvvvvo"), 44); }

TEST_F(Changes, WaitsAtUseSaveNothingRightBeforeTheUse) {
  // But for the turn of the wait itself, which runs while the load is on its way.
  EXPECT_EQ(saved("Lwu"), 4);
  EXPECT_EQ(saved("vvv"), 0);
}

TEST_F(Changes, WaitsAtUseOfScalarLoadsToo) { EXPECT_EQ(saved("kwvvvvvy"), 24); }

TEST_F(Changes, WaitsAtUseStayForWhatIsNotInRegisters) {
  EXPECT_EQ(saved("lwvvvvvvvvvvu"), 0) << "a load to LDS";
  EXPECT_EQ(saved("Swvvvvvvvvvvu"), 0) << "a store";
}

TEST_F(Changes, WaitsAtUseOfOlderLoadsLeaveYoungerOnesInFlight) {
  // A load to LDS is older than one to a register, and still waited for.
  EXPECT_EQ(cycles("lL1vu", {.waits_at_use = true}), cycles("lL1vu", {}));
}

// Another wave may overwrite what was to be read before the barrier.
TEST_F(Changes, WaitsAtUseForLdsAreBeforeTheNextBarrier) {
  EXPECT_EQ(saved("rwvvBvvvvvu"), 12);
  EXPECT_EQ(saved("rwvvvvvvvu"), 32);
}

}  // namespace
}  // namespace margay::timing
