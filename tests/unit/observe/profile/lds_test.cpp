// What LDS takes for an access, against a slow reckoning from the published lane groups: for a
// single access (lds_cost) and for many (LdsPatterns).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "observe/profile/lds/lds_banks.h"
#include "observe/profile/lds/lds_patterns.h"

namespace margay::profile {
namespace {

/// An access that owns its addresses.
struct Sample {
  std::array<std::uint64_t, 64> at{}, second{};
  std::uint64_t active = ~0ull;
  std::uint16_t bytes = 4;
  bool is_write = false, is_atomic = false;
  std::int64_t second_offset = 0;  ///< 0: there is no second address.

  [[nodiscard]] LdsAccess access() {
    for (unsigned lane = 0; lane < 64; ++lane)
      second[lane] = at[lane] + static_cast<std::uint64_t>(second_offset);
    return {{at.data(), second_offset != 0 ? second.data() : nullptr},
            active,
            bytes,
            is_write,
            is_atomic};
  }
};

/// Which group of its access a lane is in. 128 bits: AMD's composable_kernel documentation.
unsigned group_of(unsigned lane, const Sample& s) {
  if (s.bytes <= 4) return lane / 32;
  if (s.bytes <= 8) return lane / 16;
  if (s.is_write && !s.is_atomic) return lane / 8;
  static const std::map<unsigned, unsigned> kOfQuad = {{0, 0}, {5, 0}, {1, 1}, {4, 1},
                                                       {2, 2}, {7, 2}, {3, 3}, {6, 3}};
  return lane / 32 * 4 + kOfQuad.at(lane % 32 / 4);
}
unsigned groups_of(const Sample& s) { return s.bytes <= 4 ? 2 : s.bytes <= 8 ? 4 : 8; }

struct Reckoned {
  std::uint32_t cycles = 0, bank = 0, address = 0, worst = 1;
  std::array<std::uint16_t, 32> bank_dwords{};
  std::set<unsigned> worst_banks;  ///< All that have the worst.
};

/// `move`: a distance in bytes.
Reckoned reckon(const Sample& s, std::uint64_t move = 0) {
  Reckoned r;
  std::map<std::pair<unsigned, unsigned>, std::multiset<std::uint64_t>> wanted;  // group, bank
  const auto ask = [&](unsigned first_group, std::uint64_t offset) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((s.active >> lane & 1) == 0) continue;
      std::set<std::uint64_t> dwords;
      for (unsigned byte = 0; byte < s.bytes; ++byte)
        dwords.insert((s.at[lane] + move + offset + byte) / 4);
      for (const std::uint64_t dword : dwords)
        wanted[{first_group + group_of(lane, s), dword % 32}].insert(dword);
    }
  };
  unsigned groups = groups_of(s);
  ask(0, 0);
  if (s.second_offset != 0) {
    ask(groups, static_cast<std::uint64_t>(s.second_offset));
    groups *= 2;
  }
  for (unsigned group = 0; group < groups; ++group) {
    std::size_t ways = 1, turns = 1;
    for (unsigned bank = 0; bank < 32; ++bank) {
      const auto found = wanted.find({group, bank});
      if (found == wanted.end()) continue;
      const std::set<std::uint64_t> distinct(found->second.begin(), found->second.end());
      r.bank_dwords[bank] = static_cast<std::uint16_t>(r.bank_dwords[bank] + distinct.size());
      ways = std::max(ways, distinct.size());
      turns = std::max(turns, found->second.size());
      if (distinct.size() > r.worst) {
        r.worst = static_cast<std::uint32_t>(distinct.size());
        r.worst_banks.clear();
      }
      if (distinct.size() == r.worst && r.worst > 1) r.worst_banks.insert(bank);
    }
    if (!s.is_atomic) turns = ways;
    r.cycles += static_cast<std::uint32_t>(turns);
    r.bank += static_cast<std::uint32_t>(ways - 1);
    r.address += static_cast<std::uint32_t>(turns - ways);
  }
  return r;
}

Sample random_sample(std::mt19937& random) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Sample s;
  constexpr std::uint16_t kBytes[] = {1, 2, 4, 8, 12, 16};
  s.bytes = kBytes[below(6)];
  s.is_write = below(2) == 0;
  s.is_atomic = s.bytes >= 4 && s.bytes <= 8 && below(3) == 0;
  if (s.is_atomic) s.is_write = true;
  if (s.bytes >= 4 && s.bytes <= 8 && below(4) == 0)
    s.second_offset = (static_cast<std::int64_t>(below(200)) - 60) * s.bytes;
  const std::uint32_t unit = below(5) == 0 ? 1 : std::min<std::uint32_t>(s.bytes, 4);
  const std::uint32_t stride = below(70) * unit, range = 1 + below(4000);
  switch (below(3)) {
    case 0:
      for (unsigned lane = 0; lane < 64; ++lane) s.at[lane] = 20000 + lane * stride;
      break;
    case 1:
      for (auto& a : s.at) a = 20000 + below(range) * unit;
      break;
    default:  // rows of a tile
      for (unsigned lane = 0; lane < 64; ++lane)
        s.at[lane] = 20000 + lane % 16 * 128 + lane / 16 * s.bytes;
  }
  if (below(3) == 0) s.active = (std::uint64_t{random()} << 32 | random());
  if (below(10) == 0) s.active = 1ull << below(64);
  return s;
}

TEST(LdsCost, IsWhatThePublishedGroupsGive) {
  std::mt19937 random(1);
  for (int n = 0; n < 3000; ++n) {
    Sample s = random_sample(random);
    const LdsCost cost = lds_cost(s.access());
    const Reckoned r = reckon(s);
    ASSERT_EQ(cost.cycles, r.cycles) << n << ", " << s.bytes << " bytes";
    ASSERT_EQ(cost.bank_conflicts, r.bank);
    ASSERT_EQ(cost.address_conflicts, r.address);
    ASSERT_EQ(cost.worst_ways, r.worst);
    ASSERT_EQ(cost.bank_dwords, r.bank_dwords);
    if (r.worst == 1) continue;
    ASSERT_TRUE(r.worst_banks.contains(cost.worst_bank));
    ASSERT_EQ(std::popcount(cost.worst_lanes), static_cast<int>(r.worst));
    ASSERT_EQ(cost.worst_lanes & ~s.active, 0u);
  }
}

TEST(LdsCost, NamesLanesThatMeetInTheWorstBank) {
  Sample s;
  for (unsigned lane = 0; lane < 64; ++lane) s.at[lane] = lane * 4;
  s.at[7] = 128 + 12;  // bank 3 of another row, as lane 3
  const LdsCost cost = lds_cost(s.access());
  EXPECT_EQ(cost.cycles, 3u);
  EXPECT_EQ(cost.bank_conflicts, 1u);
  EXPECT_EQ(cost.worst_ways, 2u);
  EXPECT_EQ(cost.worst_bank, 3u);
  EXPECT_EQ(cost.worst_lanes, 1ull << 3 | 1ull << 7);
}

/// What many accesses of one instruction add up to.
struct Total {
  std::uint64_t cycles = 0, bank = 0, address = 0, conflicting = 0;
  std::uint32_t worst = 1;
  std::array<std::uint64_t, 32> bank_dwords{};

  void add(const Reckoned& r) {
    cycles += r.cycles;
    bank += r.bank;
    address += r.address;
    conflicting += r.bank != 0 ? 1 : 0;
    worst = std::max(worst, r.worst);
    for (unsigned n = 0; n < 32; ++n) bank_dwords[n] += r.bank_dwords[n];
  }
};

void expect_equal(const LdsUse& use, const Total& total) {
  EXPECT_EQ(use.cycles, total.cycles);
  EXPECT_EQ(use.conflict_cycles, total.bank);
  EXPECT_EQ(use.address_cycles, total.address);
  EXPECT_EQ(use.conflicting, total.conflicting);
  EXPECT_EQ(use.worst_ways, total.worst);
  EXPECT_EQ(use.bank_dwords, total.bank_dwords);
}
void expect_same(const LdsUse& a, const LdsUse& b) {
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.conflict_cycles, b.conflict_cycles);
  EXPECT_EQ(a.address_cycles, b.address_cycles);
  EXPECT_EQ(a.conflicting, b.conflicting);
  EXPECT_EQ(a.worst_ways, b.worst_ways);
  EXPECT_EQ(a.worst_bank, b.worst_bank);
  EXPECT_EQ(a.worst_lanes, b.worst_lanes);
  EXPECT_EQ(a.bank_dwords, b.bank_dwords);
  EXPECT_EQ(a.reached_bytes, b.reached_bytes);
}

/// Executions of one instruction: few or many patterns of addresses, each moved about.
std::vector<Sample> executions(std::mt19937& random, unsigned patterns) {
  std::vector<Sample> kinds;
  const Sample first = random_sample(random);
  while (kinds.size() < patterns) {
    Sample s = random_sample(random);
    if (s.bytes == first.bytes && s.is_write == first.is_write && s.is_atomic == first.is_atomic) {
      s.second_offset = first.second_offset;
      kinds.push_back(s);
    }
  }
  std::vector<Sample> all;
  for (int n = 0; n < 60; ++n) {
    Sample s = kinds[random() % patterns];
    const std::uint64_t move = random() % 3000 * (random() % 8 == 0 ? 1 : 4);
    for (auto& a : s.at) a += move;
    all.push_back(s);
  }
  return all;
}

TEST(LdsPatterns, AreTheSumOfTheirAccesses) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    // It remembers four: with nine every one is given up and worked out again many times.
    LdsPatterns patterns;
    Total total;
    std::uint64_t reached = 0;
    for (Sample& s : executions(random, 1 + random() % 9)) {
      patterns.add(s.access(), s.second_offset);
      total.add(reckon(s));
      for (unsigned lane = 0; lane < 64; ++lane)
        if ((s.active >> lane & 1) != 0)
          reached = std::max({reached, s.at[lane] + s.bytes, s.second[lane] + s.bytes});
    }
    expect_equal(patterns.use(), total);
    EXPECT_EQ(patterns.use().reached_bytes, reached);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(LdsPatterns, AreTheSameInEveryOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    std::vector<Sample> all = executions(random, 6);
    LdsPatterns one;
    for (Sample& s : all) one.add(s.access(), s.second_offset);
    std::ranges::shuffle(all, random);
    std::array<LdsPatterns, 4> parts;
    for (std::size_t n = 0; n < all.size(); ++n)
      parts[random() % 4].add(all[n].access(), all[n].second_offset);
    std::ranges::shuffle(parts, random);
    LdsPatterns merged;
    for (const LdsPatterns& part : parts) merged.merge(part);
    expect_same(merged.use(), one.use());
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(LdsPatterns, NoLaneStillTakesItsTurn) {
  Sample s;
  s.active = 0;
  LdsPatterns patterns;
  patterns.add(s.access(), 0);
  EXPECT_EQ(patterns.use().cycles, 2u);
  EXPECT_EQ(patterns.use().conflict_cycles, 0u);
  EXPECT_EQ(patterns.use().reached_bytes, 0u);
}

}  // namespace
}  // namespace margay::profile
