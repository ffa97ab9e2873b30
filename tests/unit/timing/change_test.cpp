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
/// L: load to a register, l: load to LDS, S: store, r: LDS read to a register, k: scalar load.
/// w: wait for all, 1: wait until one access to memory is left, B: barrier.
class WaitsAtUse : public ::testing::Test {
 protected:
  WaitsAtUse() {
    of('v');
    use_.reads[1] = write_.writes[1] = 4;
    scalar_use_.reads[8] = scalar_write_.writes[8] = 4;
    of('u').registers = &use_;
    of('o').registers = &write_;
    of('y').registers = &scalar_use_;
    for (const char letter : {'L', 'l', 'S'}) {
      of(letter).unit = Unit::vector_memory;
      of(letter).has_work = of(letter).counts_vm = true;
      of(letter).registers = &none_;
    }
    of('L').registers = &write_;
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
  [[nodiscard]] Instruction& of(char letter) {
    const auto [at, is_new] =
        numbers_.try_emplace(letter, static_cast<std::uint32_t>(instructions_.size()));
    if (is_new) instructions_.emplace_back();
    return instructions_[at->second];
  }
  /// Of one wave.
  [[nodiscard]] double cycles(const std::string& letters, bool at_use) {
    WorkgroupRecording group;
    WaveRecording& wave = group.waves.emplace_back();
    for (const char letter : letters) {
      wave.instructions.push_back(numbers_.at(letter));
      if (of(letter).has_work) wave.memory.push_back({.cycles = 1});
    }
    const ComputeUnitRecording cu{0, 0, {&group}};
    return replay(cu, instructions_, {1, 0}, default_gpu(), parameters_of(default_gpu()), {},
                  {.waits_at_use = at_use})
        .cycles;
  }
  [[nodiscard]] double saved(const std::string& letters) {
    return cycles(letters, false) - cycles(letters, true);
  }

 private:
  Registers use_, write_, scalar_use_, scalar_write_, none_;
  std::map<char, std::uint32_t> numbers_;
  std::vector<Instruction> instructions_;
};

TEST_F(WaitsAtUse, OfALoadAreWhereItsRegisterIsRead) {
  // It comes back at 129, and ten others need 40 cycles meanwhile.
  EXPECT_EQ(cycles("Lwvvvvvvvvvvu", false), 129 + 4 + 40 + 4);
  EXPECT_EQ(cycles("Lwvvvvvvvvvvu", true), 129 + 4);
}

TEST_F(WaitsAtUse, OrWhereItIsOverwritten) { EXPECT_EQ(saved("Lwvvvvvvvvvvo"), 44); }

TEST_F(WaitsAtUse, SaveNothingRightBeforeTheUse) {
  // But for the turn of the wait itself, which runs while the load is on its way.
  EXPECT_EQ(saved("Lwu"), 4);
  EXPECT_EQ(saved("vvv"), 0);
}

TEST_F(WaitsAtUse, OfScalarLoadsToo) { EXPECT_EQ(saved("kwvvvvvy"), 24); }

TEST_F(WaitsAtUse, StayForWhatIsNotInRegisters) {
  EXPECT_EQ(saved("lwvvvvvvvvvvu"), 0) << "a load to LDS";
  EXPECT_EQ(saved("Swvvvvvvvvvvu"), 0) << "a store";
}

TEST_F(WaitsAtUse, OfOlderLoadsLeaveYoungerOnesInFlight) {
  // A load to LDS is older than one to a register, and still waited for.
  EXPECT_EQ(cycles("lL1vu", true), cycles("lL1vu", false));
}

// Another wave may overwrite what was to be read before the barrier.
TEST_F(WaitsAtUse, ForLdsAreBeforeTheNextBarrier) {
  EXPECT_EQ(saved("rwvvBvvvvvu"), 12);
  EXPECT_EQ(saved("rwvvvvvvvu"), 32);
}

}  // namespace
}  // namespace margay::timing
