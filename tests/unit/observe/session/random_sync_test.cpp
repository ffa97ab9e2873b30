// Random kernels that hand memory over (random_sync.py) against a model of who knows what
// (handover_model.h): a race is found if and only if the model has one, and between waves whose
// accesses race. The instruction is not compared: of several of a wave that touch the same bytes
// the checker remembers the last one. What depends on the order in which waves run is what atomics
// returned; the kernels record it, so that the model holds for any order.
//
// More kernels than a test has time for: random_handover.sh; src/observe/README.md says how many
// were run. What each rule decides is printed. A checker without the rule disagrees about as many
// kernels; of the 2000: atomics that begin anew as stores do 21, stores that do not 4,
// compare-and-swaps that release though they fail 8, buffer_wbl2 and buffer_inv of any scope 8
// and 6.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "handover_model.h"
#include "harness.h"

namespace margay::check {
namespace {

using Pairs = HandoverModel::Pairs;

/// "1_0" of "m1_0_12": workgroup and wave.
std::string wave_of(const std::string& mark) { return mark.substr(1, mark.rfind('_') - 1); }
void add(Pairs& pairs, const std::string& a, const std::string& b) {
  const std::string first = wave_of(a), second = wave_of(b);
  pairs.insert(first < second ? std::pair(first, second) : std::pair(second, first));
}
Pairs by_wave(const Pairs& marks) {
  Pairs out;
  for (const auto& [a, b] : marks) add(out, a, b);
  return out;
}

Pairs found_in(const Listing& listing, const std::vector<Finding>& findings) {
  Pairs out;
  for (const Finding& finding : findings) {
    std::istringstream told(listing.told(finding));
    std::string tool, severity, kind, a, b;
    told >> tool >> severity >> kind >> a >> b;
    EXPECT_FALSE(b.empty() || b[0] == 'x') << listing.told(finding);
    add(out, a.substr(0, a.find(':')), b.substr(0, b.find(':')));
  }
  return out;
}

std::string text(const Pairs& pairs) {
  std::string out;
  for (const auto& [a, b] : pairs) out += " " + a + ":" + b;
  return out;
}

/// What a batch of kernels has shown.
struct Tally {
  std::size_t kernels = 0, racy = 0;
  HandoverModel::Outcome outcome;
  /// Kernels whose verdict is another one without the rule.
  std::array<std::size_t, static_cast<std::size_t>(Rule::count)> decided{};
};

void judge(const Listing& listing, Bench& bench, const HandoverModel& model,
           const std::string& name, Tally& tally) {
  const Session::Checked checked = bench.launch(listing.kernel(name));
  ASSERT_TRUE(checked.result) << name << ": " << checked.result.error().text();
  const HandoverModel::Results results(bench.results(), 1024);
  const Pairs found = found_in(listing, checked.fresh), races = model.races(results);
  const Pairs expected = by_wave(races);
  EXPECT_EQ(found.empty(), expected.empty())
      << name << ": found" << text(found) << ", expected" << text(races);
  for (const auto& pair : found)
    EXPECT_TRUE(expected.contains(pair)) << name << ": " << pair.first << " " << pair.second;
  ++tally.kernels;
  tally.racy += !expected.empty();
  const HandoverModel::Outcome outcome = model.outcome(results);
  tally.outcome.returned += outcome.returned;
  tally.outcome.failed += outcome.failed;
  for (std::size_t rule = 0; rule < tally.decided.size(); ++rule)
    tally.decided[rule] += model.races(results, Rules{}.set(rule)).empty() != expected.empty();
}

Tally judge_all(const std::string& base, unsigned threads, CheckConfig config) {
  const Listing listing(base);
  config.tools.set(index_of(Tool::racecheck));
  Bench bench(threads, config, base + ".hsaco");
  Tally tally;
  std::ifstream file(base + ".graphs");
  std::string word, name;
  while (file >> word >> name) {
    file.ignore();
    const HandoverModel model(file);
    judge(listing, bench, model, name, tally);
    if (testing::Test::HasFatalFailure()) break;
  }
  return tally;
}

/// Another batch of kernels than the build's own may be named.
std::string batch() {
  const char* const other = std::getenv("MARGAY_RANDOM_SYNC");
  return other != nullptr ? other : MARGAY_RANDOM_SYNC;
}

TEST(Session, RandomHandover) {
  const Tally tally = judge_all(batch(), 1, {});
  ASSERT_GE(tally.kernels, 100u);
  EXPECT_GT(tally.racy, tally.kernels / 5);
  EXPECT_LT(tally.racy, tally.kernels * 4 / 5);
  std::string rules;
  for (std::size_t rule = 0; rule < tally.decided.size(); ++rule)
    rules += fmt::format(" {} {}", rule_name(static_cast<Rule>(rule)), tally.decided[rule]);
  fmt::print(
      "{} kernels, {} racy; atomics returned {} times, {} compare-and-swaps failed; verdicts by "
      "rule:{}\n",
      tally.kernels, tally.racy, tally.outcome.returned, tally.outcome.failed, rules);
  // Every rule decides some: a checker that goes by another one fails this test.
  if (batch() == MARGAY_RANDOM_SYNC && tally.kernels >= 1000)
    for (std::size_t rule = 0; rule < tally.decided.size(); ++rule)
      EXPECT_GT(tally.decided[rule], 0u) << rule_name(static_cast<Rule>(rule));
}

// Workgroups at the same time.
TEST(Session, RandomHandoverOnThreads) { EXPECT_GE(judge_all(batch(), 3, {}).kernels, 100u); }

}  // namespace
}  // namespace margay::check
