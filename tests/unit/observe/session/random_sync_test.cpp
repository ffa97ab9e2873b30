// Random kernels that hand memory over (random_sync.py) against a model of who knows what that is
// made of a graph and paths: a race is found if and only if the model has one, and between waves
// whose accesses race. The instruction is not compared: of several of a wave that touch the same
// bytes the checker remembers the last one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "harness.h"

namespace margay::check {
namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;

/// "1_0" of "m1_0_12": workgroup and wave.
std::string wave_of(const std::string& mark) { return mark.substr(1, mark.rfind('_') - 1); }
void add(Pairs& pairs, const std::string& a, const std::string& b) {
  const std::string first = wave_of(a), second = wave_of(b);
  pairs.insert(first < second ? std::pair(first, second) : std::pair(second, first));
}

TEST(Session, RandomHandover) {
  // Another batch of kernels may be named, to run more of them than a test has time for.
  const char* const other = std::getenv("MARGAY_RANDOM_SYNC");
  const std::string base = other != nullptr ? other : MARGAY_RANDOM_SYNC;
  const Listing listing(base);
  CheckConfig config;
  config.tools.set(index_of(Tool::racecheck));
  Bench bench(1, config, base + ".hsaco");
  std::ifstream file(base + ".pairs");
  std::size_t racy = 0, all = 0;
  for (std::string line; std::getline(file, line); ++all) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    Pairs expected, found;
    for (std::string pair; words >> pair;)
      add(expected, pair.substr(0, pair.find(':')), pair.substr(pair.find(':') + 1));
    const Session::Checked checked = bench.launch(listing.kernel(name));
    ASSERT_TRUE(checked.result) << name << ": " << checked.result.error().text();
    for (const Finding& finding : checked.fresh) {
      std::istringstream told(listing.told(finding));
      std::string tool, severity, kind, a, b;
      told >> tool >> severity >> kind >> a >> b;
      ASSERT_FALSE(b.empty() || b[0] == 'x') << name << ": " << listing.told(finding);
      add(found, a.substr(0, a.find(':')), b.substr(0, b.find(':')));
    }
    racy += !expected.empty();
    EXPECT_EQ(found.empty(), expected.empty()) << name << ": " << line;
    for (const auto& pair : found)
      EXPECT_TRUE(expected.contains(pair)) << name << ": " << pair.first << " " << pair.second;
  }
  ASSERT_GE(all, 100u);
  EXPECT_GT(racy, all / 5);
  EXPECT_LT(racy, all * 4 / 5);
}

}  // namespace
}  // namespace margay::check
