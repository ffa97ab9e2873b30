// Races between workgroups on random runs, against a comparison of each with each.
#include "observe/check/global/global_races.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace margay::check {
namespace {

using AddressRun = check::Run;  // Run is also a function of testing::Test
using Rng = std::mt19937;

unsigned below(Rng& rng, unsigned n) { return static_cast<unsigned>(rng() % n); }

constexpr unsigned kGroups = 4, kWaves = 3;
/// Memory is not read: runs that overlap in part count as different.
bool never(const AddressRun&) { return false; }

/// Releases of a launch, in the graph and as a list of what each publishes.
struct Releases {
  struct Told {
    std::uint32_t workgroup = 0, own_wave = 0, own = 0;
    std::array<std::uint32_t, kWaves> completed{}, flushed{};
    std::vector<std::size_t> before;  // indices into `told`
  };
  SyncGraph graph;
  std::vector<SyncGraph::Vertex> vertex{0};
  std::vector<std::vector<std::size_t>> roots{{}};  // by vertex: of `told`
  std::vector<Told> told;

  explicit Releases(Rng& rng) {
    for (unsigned n = below(rng, 8); n > 0; --n) {
      const std::size_t before = below(rng, static_cast<unsigned>(vertex.size()));
      if (below(rng, 3) == 0) {  // both of two
        const std::size_t other = below(rng, static_cast<unsigned>(vertex.size()));
        std::vector<std::size_t> both = roots[before];
        both.insert(both.end(), roots[other].begin(), roots[other].end());
        vertex.push_back(graph.join(vertex[before], vertex[other]));
        roots.push_back(both);
        continue;
      }
      Told one;
      one.workgroup = below(rng, kGroups);
      one.own_wave = below(rng, kWaves);
      one.own = below(rng, 4);
      for (std::uint32_t& segment : one.completed) segment = below(rng, 4);
      for (std::uint32_t& segment : one.flushed) segment = below(rng, 4);
      one.before = roots[before];
      vertex.push_back(graph.release({one.workgroup, one.own_wave, one.own}, vertex[before],
                                     one.completed, one.flushed));
      roots.push_back({told.size()});
      told.push_back(one);
    }
  }
  [[nodiscard]] bool tells(std::size_t release, const AddressRun& run) const {
    const Told& one = told[release];
    if (one.workgroup == run.workgroup) {
      if (one.flushed[run.wave] >= run.issued) return true;
      const bool through = !run.is_write || run.scope == Scope::agent;
      if (through && one.completed[run.wave] >= run.completed) return true;
      if (one.own_wave == run.wave && one.own == run.issued) return true;
    }
    return std::ranges::any_of(one.before,
                               [&](std::size_t earlier) { return tells(earlier, run); });
  }
  /// Whether who knows the vertex knows the run.
  [[nodiscard]] bool knows(SyncGraph::Vertex known, const AddressRun& run) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(vertex, known) - vertex.begin());
    return std::ranges::any_of(roots[at], [&](std::size_t n) { return tells(n, run); });
  }
};

/// Runs of a launch as the workgroups leave them, in a small space so that many touch.
std::vector<AddressRun> random_runs(Rng& rng, const Releases& releases) {
  std::vector<AddressRun> runs(below(rng, 40) + 1);
  const unsigned space = 16 + below(rng, 400);
  for (AddressRun& run : runs) {
    run.begin = 4 * below(rng, space);
    run.end = run.begin + 4 * (1 + below(rng, 8));
    run.workgroup = below(rng, kGroups);
    run.vaddr = 4 * below(rng, 5);
    run.wave = static_cast<std::uint8_t>(below(rng, kWaves));
    run.lane = static_cast<std::uint8_t>(below(rng, 64));
    run.is_write = below(rng, 3) == 0;
    run.is_atomic = below(rng, 6) == 0;
    run.scope = run.is_atomic ? Scope::agent : static_cast<Scope>(below(rng, 3));
    run.digest = run.is_write ? below(rng, 3) : 0;
    run.issued = 1 + below(rng, 4);
    run.completed = run.issued + below(rng, 2);
    if (below(rng, 2) == 0)
      run.known = releases.vertex[below(rng, static_cast<unsigned>(releases.vertex.size()))];
  }
  return runs;
}

/// compact() as a launch uses it: per workgroup.
std::vector<AddressRun> compacted(const std::vector<AddressRun>& runs) {
  std::map<std::uint32_t, std::vector<AddressRun>> by_group;
  for (const AddressRun& run : runs) by_group[run.workgroup].push_back(run);
  std::vector<AddressRun> out;
  for (auto& [group, own] : by_group) {
    compact(own, true);
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

/// The rule, written a second time: workgroups differ, bytes are shared, one is a write, not both
/// are of agent scope, and neither knows of the other.
bool races(const AddressRun& a, const AddressRun& b, const Releases& releases) {
  if (a.workgroup == b.workgroup || a.end <= b.begin || b.end <= a.begin) return false;
  if (!a.is_write && !b.is_write) return false;
  if (a.scope == Scope::agent && b.scope == Scope::agent) return false;
  return !releases.knows(a.known, b) && !releases.knows(b.known, a);
}
/// Two instructions, and whether both write the same.
using Pair = std::tuple<std::uint32_t, std::uint32_t, bool>;

std::map<Pair, std::uint64_t> brute_force(const std::vector<AddressRun>& runs,
                                          const Releases& releases) {
  std::map<Pair, std::uint64_t> out;
  for (std::size_t n = 0; n < runs.size(); ++n)
    for (std::size_t m = 0; m < n; ++m) {
      const AddressRun &a = runs[n], &b = runs[m];
      if (!races(a, b, releases)) continue;
      const bool benign = a.is_write && b.is_write && !a.is_atomic && !b.is_atomic && !a.mixed &&
                          !b.mixed && a.begin == b.begin && a.end == b.end && a.digest == b.digest;
      ++out[{std::min(a.vaddr, b.vaddr), std::max(a.vaddr, b.vaddr), benign}];
    }
  return out;
}

std::map<Pair, std::uint64_t> pairs_of(const std::vector<Conflict>& conflicts) {
  std::map<Pair, std::uint64_t> out;
  for (const Conflict& c : conflicts)
    out[{std::min(c.first.vaddr, c.second.vaddr), std::max(c.first.vaddr, c.second.vaddr),
         c.same_value}] += c.count;
  return out;
}

auto fields(const Conflict& c) {
  return std::tuple(c.first.workgroup, c.first.vaddr, c.first.wave, c.first.lane,
                    c.second.workgroup, c.second.vaddr, c.second.wave, c.second.lane, c.begin,
                    c.end, c.count, c.same_value);
}

TEST(GlobalRaces, ConflictsAreThoseOfEachWithEach) {
  Rng rng(1);
  std::size_t found = 0;
  for (int round = 0; round < 3000; ++round) {
    Releases releases(rng);
    const std::vector<AddressRun> runs = compacted(random_runs(rng, releases));
    const auto expected = brute_force(runs, releases);
    ASSERT_EQ(pairs_of(conflicts_between_workgroups(runs, releases.graph, never)), expected)
        << "round " << round;
    found += !expected.empty();
  }
  EXPECT_GT(found, 1000u);
}

TEST(GlobalRaces, ExamplesAreRaces) {
  Rng rng(2);
  for (int round = 0; round < 1000; ++round) {
    Releases releases(rng);
    const std::vector<AddressRun> runs = compacted(random_runs(rng, releases));
    for (const Conflict& c : conflicts_between_workgroups(runs, releases.graph, never)) {
      ASSERT_TRUE(races(c.first, c.second, releases));
      ASSERT_LE(c.first.workgroup, c.second.workgroup);
      ASSERT_EQ(c.begin, std::max(c.first.begin, c.second.begin));
      ASSERT_EQ(c.end, std::min(c.first.end, c.second.end));
    }
  }
}

TEST(GlobalRaces, TheOrderOfTheInputMakesNoDifference) {
  Rng rng(3);
  for (int round = 0; round < 1000; ++round) {
    Releases releases(rng);
    std::vector<AddressRun> runs = compacted(random_runs(rng, releases));
    const auto first = conflicts_between_workgroups(runs, releases.graph, never);
    std::ranges::shuffle(runs, rng);
    const auto second = conflicts_between_workgroups(runs, releases.graph, never);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t n = 0; n < first.size(); ++n)
      ASSERT_EQ(fields(first[n]), fields(second[n])) << "round " << round;
  }
}

/// What a run says of each of its bytes, but for the lane and the value.
auto kind(const AddressRun& run) {
  return std::tuple(run.vaddr, run.wave, run.is_write, run.is_atomic, run.scope, run.issued,
                    run.completed, run.known);
}
using Said = std::set<std::pair<std::uint64_t, decltype(kind(AddressRun{}))>>;
Said said(const std::vector<AddressRun>& runs) {
  Said out;
  for (const AddressRun& run : runs)
    for (std::uint64_t at = run.begin; at < run.end; ++at) out.emplace(at, kind(run));
  return out;
}

TEST(GlobalRaces, CompactKeepsEveryByte) {
  Rng rng(4);
  std::size_t merged = 0;
  for (int round = 0; round < 1000; ++round) {
    const Releases releases(rng);
    std::vector<AddressRun> runs = random_runs(rng, releases);
    for (AddressRun& run : runs) {
      run.workgroup = 0;
      run.wave = static_cast<std::uint8_t>(below(rng, 2));
      run.issued = run.completed = 1;
      run.known = 0;
    }
    const Said before = said(runs);
    const std::size_t size = runs.size();
    compact(runs, true);
    ASSERT_EQ(said(runs), before) << "round " << round;
    merged += size - runs.size();
    for (std::size_t n = 0; n < runs.size(); ++n)
      for (std::size_t m = 0; m < n; ++m) {
        const AddressRun &a = runs[n], &b = runs[m];
        const bool same_kind = kind(a) == kind(b);
        ASSERT_FALSE(same_kind && a.begin <= b.end && b.begin <= a.end) << "these could be one";
      }
    std::vector<AddressRun> again = runs;
    compact(again, true);
    ASSERT_EQ(again.size(), runs.size());
  }
  EXPECT_GT(merged, 250u);
}

TEST(GlobalRaces, OfPollsTheFirstAndTheLastAreKept) {
  std::vector<AddressRun> runs;
  for (std::uint32_t n = 0; n < 100; ++n)
    for (const std::uint8_t wave : {0, 1}) {
      AddressRun& poll = runs.emplace_back();
      poll.begin = 16;
      poll.end = 20;
      poll.wave = wave;
      poll.scope = Scope::agent;
      poll.issued = poll.completed = 1 + (n * 37) % 100;
    }
  std::vector<AddressRun> others(3, runs.front());
  others[0].is_write = true;
  others[1].scope = Scope::none;
  others[2].begin = 12;
  runs.insert(runs.begin() + 50, others.begin(), others.end());
  drop_middle_polls(runs);
  std::multiset<std::uint32_t> issued;
  for (const AddressRun& run : runs)
    if (run.scope == Scope::agent && !run.is_write && run.begin == 16) issued.insert(run.issued);
  EXPECT_EQ(issued, (std::multiset<std::uint32_t>{1, 1, 100, 100})) << "of each wave";
  EXPECT_EQ(runs.size(), 4 + others.size());
}

TEST(GlobalRaces, WritesThatOverlapAreComparedWithMemory) {
  const auto memory = *Memory::create(1 << 22);
  auto* const bytes = static_cast<std::uint8_t*>(*memory->allocate(64, "bytes"));
  std::fill_n(bytes, 64, std::uint8_t{7});
  const auto write = [&](std::size_t begin, std::size_t end, std::uint8_t value) {
    const std::vector<std::uint8_t> values(end - begin, value);
    AddressRun run;
    run.begin = reinterpret_cast<std::uint64_t>(bytes) + begin;
    run.end = reinterpret_cast<std::uint64_t>(bytes) + end;
    run.is_write = true;
    run.digest = digest_of(run.begin, values.data(), static_cast<unsigned>(values.size()));
    return run;
  };
  std::vector<AddressRun> alike = {write(0, 8, 7), write(4, 12, 7), write(8, 16, 7),
                                   write(16, 32, 7), write(28, 36, 7)};
  compact(alike, true, memory.get());
  ASSERT_EQ(alike.size(), 1u);
  EXPECT_FALSE(alike[0].mixed);
  EXPECT_TRUE(stands_in_memory(alike[0], *memory)) << "the digest is that of all its bytes";
  std::vector<AddressRun> other = {write(0, 8, 7), write(4, 12, 6)};
  compact(other, true, memory.get());
  ASSERT_EQ(other.size(), 1u);
  EXPECT_TRUE(other[0].mixed);
}

// As lanes that gather make them: thousands, by two instructions, near 0 and near 2^48.
TEST(GlobalRaces, CompactDoesNotDependOnTheOrderOfScatteredRuns) {
  Rng rng(11);
  std::vector<AddressRun> runs(5000);
  for (AddressRun& run : runs) {
    run.vaddr = 8 * below(rng, 2);
    run.begin = (below(rng, 4) == 0 ? std::uint64_t{1} << 48 : 0) + 4 * below(rng, 20'000);
    run.end = run.begin + 4 * (1 + below(rng, 2));
    run.lane = static_cast<std::uint8_t>(below(rng, 64));
    run.issued = run.completed = 1;
  }
  const Said before = said(runs);
  std::vector<AddressRun> compacted = runs;
  compact(compacted, true);
  EXPECT_EQ(said(compacted), before);
  EXPECT_LT(compacted.size(), 4'500u);
  EXPECT_TRUE(std::ranges::is_sorted(compacted, [](const AddressRun& a, const AddressRun& b) {
    return std::tie(a.vaddr, a.begin) < std::tie(b.vaddr, b.begin);
  }));
  for (int round = 0; round < 3; ++round) {
    std::ranges::shuffle(runs, rng);
    std::vector<AddressRun> again = runs;
    compact(again, true);
    ASSERT_EQ(again.size(), compacted.size());
    for (std::size_t n = 0; n < again.size(); ++n) {
      ASSERT_EQ(again[n].begin, compacted[n].begin);
      ASSERT_EQ(again[n].end, compacted[n].end);
      ASSERT_EQ(again[n].lane, compacted[n].lane) << "the report names it";
    }
  }
}

TEST(GlobalRaces, CompactLosesNoRace) {
  Rng rng(5);
  for (int round = 0; round < 1000; ++round) {
    const Releases releases(rng);
    const std::vector<AddressRun> runs = random_runs(rng, releases);
    std::set<std::pair<std::uint32_t, std::uint32_t>> before, after;
    for (const auto& [pair, count] : brute_force(runs, releases))
      before.emplace(std::get<0>(pair), std::get<1>(pair));
    for (const auto& [pair, count] : brute_force(compacted(runs), releases))
      after.emplace(std::get<0>(pair), std::get<1>(pair));
    ASSERT_EQ(before, after) << "round " << round;
  }
}

// For any order and size of the stores: the digest depends only on the bytes and their values.
TEST(GlobalRaces, DigestsTellValuesApart) {
  Rng rng(6);
  std::vector<std::uint8_t> bytes(64);
  for (int round = 0; round < 1000; ++round) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng());
    const std::uint64_t base = 0x7f00'0000'0000 + below(rng, 16);
    const auto sum_in_steps = [&] {
      std::uint64_t sum = 0;
      for (unsigned n = 0; n < bytes.size();) {
        const unsigned step = std::min(1 + below(rng, 16), static_cast<unsigned>(bytes.size()) - n);
        sum += digest_of(base + n, bytes.data() + n, step);
        n += step;
      }
      return sum;
    };
    const std::uint64_t sum = sum_in_steps();
    ASSERT_EQ(sum_in_steps(), sum);
    const unsigned at = below(rng, 64);
    std::swap(bytes[at], bytes[(at + 1 + below(rng, 63)) % 64]);
    const std::uint64_t swapped = sum_in_steps();
    bytes[at] ^= static_cast<std::uint8_t>(1 + below(rng, 255));
    ASSERT_NE(sum_in_steps(), swapped);
  }
}

// If runs overlap in part, the contents of memory show whether they wrote the same.
TEST(GlobalRaces, RunsThatOverlapInPart) {
  std::vector<AddressRun> runs(2);
  for (std::uint32_t n = 0; n < 2; ++n) {
    runs[n].begin = 4 * n;
    runs[n].end = runs[n].begin + 8;
    runs[n].is_write = true;
    runs[n].digest = 5 + n;
    runs[n].workgroup = n;
  }
  SyncGraph graph;
  const auto same = [&](bool first, bool second) {
    const auto conflicts = conflicts_between_workgroups(
        runs, graph, [&](const AddressRun& run) { return run.workgroup == 0 ? first : second; });
    EXPECT_EQ(conflicts.size(), 1u);
    return !conflicts.empty() && conflicts[0].same_value;
  };
  EXPECT_TRUE(same(true, true));
  EXPECT_FALSE(same(true, false));
  EXPECT_FALSE(same(false, true));
}

// A workgroup that writes the same bytes twice has written one value, or more than one.
TEST(GlobalRaces, RepeatedWrites) {
  const auto workgroups = [](const std::vector<std::uint64_t>& first,
                             const std::vector<std::uint64_t>& second) {
    std::vector<AddressRun> all;
    std::uint32_t workgroup = 0;
    for (const auto& digests : {first, second}) {
      std::vector<AddressRun> runs(digests.size());
      for (std::size_t n = 0; n < runs.size(); ++n) {
        runs[n].end = 4;
        runs[n].is_write = true;
        runs[n].digest = digests[n];
        runs[n].workgroup = workgroup;
      }
      compact(runs, true);
      all.insert(all.end(), runs.begin(), runs.end());
      ++workgroup;
    }
    SyncGraph graph;
    const auto conflicts = conflicts_between_workgroups(all, graph, never);
    EXPECT_EQ(conflicts.size(), 1u);
    return !conflicts.empty() && conflicts[0].same_value;
  };
  EXPECT_TRUE(workgroups({7}, {7}));
  EXPECT_TRUE(workgroups({7, 7, 7}, {7}));
  EXPECT_FALSE(workgroups({7}, {5}));
  EXPECT_FALSE(workgroups({7, 5}, {7}));
  EXPECT_FALSE(workgroups({7, 5}, {7, 5})) << "which of them comes last is not known";
}

// A launch in which very many runs are open at one address: pairs may be left out, not all of them.
TEST(GlobalRaces, ManyWorkgroupsWriteTheSameBytes) {
  std::vector<AddressRun> runs(2000);
  for (std::uint32_t n = 0; n < runs.size(); ++n) {
    runs[n].end = 1024;
    runs[n].workgroup = n;
    runs[n].vaddr = 4;
    runs[n].is_write = true;
  }
  SyncGraph graph;
  const auto conflicts = conflicts_between_workgroups(runs, graph, never);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].first.workgroup, 0u);
  EXPECT_EQ(conflicts[0].second.workgroup, 1u);
  EXPECT_GE(conflicts[0].count, runs.size() - 1);
}

// One write among very many reads that are open at its address.
TEST(GlobalRaces, OneWriteAmongManyReads) {
  for (const bool last : {false, true}) {
    std::vector<AddressRun> runs(1000);
    for (std::uint32_t n = 0; n < runs.size(); ++n) {
      runs[n].end = 1024;
      runs[n].workgroup = n;
      runs[n].vaddr = 4;
    }
    AddressRun& write = last ? runs.back() : runs.front();
    write.is_write = true;
    write.vaddr = 8;
    SyncGraph graph;
    const auto conflicts = conflicts_between_workgroups(runs, graph, never);
    ASSERT_EQ(conflicts.size(), 1u) << last;
  }
}

}  // namespace
}  // namespace margay::check
