// Findings of one cause become one.
#include "report/check/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/check/fix_text.h"
#include "sample.h"

namespace margay::check {
namespace {

using testing::HasSubstr;

Finding race(std::uint32_t place) {
  Finding finding = sample_race();
  finding.fix = Fix::barrier;
  finding.fix_place = {"/src/gemm.cpp", place, 3, 0};
  return finding;
}

TEST(Group, one_barrier_one_finding) {
  std::vector<Finding> findings = {race(90), race(70), race(90), race(90)};
  findings[2].kind = FindingKind::read_after_write;
  findings[2].count = 4;
  group_by_cause(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].count, 4096U + 4 + 4096);
  ASSERT_EQ(findings[0].others.size(), 2U);
  EXPECT_EQ(findings[0].others[0].kind, FindingKind::read_after_write);
  EXPECT_EQ(findings[0].others[0].count, 4U);
  EXPECT_EQ(fix_in_words(findings[0]), "put __syncthreads() in front of gemm.cpp:90");
  EXPECT_EQ(fix_in_words(findings[1]), "put __syncthreads() in front of gemm.cpp:70");
}

TEST(Group, kernels_and_severities_stay_apart) {
  std::vector<Finding> findings = {race(90), race(90), race(90)};
  findings[1].kernel = "other";
  findings[2].severity = Severity::note;
  group_by_cause(findings);
  EXPECT_EQ(findings.size(), 3U);
}

TEST(Group, what_the_check_knows_to_be_one_cause) {
  std::vector<Finding> findings(3, sample_race());
  for (Finding& finding : findings) finding.fix = Fix::wait_states;
  findings[0].cause = findings[2].cause = "a rule";
  findings[1].cause = "another rule";
  group_by_cause(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].others.size(), 1U);
}

TEST(Group, unknown_lines_are_never_the_same) {
  std::vector<Finding> findings(2, sample_race());
  for (Finding& finding : findings) finding.accesses[0].frames.clear();
  group_by_cause(findings);
  EXPECT_EQ(findings.size(), 2U);
}

TEST(Group, waits_that_a_compiler_of_graphs_leaves_out_are_one_cause_in_a_kernel) {
  std::vector<Finding> findings(3, sample_race());
  for (Finding& finding : findings) {
    finding.fix = Fix::wait_barrier;
    for (Access& access : finding.accesses) access.frames.clear();
  }
  group_by_cause(findings);
  EXPECT_EQ(findings.size(), 3U);
  for (Finding& finding : findings) finding.computes = {{"jit(f)/sort", "/src/model.py", 7, 0}};
  findings[2].kernel = "other";
  group_by_cause(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].others.size(), 1U);
}

TEST(Group, the_load_is_the_cause_of_what_comes_too_early) {
  std::vector<Finding> findings(3, sample_race());
  for (Finding& finding : findings) {
    finding.kind = FindingKind::read_before_wait;
    finding.fix = Fix::tied_wait;
  }
  findings[1].accesses[0].frames[0].line = 75;
  findings[1].kind = FindingKind::write_before_wait;
  findings[2].accesses[1].frames[0].line = 86;  // another load
  group_by_cause(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].others.size(), 1U);
  EXPECT_THAT(fix_in_words(findings[0]), HasSubstr("\"+v\""));
}

TEST(Group, two_writers_of_what_is_to_be_handed_over_are_no_fault_of_their_own) {
  std::vector<Finding> findings(3, sample_race());
  findings[0].fix = Fix::own_part;  // write and write, both in line 71
  findings[0].accesses[1] = findings[0].accesses[0];
  findings[1].fix = Fix::hand_over;  // write in line 71, read in line 84
  findings[2].fix = Fix::own_part;   // other lines
  for (Access& access : findings[2].accesses) access.frames[0].line = 99;
  group_by_cause(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].fix, Fix::hand_over);
  EXPECT_EQ(findings[0].others.size(), 1U);
  EXPECT_EQ(findings[1].fix, Fix::own_part);
}

}  // namespace
}  // namespace margay::check
