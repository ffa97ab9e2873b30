// The mutants of a run, and their report.
#include "cli/watch/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace margay::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

check::Site site(std::uint32_t word, std::uint64_t ordered = 1) {
  check::Site site;
  site.kernel = "_Z4gemmPf";
  site.vaddr = 0x1a40;
  site.word = word;
  site.is_barrier = word == 0xbf8a0000;
  site.executions = 10;
  site.ordered = ordered;
  site.instruction = word == 0xbf8a0000 ? "s_barrier" : "s_waitcnt";
  site.frames = {{"gemm", "/src/gemm.cpp", 71, 1}};
  return site;
}

std::vector<std::string> changes(std::uint32_t word) {
  std::vector<std::string> texts;
  for (const Mutant& mutant : mutants_of(std::vector{site(word)})) texts.push_back(mutant.change);
  return texts;
}

// Words as clang-19 --target=amdgcn -mcpu=gfx942 assembles them.
TEST(WaitCounts, fields_of_gfx9) {
  EXPECT_EQ(wait_counts(0xbf8c0000), (WaitCounts{0, 0, 0}));
  EXPECT_EQ(wait_counts(0xbf8c0f70), (WaitCounts{0, 7, 15})) << "vmcnt(0)";
  EXPECT_EQ(wait_counts(0xbf8cc07f), (WaitCounts{63, 7, 0})) << "lgkmcnt(0)";
  EXPECT_EQ(wait_counts(0xbf8c8f71), (WaitCounts{33, 7, 15})) << "vmcnt(33)";
  EXPECT_EQ(wait_counts(0xbf8ccf7f), (WaitCounts{63, 7, 15})) << "nothing";
}

TEST(WaitCounts, back_and_forth) {
  for (std::uint32_t vmcnt = 0; vmcnt < 64; ++vmcnt) {
    for (std::uint32_t rest = 0; rest < 128; ++rest) {
      const WaitCounts counts = {vmcnt, rest & 7, rest >> 3};
      const std::uint32_t word = with_wait_counts(0xbf8c0000, counts);
      ASSERT_EQ(wait_counts(word), counts);
      ASSERT_EQ(word & 0xffff3080, 0xbf8c0000U) << "only the fields change";
    }
  }
}

TEST(Mutants, of_a_wait_and_of_a_barrier) {
  EXPECT_THAT(changes(0xbf8a0000), ElementsAre("removed"));
  EXPECT_THAT(changes(0xbf8c0f70), ElementsAre("removed", "vmcnt(0) -> vmcnt(1)"));
  EXPECT_THAT(changes(0xbf8c0072),
              ElementsAre("removed", "vmcnt(2) -> vmcnt(3)", "lgkmcnt(0) -> lgkmcnt(1)"));
  EXPECT_THAT(changes(0xbf8c0000),
              ElementsAre("removed", "vmcnt(0) -> vmcnt(1)", "expcnt(0) -> expcnt(1)",
                          "lgkmcnt(0) -> lgkmcnt(1)"));
  EXPECT_THAT(changes(0xbf8c0f7f), ElementsAre("removed", "vmcnt(15) -> vmcnt(16)"));
  EXPECT_THAT(changes(0xbf8ccf7f), ElementsAre()) << "it waits for nothing already";
  EXPECT_THAT(changes(0xbf8cce7f), ElementsAre("removed"))
      << "lgkmcnt(14) weaker by one waits for nothing, as when it is removed";
}

TEST(Mutants, their_words) {
  const std::vector sites = {site(0xbf8c0f7f)};
  const auto mutants = mutants_of(sites);
  ASSERT_EQ(mutants.size(), 2U);
  EXPECT_EQ(mutation_setting(sites[0], mutants[0]), "_Z4gemmPf@1a40=bf800000");
  EXPECT_EQ(mutation_setting(sites[0], mutants[1]), "_Z4gemmPf@1a40=bf8c4f70") << "vmcnt(16)";
}

TEST(Mutants, of_a_fence_replace_both_words) {
  check::Site fence = site(0xe0a40000);  // buffer_inv
  fence.is_fence = true;
  const auto mutants = mutants_of(std::vector{fence});
  ASSERT_EQ(mutants.size(), 1U);
  EXPECT_EQ(mutants[0].change, "removed");
  EXPECT_EQ(mutation_setting(fence, mutants[0]), "_Z4gemmPf@1a40=bf800000,bf800000");
}

check::Report with_error(check::FindingKind kind, std::uint64_t vaddr = 0x100) {
  check::Finding finding;
  finding.kind = kind;
  finding.accesses.resize(1);
  finding.accesses[0].vaddr = vaddr;
  check::Report report;
  report.findings = {finding, finding};
  return report;
}

Outcome judged(const check::Site& site, const check::Report& report, ChildEnd end = {},
               const Errors& clean = {}) {
  return judge(site, Mutant{}, ChildEnd{}, clean, end, report);
}

TEST(Fates, what_the_checker_says_comes_first) {
  const check::Site barrier = site(0xbf8a0000);
  const Outcome killed =
      judged(barrier, with_error(check::FindingKind::read_after_write), {.exit_code = 1});
  EXPECT_EQ(killed.fate, Fate::killed);
  EXPECT_THAT(killed.by, ElementsAre("racecheck read-after-write"));
  EXPECT_EQ(judged(barrier, {}, {.signal = 9, .timed_out = true}).fate, Fate::hang);
  EXPECT_EQ(judged(barrier, {}, {.exit_code = 1}).fate, Fate::own_result);
  EXPECT_EQ(judged(barrier, {}, {.signal = 11}).fate, Fate::own_result);
  EXPECT_EQ(judged(barrier, {}).fate, Fate::survived);
  EXPECT_EQ(judged(site(0xbf8a0000, 0), {}).fate, Fate::equivalent);
}

TEST(Fates, notes_and_advice_kill_nothing) {
  check::Report report = with_error(check::FindingKind::read_after_write);
  report.findings[0].severity = check::Severity::note;
  report.findings[1].severity = check::Severity::advice;
  EXPECT_EQ(judged(site(0xbf8a0000), report).fate, Fate::survived);
}

TEST(Fates, errors_of_the_unchanged_program_kill_nothing) {
  const Errors clean = errors_of(with_error(check::FindingKind::read_after_write));
  const check::Site barrier = site(0xbf8a0000);
  EXPECT_EQ(judged(barrier, with_error(check::FindingKind::read_after_write), {}, clean).fate,
            Fate::survived);
  const Outcome elsewhere =
      judged(barrier, with_error(check::FindingKind::read_after_write, 0x200), {}, clean);
  EXPECT_EQ(elsewhere.fate, Fate::killed);
  EXPECT_THAT(elsewhere.by, ElementsAre("racecheck read-after-write"));
}

TEST(Fates, a_weaker_count_is_equivalent_where_it_would_still_have_done) {
  check::Site wait = site(0xbf8c0000);
  const auto fates = [&] {
    std::vector<std::string_view> names;
    for (const Mutant& mutant : mutants_of(std::vector{wait})) {
      names.push_back(fate_name(judge(wait, mutant, {}, {}, {}, {}).fate));
    }
    return names;  // removed, vmcnt(1), expcnt(1), lgkmcnt(1)
  };
  EXPECT_THAT(fates(), ElementsAre("survived", "equivalent", "equivalent", "equivalent"));
  wait.loosest = {0, 1};
  EXPECT_THAT(fates(), ElementsAre("survived", "survived", "equivalent", "equivalent"));
  wait.loosest = {3, 0};
  EXPECT_THAT(fates(), ElementsAre("survived", "equivalent", "equivalent", "survived"));
  wait.ordered = 0;
  wait.loosest = {check::kNeverNeeded, check::kNeverNeeded};
  EXPECT_THAT(fates(), ElementsAre("equivalent", "equivalent", "equivalent", "equivalent"));
}

TEST(MutationText, table_and_rate) {
  std::vector sites = {site(0xbf8c0f70), site(0xbf8a0000, 0), site(0xbf8a0000, 0)};
  sites[0].instruction = "s_waitcnt vmcnt(0)";
  sites[1].frames = {{"load", "/src/tile.h", 9, 1}};
  sites[2].frames.clear();
  const auto mutants = mutants_of(sites);
  ASSERT_EQ(mutants.size(), 4U);
  const std::vector<Outcome> outcomes = {
      {mutants[0], Fate::killed, {"waitcheck not-waited-for", "initcheck lds"}, {}},
      {mutants[1], Fate::own_result, {}, {.exit_code = 4}},
      {mutants[2], Fate::equivalent, {}, {}},
      {mutants[3], Fate::equivalent, {}, {}}};
  EXPECT_EQ(mutation_text(sites, outcomes, "/src"),
            "gemm\n"
            "  s_waitcnt vmcnt(0)   gemm.cpp:71        removed                "
            "killed by waitcheck not-waited-for, initcheck lds\n"
            "                                          vmcnt(0) -> vmcnt(1)   "
            "only the program's own result: exit code 4\n"
            "  s_barrier            tile.h:9 in load   removed                "
            "equivalent in this run: no data passed between waves over it alone\n"
            "  s_barrier            at 0x1a40          removed                "
            "equivalent in this run: no data passed between waves over it alone\n"
            "\n"
            "kill rate: 1 of 2 (50.0 %) without equivalent mutants, 1 of 4 (25.0 %) of all\n"
            "1 mutant was noticed only by the program itself: the checker should have said "
            "something\n");
}

TEST(MutationText, json) {
  const std::vector sites = {site(0xbf8c0f70)};
  const auto mutants = mutants_of(sites);
  const std::vector<Outcome> outcomes = {{mutants[0], Fate::hang, {"hang"}, {.signal = 9}},
                                         {mutants[1], Fate::survived, {}, {}}};
  const std::vector<std::string> command = {"./gemm"};
  const auto document = nlohmann::json::parse(mutation_json(sites, outcomes, command));
  EXPECT_EQ(document["command"][0], "./gemm");
  EXPECT_EQ(document["mutants"][0]["result"], "hang");
  EXPECT_EQ(document["mutants"][0]["word"], kSNop0);
  EXPECT_EQ(document["mutants"][1]["result"], "survived");
  EXPECT_EQ(document["summary"]["killed"], 1);
  EXPECT_EQ(document["summary"]["kill_rate"], 0.5);
}

}  // namespace
}  // namespace margay::cli
