// Which workgroups the replay of the caches records for the model of time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "observe/profile/memory/replay.h"

namespace margay::profile {
namespace {

const std::vector<AddressRange> kTensors = {{0, 256 * 128}};

/// One of these in each step.
MemoryStream reading(std::uint64_t workgroup, const std::vector<LineRun>& runs) {
  MemoryStream stream;
  stream.workgroup = workgroup;
  for (const LineRun& run : runs) {
    MemoryEvent& event = stream.events.emplace_back();
    event.step = stream.steps++;
    event.first_run = static_cast<std::uint32_t>(stream.runs.size());
    event.run_count = 1;
    stream.runs.push_back(run);
  }
  return stream;
}

/// Of a launch of 256 workgroups, 32 of each XCD, with half a million instructions each: the ids
/// that XCD 0 keeps.
std::vector<std::uint64_t> kept_of(const Selection& sample) {
  const TensorLines lines(kTensors);
  Replay replay({256, 1, 1, sample}, lines);
  for (std::uint64_t id = 0; id < 256; id += 8) {
    auto stream = std::make_unique<MemoryStream>();
    stream->workgroup = id;
    stream->recording = std::make_shared<timing::WorkgroupRecording>();
    stream->recording->id = id;
    stream->recording->waves.emplace_back().instructions.assign(500'000, 0);
    replay.deposit(std::move(stream));
  }
  replay.finish(0);
  std::vector<std::uint64_t> out;
  for (const RecordedWorkgroup& one : replay.xcds()[0]->recorded())
    out.push_back(one.workgroup->id);
  return out;
}

TEST(Recordings, OfTooManyInstructionsWorkgroupsOfAllPartsAreKept) {
  const std::vector<std::uint64_t> ids = kept_of({});
  EXPECT_LE(ids.size() * 500'000, kMostRecorded);
  EXPECT_GE(ids.size(), 6u);
  for (std::uint64_t part = 0; part < 4; ++part)
    EXPECT_TRUE(std::ranges::any_of(ids, [&](std::uint64_t id) { return id / 64 == part; }))
        << part;
}

TEST(Recordings, OfASampleThoseThatEndFirstAreKept) {
  const std::vector<std::uint64_t> ids = kept_of(Selection::every(8, 32));
  EXPECT_EQ(ids.size(), kMostRecorded / 500'000);
  EXPECT_TRUE(std::ranges::all_of(ids, [&](std::uint64_t id) { return id < 8 * ids.size(); }));
}

TEST(Recordings, AWorkgroupAloneFindsColdCaches) {
  MemoryStream stream = reading(13, {{40, 0, 1, 15}, {40, 1, 3, 15}});
  stream.recording = std::make_shared<timing::WorkgroupRecording>();
  timing::WaveRecording& wave = stream.recording->waves.emplace_back();
  wave.instructions.assign(2, 0);
  wave.memory.resize(2);
  for (std::uint32_t n = 0; n < 2; ++n) stream.events[n].work = n;
  const TensorLines lines(kTensors);
  Replay replay({16, 1, 1, Selection::every(8, 2), &default_gpu(), /*warm=*/true}, lines);
  replay.deposit(std::make_unique<MemoryStream>(reading(0, {{40, 0, 1, 15}})));
  const auto recording = replay.replay_alone(std::make_unique<MemoryStream>(stream));
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(recording->waves[0].memory[0].far_lines, 1u) << "though another XCD has it";
  EXPECT_EQ(recording->waves[0].memory[1].l2_lines, 2u) << "one of three is in vL1D";
  EXPECT_EQ(recording->waves[0].memory[1].far_lines, 2u);
  replay.finish(0);
  EXPECT_TRUE(replay.xcds()[13 % 8]->recorded().empty()) << "and the launch knows nothing of it";
  EXPECT_FALSE(replay.xcds()[13 % 8]->any());
}

}  // namespace
}  // namespace margay::profile
