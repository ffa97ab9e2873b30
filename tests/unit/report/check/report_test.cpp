// Counting findings: the same result for any order of the host threads.
#include "report/check/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "report/check/json.h"
#include "sample.h"

namespace margay::check {
namespace {

Finding at(std::uint64_t launch, std::uint64_t vaddr0, std::uint64_t vaddr1 = kNoVaddr) {
  Finding finding;
  finding.kind = FindingKind::write_after_write;
  finding.kernel = "k";
  finding.launch = launch;
  finding.accesses.resize(vaddr1 == kNoVaddr ? 1 : 2);
  finding.accesses[0].vaddr = vaddr0;
  if (vaddr1 != kNoVaddr) finding.accesses[1].vaddr = vaddr1;
  return finding;
}

TEST(FindingSet, keeps_the_earliest_and_counts_all) {
  FindingSet set;
  for (const int wave : {5, 2, 9}) {
    Finding finding = at(1, 0x100);
    finding.accesses[0].wave = wave;
    set.add(finding, /*workgroup=*/static_cast<std::uint64_t>(wave), /*order=*/0);
  }
  const auto findings = set.take_sorted();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 3U);
  EXPECT_EQ(findings[0].accesses[0].wave, 2);
  EXPECT_EQ(set.size(), 0U);
}

TEST(FindingSet, what_makes_two_findings_different) {
  FindingSet set;
  const Finding base = at(1, 0x100, 0x200);
  set.add(base, 0, 0);
  Finding other = base;
  other.kind = FindingKind::leak;
  set.add(other, 0, 0);
  other = base;
  other.kind = FindingKind::read_after_write;
  set.add(other, 0, 0);
  other = base;
  other.kernel = "k2";
  set.add(other, 0, 0);
  set.add(at(1, 0x200, 0x100), 0, 0);
  set.add(at(1, 0x100), 0, 0);
  set.add(base, 0, 0, "v7");
  other = base;
  other.accesses.push_back(base.accesses[0]);
  set.add(other, 0, 0);
  EXPECT_EQ(set.size(), 8U);
  other = base;
  other.launch = 9;
  other.message = sentence("other bytes");
  set.add(other, 7, 7);
  EXPECT_EQ(set.size(), 8U) << "launch, place and text do not";
}

TEST(FindingSet, order_of_what_comes_out) {
  FindingSet set;
  Finding advice = at(1, 0x50);
  advice.severity = Severity::advice;
  set.add(advice, 0, 0);
  set.add(at(2, 0x10), 0, 0);
  set.add(at(1, 0x300), 0, 0);
  set.add(at(1, 0x100), 4, 0);
  set.add(at(1, 0x200, 0x8), 0, 9);
  set.add(at(1, 0x200, 0x4), 0, 11);
  std::vector<std::vector<std::uint64_t>> order;
  for (const Finding& finding : set.take_sorted()) {
    order.push_back({finding.launch});
    for (const Access& access : finding.accesses) order.back().push_back(access.vaddr);
  }
  const std::vector<std::vector<std::uint64_t>> expected = {
      {1, 0x200, 0x4}, {1, 0x200, 0x8}, {1, 0x300}, {1, 0x100}, {2, 0x10}, {1, 0x50}};
  EXPECT_EQ(order, expected);
}

TEST(FindingSet, repeats_are_counted_without_a_finding) {
  FindingSet set;
  const Finding finding = at(1, 0x100);
  const Key key = key_of(finding, "v7");
  EXPECT_EQ(key.kind, FindingKind::write_after_write);
  EXPECT_FALSE(set.count_again(key, {1, 5, 5})) << "not known yet";
  set.add(finding, 5, 5, "v7");
  EXPECT_TRUE(set.count_again(key, {1, 5, 6}));
  EXPECT_TRUE(set.count_again(key, {2, 0, 0}, 10));
  EXPECT_FALSE(set.count_again(key, {1, 5, 4})) << "earlier: the caller has to add it";
  EXPECT_FALSE(set.count_again(key_of(finding), {1, 9, 9})) << "another key";
  EXPECT_EQ(set.take_sorted()[0].count, 12U);
}

TEST(FindingSet, what_is_new) {
  FindingSet before;
  before.add(at(1, 0x100), 0, 0);
  FindingSet launch;
  launch.add(at(2, 0x100), 0, 0);
  launch.add(at(2, 0x200), 0, 0);
  const auto fresh = launch.not_in(before);
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_EQ(fresh[0].accesses[0].vaddr, 0x200U);
  before.merge(std::move(launch));
  const auto all = before.take_sorted();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].launch, 1U);
  EXPECT_EQ(all[0].count, 2U);
}

/// One occurrence, as a host thread meets it.
struct Occurrence {
  Finding finding;
  Place place;
  std::string extra;
};

std::vector<Occurrence> random_occurrences(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::vector<Occurrence> all;
  for (std::uint64_t i = 0; i < 1 + below(120); ++i) {
    Occurrence one;
    one.finding = at(1 + below(2), 0x100 + 4 * below(3), 0x100 + 4 * below(3));
    if (below(8) == 0) one.finding.severity = Severity::advice;
    if (one.finding.severity == Severity::advice) one.finding.kind = FindingKind::wait_never_needed;
    // Few places, so that ties occur; examples differ in the finding.
    one.place = {one.finding.launch, below(3), below(3)};
    one.finding.accesses[0].wave = static_cast<std::int32_t>(below(4));
    one.finding.message = sentence(std::string(1, static_cast<char>('a' + below(3))));
    one.finding.count = 1 + below(3);
    if (below(3) == 0) one.extra = "v" + std::to_string(below(2));
    all.push_back(one);
  }
  return all;
}

/// All of a set, for comparing.
std::string text_of_all(FindingSet& set) {
  Report report;
  report.findings = set.take_sorted();
  return json_of(report);
}

/// `all` dealt to host threads at random, their sets merged in random order.
std::string collected(std::vector<Occurrence> all, std::mt19937_64& random) {
  std::ranges::shuffle(all, random);
  std::vector<FindingSet> threads(1 + random() % 5);
  for (const Occurrence& one : all) {
    threads[random() % threads.size()].add(one.finding, one.place.workgroup, one.place.order,
                                           one.extra);
  }
  std::ranges::shuffle(threads, random);
  while (threads.size() > 1) {
    const std::size_t into = random() % (threads.size() - 1);
    threads[into].merge(std::move(threads.back()));
    threads.pop_back();
  }
  return text_of_all(threads[0]);
}

TEST(FindingSet, merging_gives_the_same_in_any_order) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 300; ++round) {
    const auto all = random_occurrences(random);
    const std::string once = collected(all, random);
    for (int again = 0; again < 4; ++again) ASSERT_EQ(collected(all, random), once) << round;
  }
}

TEST(FindingSet, the_fast_path_counts_as_add_does) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    auto all = random_occurrences(random);
    // The fast path takes places as unique within a key.
    for (std::size_t i = 0; i < all.size(); ++i) all[i].place.order = i;
    std::ranges::shuffle(all, random);
    FindingSet slow;
    FindingSet fast;
    for (const Occurrence& one : all) {
      slow.add(one.finding, one.place.workgroup, one.place.order, one.extra);
      if (!fast.count_again(key_of(one.finding, one.extra), one.place, one.finding.count)) {
        fast.add(one.finding, one.place.workgroup, one.place.order, one.extra);
      }
    }
    ASSERT_EQ(text_of_all(fast), text_of_all(slow)) << round;
  }
}

TEST(Reports, of_several_processes_become_one) {
  Report first = sample_report();
  Report second = sample_report();
  second.tools = {"racecheck", "waitcheck"};
  second.adversarial = true;
  second.seed = 5;
  second.sites[1].vaddr = 0x2000;
  second.sites[0].loosest = {4, 5};
  merge(first, second);
  EXPECT_EQ(first.tools, (std::vector<std::string>{"memcheck", "racecheck", "waitcheck"}));
  EXPECT_EQ(first.seed, 5U);
  EXPECT_EQ(first.launches, 6U);
  EXPECT_EQ(first.suppressed, 8U);
  ASSERT_EQ(first.findings.size(), 4U);
  EXPECT_EQ(first.findings[1].tool(), Tool::racecheck);
  EXPECT_EQ(first.findings[2].severity, Severity::advice) << "advice stays last";
  ASSERT_EQ(first.sites.size(), 3U);
  EXPECT_EQ(first.sites[0].executions, 1024U);
  EXPECT_EQ(first.sites[0].loosest, (std::array<std::uint32_t, 2>{2, 5}));
  EXPECT_EQ(tally(first.findings).errors, 2U);
}

}  // namespace
}  // namespace margay::check
