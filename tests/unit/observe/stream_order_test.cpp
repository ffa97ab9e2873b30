// The order of operations of streams, against a reference that keeps for each stream, event and the
// host which operations it has seen; and footprints against single bytes.
#include "observe/check/streams/stream_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "observe/check/streams/footprint.h"

namespace margay::check {
namespace {

using Rng = std::mt19937_64;
unsigned below(Rng& rng, unsigned end) { return static_cast<unsigned>(rng() % end); }
using Seen = std::set<std::size_t>;

/// The null stream, two that wait for it and two that do not.
constexpr unsigned kStreams = 5;
std::array<Stream, kStreams> streams() {
  static const std::array<int, kStreams> handles{};
  std::array<Stream, kStreams> all;
  for (unsigned n = 1; n < kStreams; ++n) {
    all[n].id.handle = &handles[n];
    all[n].waits_for_null = n <= 2;
  }
  return all;
}

class Judge {
 public:
  /// What the stream's next work comes behind.
  [[nodiscard]] Seen point(unsigned stream) const {
    Seen seen = host;
    const auto add = [&](const Seen& other) { seen.insert(other.begin(), other.end()); };
    add(of[stream]);
    if (stream == 0)
      for (unsigned other : {1u, 2u}) add(of[other]);
    if (stream == 1 || stream == 2) add(of[0]);
    return seen;
  }
  std::array<Seen, kStreams> of;
  std::map<unsigned, Seen> events;
  Seen host;
};

TEST(StreamOrder, IsThatOfTheJudge) {
  Rng rng(1);
  std::size_t ordered = 0, unordered = 0;
  for (int round = 0; round < 400; ++round) {
    const auto all = streams();
    StreamOrder order;
    Judge judge;
    std::vector<std::shared_ptr<Operation>> operations;
    std::vector<Seen> before;
    const std::array<int, 3> events{};
    for (int step = 0; step < 60; ++step) {
      const unsigned stream = below(rng, kStreams), event = below(rng, 3);
      switch (below(rng, 10)) {
        default:
          before.push_back(judge.point(stream));
          judge.of[stream] = before.back();
          judge.of[stream].insert(operations.size());
          operations.push_back(order.begin(all[stream], "an operation"));
          break;
        case 5:
          judge.events[event] = judge.of[stream] = judge.point(stream);
          order.record(&events[event], all[stream]);
          break;
        case 6:
        case 7:
          if (judge.events.contains(event)) {
            judge.of[stream] = judge.point(stream);
            judge.of[stream].insert(judge.events[event].begin(), judge.events[event].end());
          }
          order.stream_waits(all[stream], &events[event]);
          break;
        case 8:
          if (below(rng, 3) == 0) {
            judge.host = judge.point(stream);
            order.host_waits(all[stream]);
          }
          break;
        case 9:
          if (below(rng, 3) == 0 && judge.events.contains(event)) {
            judge.host.insert(judge.events[event].begin(), judge.events[event].end());
            order.host_waits_for_event(&events[event]);
          }
          break;
      }
    }
    for (std::size_t later = 0; later < operations.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const bool expected = before[later].contains(earlier);
        ++(expected ? ordered : unordered);
        ASSERT_EQ(operations[later]->comes_behind(*operations[earlier]), expected)
            << "round " << round << ", operations " << earlier << " and " << later;
        ASSERT_FALSE(operations[earlier]->comes_behind(*operations[later]));
      }
  }
  EXPECT_GT(ordered, 10'000u);
  EXPECT_GT(unordered, 10'000u);
}

TEST(StreamOrder, LinesOfStreamsThatAreGoneAreUsedAgain) {
  StreamOrder order;
  std::array<int, 100> handles{};
  std::shared_ptr<Operation> last;
  for (int& handle : handles) {
    const Stream stream{
        .id = {.handle = &handle, .device = 0, .thread = 0}, .waits_for_null = false, .name = {}};
    const auto operation = order.begin(stream, "an operation");
    // Every stream's work was waited for before the next one's began.
    if (last != nullptr) {
      EXPECT_TRUE(operation->comes_behind(*last));
    }
    last = operation;
    order.host_waits(stream);
    order.destroyed(stream.id);
  }
  EXPECT_EQ(order.lines(), 1u);
}

TEST(StreamOrder, PartsOfAGraphComeBehindThoseTheyDependOn) {
  StreamOrder order;
  const Stream stream = streams()[1];
  StreamOrder::Parts parts;
  for (int launch = 0; launch < 50; ++launch) {
    const auto whole = order.begin(stream, "a graph");
    parts = {order.begin_part(*whole, {})};
    parts.push_back(order.begin_part(*whole, {parts[0]}));
    parts.push_back(order.begin_part(*whole, {parts[0]}));
    parts.push_back(order.begin_part(*whole, {parts[1], parts[2]}));
    EXPECT_FALSE(parts[2]->comes_behind(*parts[1]));
    EXPECT_FALSE(parts[1]->comes_behind(*parts[2]));
    for (const int before : {0, 1, 2}) EXPECT_TRUE(parts[3]->comes_behind(*parts[before]));
    order.end_parts(*whole, parts);
  }
  const auto next = order.begin(stream, "an operation");
  for (const auto& part : parts) EXPECT_TRUE(next->comes_behind(*part));
  EXPECT_LE(order.lines(), 3u);
}

/// By byte and kind of touch.
using Bytes = std::map<std::pair<std::uint64_t, Touch>, std::uint64_t>;

TEST(Footprint, HasExactlyTheBytesOfTheRuns) {
  Rng rng(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<check::Run> runs(1 + below(rng, round % 10 == 0 ? 3000 : 40));
    Bytes expected;
    for (check::Run& run : runs) {
      run.begin = below(rng, 8000);
      run.end = run.begin + 1 + below(rng, 12);
      run.vaddr = 4 * below(rng, 4);
      run.is_write = below(rng, 2) != 0;
      run.is_atomic = run.is_write && below(rng, 4) == 0;
      const Touch touch = run.is_atomic  ? Touch::sync_write
                          : run.is_write ? Touch::write
                                         : Touch::read;
      for (std::uint64_t at = run.begin; at < run.end; ++at) expected[{at, touch}] = 1;
    }
    const Footprint footprint = footprint_of(runs);
    ASSERT_TRUE(footprint.complete);
    Bytes found;
    for (const TouchedRange& range : footprint.ranges)
      for (std::uint64_t at = range.begin; at < range.end; ++at) found[{at, range.touch}] = 1;
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

TEST(LastTouches, AreThoseOfEachByte) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    LastTouches touches;
    Bytes expected;
    for (std::uint64_t number = 1; number < 60; ++number) {
      const auto operation = std::make_shared<Operation>();
      operation->number = number;
      const std::uint64_t begin = below(rng, 100), end = begin + 1 + below(rng, 20);
      if (below(rng, 10) == 0) {
        touches.forget(begin, end);
        std::erase_if(expected, [&](const auto& entry) {
          return entry.first.first >= begin && entry.first.first < end;
        });
      } else if (below(rng, 30) == 0) {
        touches.forget_until(number / 2);
        std::erase_if(expected, [&](const auto& entry) { return entry.second <= number / 2; });
      } else {
        const auto touch = static_cast<Touch>(below(rng, kTouchCount));
        touches.add({begin, end, 0, touch}, operation);
        for (std::uint64_t at = begin; at < end; ++at) expected[{at, touch}] = number;
      }
    }
    Bytes found;
    for (std::size_t n = 0; n < kTouchCount; ++n) {
      const auto touch = static_cast<Touch>(n);
      // Byte by byte and all at once have to say the same.
      for (std::uint64_t at = 0; at < 130; ++at)
        touches.each(touch, at, at + 1, [&](std::uint64_t, const LastTouches::Entry& entry) {
          found[{at, touch}] = entry.operation->number;
        });
      touches.each(touch, 0, 130, [&](std::uint64_t begin, const LastTouches::Entry& entry) {
        for (std::uint64_t at = begin; at < entry.end; ++at)
          ASSERT_EQ((found[{at, touch}]), entry.operation->number);
      });
    }
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace margay::check
