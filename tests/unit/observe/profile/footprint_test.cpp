// How much a whole launch touches, from a sample and probes.
#include "observe/profile/memory/footprint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <vector>

namespace margay::profile {
namespace {

constexpr std::uint64_t kWorkgroups = 2048, kXcds = 8, kSample = 38;
constexpr double kMost = 1e9;

using Lines = std::function<void(std::uint64_t workgroup, LineSet& lines)>;

void add(LineSet& lines, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t n = first; n < first + count; ++n) lines.add(n);
}

/// What is said of a launch of kWorkgroups, and what it is.
struct Said {
  double all = 0, truth = 0;
};
/// `work`: instructions of a workgroup.
using Work = std::function<double(std::uint64_t workgroup)>;
Said said_of(const Lines& touch, const Work& work = [](std::uint64_t) { return 1.0; }) {
  LineSet seen, truth;
  std::vector<std::uint64_t> spread, row;
  double all = 0, watched = 0;
  for (std::uint64_t n = 0; n < kWorkgroups; ++n) {
    touch(n, truth);
    all += work(n);
    if (n % kXcds == 0 && n < kSample * kXcds) {
      touch(n, seen);
      watched += work(n);
    }
    if (n >= kSample * kXcds && row.size() < kProbesInARow) row.push_back(n);
  }
  std::minstd_rand random(1);
  for (std::uint64_t n = 0; n < 21; ++n)
    spread.push_back(random() % (kWorkgroups / kXcds) * kXcds + 1 + n % 7);
  std::deque<LineSet> sets;
  const auto probed = [&](const std::vector<std::uint64_t>& workgroups) {
    std::vector<ProbedLines> out;
    for (const std::uint64_t n : workgroups) {
      touch(n, sets.emplace_back());
      out.push_back({&sets.back(), work(n) * kSample / watched});
    }
    return out;
  };
  const std::vector<ProbedLines> of_spread = probed(spread), of_row = probed(row);
  const SampleSize size{
      .scale = all / watched, .watched = kSample, .others = all * kSample / watched - kSample};
  return {touched_by_all(seen, of_spread, of_row, size, kMost), static_cast<double>(truth.count())};
}

TEST(Footprint, AStreamIsReadOnce) {
  const Said said = said_of([](std::uint64_t n, LineSet& lines) { add(lines, n * 32, 32); });
  EXPECT_NEAR(said.all, said.truth, 0.01 * said.truth);
}

TEST(Footprint, ATableThatAllReadIsNotReadAnewByOthers) {
  const Said said = said_of([](std::uint64_t, LineSet& lines) { add(lines, 0, 1000); });
  EXPECT_EQ(said.all, said.truth);
}

TEST(Footprint, ATableAndAStreamInOneTensorAreNotAlike) {
  for (const std::uint64_t table : {4, 16, 64, 1000}) {
    const Said said = said_of([table](std::uint64_t n, LineSet& lines) {
      add(lines, 0, table);
      add(lines, 100000 + n * 64, 64);
    });
    EXPECT_GT(said.all, 0.95 * said.truth) << table;
    // A row of probes has the table once more.
    EXPECT_LT(said.all,
              1.15 * said.truth + kWorkgroups / kProbesInARow * static_cast<double>(table))
        << table;
  }
}

// Neighbours read the same lines above and below.
TEST(Footprint, HalosAreReadOnce) {
  const Said said = said_of([](std::uint64_t n, LineSet& lines) { add(lines, n * 32, 32 + 16); });
  EXPECT_NEAR(said.all, said.truth, 0.15 * said.truth);
}

// Heads of an attention: eight neighbours read one, or workgroups at a distance do.
TEST(Footprint, WhatXcdsShareIsReadOnce) {
  const Said near = said_of([](std::uint64_t n, LineSet& lines) { add(lines, n / 8 * 256, 256); });
  EXPECT_NEAR(near.all, near.truth, 0.3 * near.truth);
  const Said far = said_of([](std::uint64_t n, LineSet& lines) { add(lines, n % 64 * 256, 256); });
  EXPECT_NEAR(far.all, far.truth, 0.3 * far.truth);
}

// Strips of a product: of 32 columns the sample's XCD has four.
TEST(Footprint, StripsOfAProductAreReadOnce) {
  const Said rows = said_of([](std::uint64_t n, LineSet& lines) { add(lines, n / 32 * 256, 256); });
  EXPECT_NEAR(rows.all, rows.truth, 0.5 * rows.truth);
  const Said columns =
      said_of([](std::uint64_t n, LineSet& lines) { add(lines, n % 32 * 256, 256); });
  EXPECT_NEAR(columns.all, columns.truth, 0.3 * columns.truth);
}

// Sequences of many lengths, and their caches.
// A table by random indices: all draws together are a third, as many, or three times as many as it
// has lines. With lines in it that each workgroup has for itself, it is not taken for more.
TEST(Footprint, ATableIsReadAtRandom) {
  for (const std::uint64_t draws : {100, 300, 900})
    for (const std::uint64_t own : {0, 50}) {
      const Said said = said_of([&](std::uint64_t n, LineSet& lines) {
        std::mt19937 random(static_cast<unsigned>(n));
        for (std::uint64_t k = 0; k < draws; ++k) lines.add(random() % 600000);
        add(lines, 600000 + n * own, own);
      });
      // Of few draws probes meet too rarely to say how large the table is.
      const double error = own == 0 && draws > 100 ? 0.05 : 0.3;
      EXPECT_NEAR(said.all, said.truth, error * said.truth) << draws << " and " << own;
    }
}

TEST(Footprint, WhatIsReadGoesWithTheWork) {
  // A workgroup's instructions are in part the same for all.
  const auto test = [](const std::function<std::uint64_t(std::uint64_t)>& length) {
    const Said said =
        said_of([&](std::uint64_t n, LineSet& lines) { add(lines, n * 1000, length(n)); },
                [&](std::uint64_t n) { return 50.0 + static_cast<double>(length(n)); });
    EXPECT_NEAR(said.all, said.truth, 0.25 * said.truth);
  };
  // The sample, and what comes behind it, and the rest: long, short.
  test([](std::uint64_t n) { return n < kSample * kXcds ? 900 : n % 2 == 0 ? 900 : 20; });
  test([](std::uint64_t n) { return n < kSample * kXcds ? 900 : n < 2000 ? 20 : 900; });
  test([](std::uint64_t n) { return 1000 - n * 900 / kWorkgroups; });
  test([](std::uint64_t n) { return 100 + n * 900 / kWorkgroups; });
}

TEST(Footprint, ATensorIsReadAsAWholeUnlessProbesSayOtherwise) {
  LineSet seen, half;
  add(seen, 0, 100);
  add(half, 50, 100);
  const SampleSize size{.scale = 10, .watched = 10, .others = 90};
  // 100 for each 55 of 100 that the sample has: 182.
  EXPECT_EQ(touched_by_all(seen, {{&half}, {&half}}, {}, size, 250), 250);
  EXPECT_NEAR(touched_by_all(seen, {{&half}, {&half}}, {}, size, 900), 182, 1);
}

TEST(Footprint, ATensorHasNoMoreThanItsLines) {
  LineSet seen;
  add(seen, 0, 100);
  EXPECT_EQ(touched_by_all(seen, {}, {}, {.scale = 10, .watched = 1, .others = 9}, 250), 250);
  EXPECT_EQ(touched_by_all(seen, {}, {}, {.scale = 2, .watched = 1, .others = 1}, 250), 200);
}

}  // namespace
}  // namespace margay::profile
