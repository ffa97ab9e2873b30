// A broken row leaves wrong results, its other parts and the other rows right ones; each part that
// it leaves is reported. Rows are broken while their table is made: each test is a process of its
// own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

struct Result {
  std::uint32_t vgpr, next_vgpr;  ///< Of lanes 0, which is active, and 1, which is not.
  std::uint64_t carry;
  bool scc;
};

/// v_add_co_u32 v1, vcc, v0, v0 in lanes 0 and 2, and s_and_b32, with `environment` set.
Result run(const std::string& what) {
  alignas(64) static std::array<std::uint32_t, std::size_t{24} * kWaveLanes> rows;
  rows.fill(0x80000001);
  WorkgroupState group;
  Wave wave;
  wave.v = rows.data();
  wave.vgpr_rows = 8;
  wave.group = &group;
  wave.set_exec(5);
  setenv("MARGAY_BREAK_ROW", what.c_str(), 1);
  const RowTable& table = *row_table({}, default_gpu().arch());
  Instruction add;
  add.row = table.find("v_add_co_u32");
  add.src[0] = add.src[1] = Source::vgpr(0);
  add.dst = 1;
  add.sdst = kVccIndex;
  add.row->plain(wave, add);
  Instruction both;
  both.row = table.find("s_and_b32");
  both.src[0] = both.src[1] = Source::constant();
  both.constant[0] = both.constant[1] = 6;
  both.sdst = 0;
  both.row->plain(wave, both);
  return {rows[kWaveLanes], rows[kWaveLanes + 1], wave.scalar64(kVccIndex), wave.scc};
}
void expect(const std::string& what, Result expected) {
  const Result got = run(what);
  const bool same = got.vgpr == expected.vgpr && got.next_vgpr == expected.next_vgpr &&
                    got.carry == expected.carry && got.scc == expected.scc;
  std::fprintf(stderr, "%#x %#x %#lx %d\n", got.vgpr, got.next_vgpr, got.carry, got.scc);
  std::exit(same ? 0 : 1);
}

TEST(BrokenRow, IsWrongInOnePart) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto good = testing::ExitedWithCode(0);
  EXPECT_EXIT(expect("", {2, 0x80000001, 5, true}), good, "");
  EXPECT_EXIT(expect("v_add_co_u32:vgpr", {3, 0x80000001, 5, true}), good, "wrong on purpose");
  EXPECT_EXIT(expect("v_add_co_u32:vgpr-last", {0x80000002, 0x80000001, 5, true}), good, "");
  EXPECT_EXIT(expect("v_add_co_u32:scalar", {2, 0x80000001, 4, true}), good, "");
  EXPECT_EXIT(expect("v_add_co_u32:scalar-last", {2, 0x80000001, 1, true}), good, "");
  EXPECT_EXIT(expect("s_and_b32:scc", {2, 0x80000001, 5, false}), good, "wrong on purpose");
  EXPECT_EXIT(expect("*", {2, 0x80000001, 5, true}), good, "");
  EXPECT_EXIT(expect("v_add_co_u32:bits", {}), testing::KilledBySignal(SIGABRT), "parts are vgpr,");
}

TEST(BrokenRow, ReportsWhatIsLeft) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  // The process of the death test begins here, too, and finds the name that its parent has chosen.
  const char* const chosen = std::getenv("MARGAY_BREAK_ROW_REPORT");
  const std::string file =
      chosen != nullptr ? chosen : testing::TempDir() + "parts_" + std::to_string(getpid());
  setenv("MARGAY_BREAK_ROW_REPORT", file.c_str(), 1);
  EXPECT_EXIT(expect("*", {2, 0x80000001, 5, true}), testing::ExitedWithCode(0), "");
  unsetenv("MARGAY_BREAK_ROW_REPORT");
  std::ifstream stream(file);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  std::remove(file.c_str());
  EXPECT_EQ(lines, (std::set<std::string>{"v_add_co_u32 vgpr 1", "v_add_co_u32 vgpr-last 1",
                                          "v_add_co_u32 scalar 1", "v_add_co_u32 scalar-last 1",
                                          "s_and_b32 scalar 1", "s_and_b32 scalar-last 1",
                                          "s_and_b32 scc 1"}));
}

}  // namespace
}  // namespace margay
