// One vector memory instruction at the texture addresser, against a slow reckoning of the rule in
// coalescer.h.
#include "observe/profile/memory/coalescer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace margay::profile {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kBase = 0x7f0012340000;

LaneAccess access_of(std::uint16_t bytes, std::uint64_t active = ~0ull) {
  LaneAccess access{};
  access.bytes = bytes;
  access.active = active;
  return access;
}

struct Touch {
  std::uint64_t line = 0;
  std::uint8_t quarters = 0;
  friend bool operator==(const Touch&, const Touch&) = default;
};

std::vector<Touch> expanded(const Coalesced& c) {
  std::vector<Touch> out;
  for (const LineRun& run : c.runs)
    for (std::uint32_t n = 0; n < run.count; ++n)
      out.push_back({run.line + static_cast<std::uint64_t>(run.stride * n), run.quarters});
  return out;
}

struct Reckoned {
  std::uint32_t thread_requests = 0, tag_accesses = 0, sectors = 0, least_sectors = 0;
  std::uint32_t lookup_cycles = 0;
  std::vector<Touch> touches;
};

/// Whether the active ones of four lanes have the place of their number in a run of bytes.
bool contiguous(const LaneAccess& access, unsigned quad) {
  std::set<std::uint64_t> begins;
  for (unsigned lane = quad; lane < quad + 4; ++lane)
    if ((access.active >> lane & 1) != 0)
      begins.insert(access.at[lane] - std::uint64_t{lane} * access.bytes);
  return begins.size() <= 1;
}

Reckoned reckon(const LaneAccess& access) {
  Reckoned r;
  std::set<std::uint64_t> sectors;
  std::set<std::uint64_t> bytes;
  for (unsigned quad = 0; quad < 64; quad += 4) {
    std::set<std::uint64_t> lines, segments, quad_sectors;
    std::vector<Touch> quad_touches;  // of first bytes
    unsigned lanes = 0;
    for (unsigned lane = quad; lane < quad + 4; ++lane) {
      if ((access.active >> lane & 1) == 0) continue;
      ++lanes;
      quad_sectors.insert(access.at[lane] / 64);
      const auto half = static_cast<std::uint8_t>(1u << (access.at[lane] % 128 / 64));
      if (quad_touches.empty() || quad_touches.back().line != access.at[lane] / 128)
        quad_touches.push_back({access.at[lane] / 128, half});
      else
        quad_touches.back().quarters |= half;
      segments.insert(access.at[lane] / 16);
      for (std::uint64_t at = access.at[lane]; at < access.at[lane] + access.bytes; ++at) {
        bytes.insert(at);
        lines.insert(at / 128);
        sectors.insert(at / 64);
        const auto quarter = static_cast<std::uint8_t>(1u << (at % 128 / 32));
        if (r.touches.empty() || r.touches.back().line != at / 128)
          r.touches.push_back({at / 128, quarter});
        else
          r.touches.back().quarters |= quarter;
      }
    }
    if (access.bytes <= 4 && quad_sectors.size() > 1 && !contiguous(access, quad))
      for (r.lookup_cycles += lanes; const Touch& touch : quad_touches)
        r.lookup_cycles -= static_cast<std::uint32_t>(std::popcount(touch.quarters));
    r.tag_accesses += static_cast<std::uint32_t>(lines.size());
    r.thread_requests += access.bytes <= 4 ? static_cast<std::uint32_t>(segments.size()) : lanes;
  }
  r.sectors = static_cast<std::uint32_t>(sectors.size());
  r.least_sectors = static_cast<std::uint32_t>((bytes.size() + 63) / 64);
  for (const Touch& touch : r.touches)
    r.lookup_cycles += (touch.quarters & 3 ? 1u : 0u) + (touch.quarters & 12 ? 1u : 0u);
  return r;
}

void expect_equal(const LaneAccess& access) {
  Coalesced c;
  c.runs.assign(3, {1, 2, 3, 4});  // of an earlier call
  coalesce(access, c);
  const Reckoned r = reckon(access);
  EXPECT_EQ(c.thread_requests, r.thread_requests);
  EXPECT_EQ(c.tag_accesses, r.tag_accesses);
  EXPECT_EQ(c.sectors, r.sectors);
  EXPECT_EQ(c.least_sectors, r.least_sectors);
  EXPECT_EQ(c.lookup_cycles, r.lookup_cycles);
  EXPECT_EQ(expanded(c), r.touches);
}

TEST(Coalesce, IsTheRuleForRandomLanes) {
  std::mt19937_64 random(4);
  constexpr std::uint16_t kBytes[] = {1, 2, 4, 8, 12, 16};
  for (int n = 0; n < 3000; ++n) {
    LaneAccess access = access_of(kBytes[random() % 6]);
    const std::uint64_t stride = random() % 300, range = 1 + random() % 20000;
    const bool ordered = random() % 2 == 0;
    const bool backwards = random() % 4 == 0;
    for (unsigned lane = 0; lane < 64; ++lane)
      access.at[lane] =
          kBase + (ordered ? (backwards ? 63 - lane : lane) * stride : random() % range);
    if (random() % 3 == 0) access.active = random();
    expect_equal(access);
    if (HasFailure()) FAIL() << "round " << n;
  }
}

TEST(Coalesce, AScalarReadIsOneWideLane) {
  for (const std::uint16_t bytes : {4, 8, 16, 32, 64})
    for (std::uint64_t offset = 0; offset < 256; offset += 4) {
      LaneAccess access = access_of(bytes, 1);
      access.at[0] = kBase + offset;
      expect_equal(access);
    }
}

TEST(Coalesce, ContiguousDoublesAreAsOnMi300x) {
  // rocprofiler-compute's vcopy: 64 requests, 16 tag accesses, four lines, eight sectors.
  LaneAccess access = access_of(8);
  for (unsigned lane = 0; lane < 64; ++lane) access.at[lane] = kBase + 8 * lane;
  Coalesced c;
  coalesce(access, c);
  EXPECT_EQ(c.thread_requests, 64u);
  EXPECT_EQ(c.tag_accesses, 16u);
  EXPECT_EQ(c.sectors, 8u);
  EXPECT_EQ(c.least_sectors, 8u);
  ASSERT_EQ(c.runs.size(), 1u);
  EXPECT_EQ(c.runs[0].count, 4u);
  EXPECT_EQ(c.runs[0].quarters, 15);
}

TEST(Coalesce, ARegularStrideIsOneRun) {
  LaneAccess access = access_of(4);
  for (unsigned lane = 0; lane < 64; ++lane) access.at[lane] = kBase + 4096 * (63 - lane);
  Coalesced c;
  coalesce(access, c);
  ASSERT_EQ(c.runs.size(), 1u);
  EXPECT_EQ(c.runs[0].stride, -32);
  EXPECT_EQ(c.runs[0].count, 64u);
}

// vL1D gives 64 bytes in a cycle, of one sector, to four scattered dwords one by one.
TEST(Coalesce, LookupsTakeACycleForEachSector) {
  const auto cycles = [](std::uint16_t bytes, std::uint64_t first, std::uint64_t stride) {
    LaneAccess access = access_of(bytes);
    for (unsigned lane = 0; lane < 64; ++lane) access.at[lane] = kBase + first + stride * lane;
    Coalesced c;
    coalesce(access, c);
    return c.lookup_cycles;
  };
  EXPECT_EQ(cycles(4, 0, 0), 1u) << "one dword for all lanes";
  EXPECT_EQ(cycles(4, 0, 4), 4u);
  EXPECT_EQ(cycles(4, 32, 4), 5u);
  EXPECT_EQ(cycles(16, 0, 16), 16u);
  EXPECT_EQ(cycles(4, 0, 64), 64u);
  EXPECT_EQ(cycles(4, 0, 16), 16u) << "four lanes have one sector";
  EXPECT_EQ(cycles(4, 0, 32), 64u) << "four lanes have two: a cycle for each lane";
  EXPECT_EQ(cycles(2, 0, 32), 64u);
  EXPECT_EQ(cycles(8, 0, 32), 32u) << "seen of dwords only";
  EXPECT_EQ(cycles(4, 0, 128), 64u) << "each lane one sector of its line";
  EXPECT_EQ(cycles(16, 56, 128), 128u) << "each lane two";
}

TEST(Coalesce, NoLaneTouchesNothing) {
  Coalesced c;
  coalesce(access_of(16, 0), c);
  EXPECT_EQ(c.tag_accesses + c.thread_requests + c.sectors + c.least_sectors + c.lookup_cycles, 0u);
  EXPECT_TRUE(c.runs.empty());
}

// ---- Why sectors are touched beyond those that the bytes would fill -----------------------------

struct Waste {
  std::uint32_t least, misaligned, inactive, scattered;
  friend bool operator==(const Waste&, const Waste&) = default;
};

Waste waste(std::uint16_t bytes, std::uint64_t active, std::uint64_t first, std::int64_t stride) {
  LaneAccess access = access_of(bytes, active);
  for (unsigned lane = 0; lane < 64; ++lane)
    access.at[lane] = kBase + first + static_cast<std::uint64_t>(stride * lane);
  Coalesced c;
  coalesce(access, c);
  EXPECT_GE(c.sectors, c.least_sectors);
  return {c.least_sectors, c.misaligned_sectors, c.inactive_sectors,
          c.sectors - c.least_sectors - c.misaligned_sectors - c.inactive_sectors};
}

TEST(Coalesce, SaysWhySectorsAreTouched) {
  constexpr std::uint64_t kAll = ~0ull, kEven = 0x5555555555555555, kHalf = 0xffffffff;
  EXPECT_EQ(waste(4, kAll, 0, 4), (Waste{4, 0, 0, 0}));
  EXPECT_EQ(waste(16, kAll, 0, 16), (Waste{16, 0, 0, 0}));
  EXPECT_EQ(waste(4, kAll, 0, -4), (Waste{4, 1, 0, 0}));  // reversed, from the last of a sector
  EXPECT_EQ(waste(4, kAll, 0, 0), (Waste{1, 0, 0, 0}));   // one dword for all lanes
  EXPECT_EQ(waste(4, kAll, 16, 4), (Waste{4, 1, 0, 0}));
  EXPECT_EQ(waste(4, kHalf, 0, 4), (Waste{2, 0, 0, 0}));  // nothing is wasted
  EXPECT_EQ(waste(4, kEven, 0, 4), (Waste{2, 0, 2, 0}));
  EXPECT_EQ(waste(4, kEven, 16, 4), (Waste{2, 1, 2, 0}));
  EXPECT_EQ(waste(4, kAll, 0, 128), (Waste{4, 0, 0, 60}));
  EXPECT_EQ(waste(4, kAll, 0, 8), (Waste{4, 0, 0, 4}));
  EXPECT_EQ(waste(8, kAll, 32, 8), (Waste{8, 1, 0, 0}));
}

TEST(Coalesce, BytesThatLanesShareCountOnce) {
  LaneAccess access = access_of(16);
  for (unsigned lane = 0; lane < 64; ++lane) access.at[lane] = kBase + lane / 8 * 16;
  Coalesced c;
  coalesce(access, c);
  EXPECT_EQ(c.sectors, 2u);
  EXPECT_EQ(c.least_sectors, 2u);
  EXPECT_EQ(c.least_tag_accesses, 16u);
}

/// What is kept of earlier accesses makes no difference: shapes come again at other places, more of
/// them than are kept, with lanes off, of other widths, and at another place in their lines.
TEST(Coalescer, GivesWhatCoalesceGives) {
  std::mt19937_64 random(7);
  std::vector<LaneAccess> shapes;
  for (unsigned n = 0; n < 12; ++n) {
    LaneAccess shape = access_of(n % 3 == 0 ? 4 : 16, n % 4 == 3 ? random() : ~0ull);
    const std::uint64_t rows = 1 + random() % 8, pitch = 16 * (random() % 600);
    for (unsigned lane = 0; lane < 64; ++lane)
      shape.at[lane] = lane % rows * pitch + lane / rows * shape.bytes;
    shapes.push_back(shape);
    shapes.push_back(shape);  // differs in its last lane only
    shapes.back().at[63] += 256;
  }
  Coalescer kept;
  for (unsigned round = 0; round < 2000; ++round) {
    LaneAccess access = shapes[random() % shapes.size()];
    // Most rounds repeat a shape of the last few.
    if (round % 4 != 0) access = shapes[round / 200];
    const std::uint64_t place = kBase + 16 * (random() % (round % 3 == 0 ? 1000 : 4) * 8);
    for (std::uint64_t& at : access.at) at += place + (round % 5 == 0 ? 16 : 0);
    Coalesced expected;
    coalesce(access, expected);
    const Coalesced& given = kept(access);
    EXPECT_EQ(given.thread_requests, expected.thread_requests);
    EXPECT_EQ(given.tag_accesses, expected.tag_accesses);
    EXPECT_EQ(given.sectors, expected.sectors);
    EXPECT_EQ(given.least_sectors, expected.least_sectors);
    EXPECT_EQ(given.misaligned_sectors, expected.misaligned_sectors);
    EXPECT_EQ(given.inactive_sectors, expected.inactive_sectors);
    EXPECT_EQ(given.least_tag_accesses, expected.least_tag_accesses);
    ASSERT_EQ(expanded(given), expanded(expected)) << round;
  }
  LaneAccess none = access_of(4, 0);
  EXPECT_TRUE(kept(none).runs.empty());
}

}  // namespace
}  // namespace margay::profile
