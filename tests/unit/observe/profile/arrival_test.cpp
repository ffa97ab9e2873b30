// Lines that are on their way for another wave (observe/profile/memory/arrival.h).
#include "observe/profile/memory/arrival.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "observe/profile/memory/replay.h"

namespace margay::profile {
namespace {

using Kind = MemoryEvent::Kind;

/// A workgroup of one wave that reads one line once.
struct Reading {
  std::uint64_t workgroup = 0;
  std::uint32_t step = 10;
  std::uint32_t site = 0;
  std::uint64_t line = 5;
  Kind kind = Kind::vector_read;
  std::uint32_t steps = 2000;
};

/// Where what each reads is on its way from, in the order of the workgroups' numbers. All are of
/// one XCD, `per_cu` of a compute unit.
std::vector<timing::Level> awaited(const std::vector<Reading>& all, std::uint32_t per_cu) {
  const TensorLines lines(std::vector<AddressRange>{});
  Replay replay({320, per_cu, 2}, lines);
  for (const Reading& one : all) {
    MemoryStream s;
    s.workgroup = one.workgroup;
    s.steps = one.steps;
    s.recording = std::make_shared<timing::WorkgroupRecording>();
    s.recording->id = one.workgroup;
    timing::WaveRecording& wave = s.recording->waves.emplace_back();
    wave.instructions.assign(1, 0);
    wave.memory.resize(1);
    MemoryEvent& event = s.events.emplace_back();
    event.step = one.step;
    event.site = one.site;
    event.kind = one.kind;
    event.run_count = 1;
    event.work = 0;
    s.runs.push_back({one.line, 0, 1, 3});
    replay.deposit(std::make_unique<MemoryStream>(s));
  }
  replay.finish(0);
  std::vector<std::pair<std::uint64_t, timing::Level>> found;
  for (const RecordedWorkgroup& recorded : replay.xcds()[0]->recorded())
    found.emplace_back(recorded.workgroup->id, recorded.workgroup->waves[0].memory[0].awaited);
  std::ranges::sort(found);
  std::vector<timing::Level> out;
  for (const auto& [workgroup, level] : found) out.push_back(level);
  return out;
}

TEST(Arrival, WavesThatRunAlikeWaitForALineThatOneOfThemBrings) {
  using enum timing::Level;
  const std::vector<timing::Level> first_brings = {vector_cache, memory};
  // The workgroups are of two compute units: the line is on its way to L2.
  EXPECT_EQ(awaited({{.workgroup = 0}, {.workgroup = 8}}, 1), first_brings);
  EXPECT_EQ(awaited({{.workgroup = 0}, {.workgroup = 8, .step = 13}}, 1), first_brings);
  EXPECT_EQ(awaited({{.workgroup = 0, .kind = Kind::scalar_read},
                     {.workgroup = 8, .kind = Kind::scalar_read}},
                    1),
            first_brings);
  const std::vector<timing::Level> none = {vector_cache, vector_cache};
  EXPECT_EQ(awaited({{.workgroup = 0}, {.workgroup = 8, .line = 6}}, 1), none);
  EXPECT_EQ(awaited({{.workgroup = 0}, {.workgroup = 8, .step = 14}}, 1), none)
      << "of a later execution";
  EXPECT_EQ(awaited({{.workgroup = 0}, {.workgroup = 8, .site = 1}}, 1), none)
      << "of another instruction";
}

TEST(Arrival, NoOneWaitsForALineThatCameBeforeTheirBegin) {
  using enum timing::Level;
  // 38 compute units have one workgroup each, and the one after them begins when the first ends.
  std::vector<Reading> all;
  for (std::uint64_t n = 0; n < 39; ++n) all.push_back({.workgroup = 8 * n, .line = 100 + n});
  all[0].steps = 50;
  all[38].line = all[0].line;
  EXPECT_EQ(awaited(all, 1)[38], vector_cache);
  // In the same place, with two workgroups for each compute unit, it waits.
  EXPECT_EQ(awaited(all, 2)[38], memory);
}

TEST(Arrival, AWaveThatIsFarBehindFindsTheLine) {
  using enum timing::Level;
  // The last one begins when the first ends, and executes its load as late after the second's.
  const auto last = [](std::uint32_t begin) {
    std::vector<Reading> all;
    for (std::uint64_t n = 0; n < 39; ++n) all.push_back({.workgroup = 8 * n, .line = 100 + n});
    all[0].steps = begin;
    all[38].line = all[1].line;
    all[1].step = all[38].step = 1000;
    return awaited(all, 1)[38];
  };
  EXPECT_EQ(last(200), memory);
  EXPECT_EQ(last(300), vector_cache);
}

TEST(Arrival, ALineOnItsWayToTheVectorCacheComesFromL2OrFromMemory) {
  using enum timing::Level;
  // Two for each compute unit: 2 and 38 are of the same one.
  std::vector<Reading> all;
  for (std::uint64_t n = 0; n < 39; ++n) all.push_back({.workgroup = 8 * n, .line = 100 + n});
  all[38].line = all[2].line;
  EXPECT_EQ(awaited(all, 2)[38], memory);
  // Another instruction has brought it to L2, from another compute unit.
  all[1].line = all[2].line;
  all[1].step = 1;
  all[1].site = 1;
  EXPECT_EQ(awaited(all, 2)[38], l2);
}

}  // namespace
}  // namespace margay::profile
