// Random kernels (random_races.py) against a model that keeps every access with its bytes and the
// phases in which it is in flight: a race is found if and only if the model has one, and between
// waves whose accesses race. The instruction is not compared: of several that touch the same eight
// bytes in a phase, by one wave or by several in the same way, the checker remembers one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "harness.h"

namespace margay::check {
namespace {

using Races = std::set<std::pair<std::string, std::string>>;

std::pair<std::string, std::string> ordered(std::string a, std::string b) {
  return a < b ? std::pair(a, b) : std::pair(b, a);
}

std::vector<std::pair<std::string, Races>> modelled() {
  std::vector<std::pair<std::string, Races>> out;
  std::ifstream file(MARGAY_RANDOM_RACES ".pairs");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, a, b;
    words >> name;
    Races races;
    while (words >> a >> b) races.insert(ordered(a, b));
    out.emplace_back(name, races);
  }
  return out;
}

/// "1" of "m1_0:1".
std::string wave(const std::string& mark) { return mark.substr(mark.find(':') + 1); }

Races waves_of(const Races& races) {
  Races out;
  for (const auto& [a, b] : races) out.insert(ordered(wave(a), wave(b)));
  return out;
}

Races found_in(const Listing& listing, const std::vector<Finding>& findings) {
  Races out;
  for (const Finding& finding : findings) {
    std::istringstream words(listing.told(finding));
    std::string tool, severity, kind, a, b;
    words >> tool >> severity >> kind >> a >> b;
    // Without the lane.
    out.insert(ordered(a.substr(0, a.find('.')), b.substr(0, b.find('.'))));
  }
  return out;
}

TEST(Session, RandomRaces) {
  const Listing listing(MARGAY_RANDOM_RACES);
  CheckConfig config;
  config.tools.set(index_of(Tool::racecheck));
  Bench bench(1, config, MARGAY_RANDOM_RACES ".hsaco");
  std::size_t racy = 0;
  const auto all = modelled();
  ASSERT_GE(all.size(), 100u);
  for (const auto& [name, expected] : all) {
    const Session::Checked checked = bench.launch(listing.kernel(name));
    ASSERT_TRUE(checked.result) << name << ": " << checked.result.error().text();
    const Races found = found_in(listing, checked.fresh);
    racy += !expected.empty();
    EXPECT_EQ(found.empty(), expected.empty()) << name;
    for (const auto& [a, b] : found)
      EXPECT_TRUE(waves_of(expected).contains(ordered(wave(a), wave(b))))
          << name << ": " << a << ", " << b;
  }
  EXPECT_GT(racy, all.size() / 4);
  EXPECT_LT(racy, all.size() * 3 / 4);
}

}  // namespace
}  // namespace margay::check
