// Which tensor a byte or a line belongs to, and how many lines of each were touched.
#include "observe/profile/tensor_lines.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

namespace margay::profile {
namespace {

TEST(TensorLines, BytesAtTheEdges) {
  const TensorLines lines({{0x1000, 0x1100}, {0x1100, 0x1180}, {0x3000, 0x3000}});
  EXPECT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines.unnamed(), 3u);
  EXPECT_EQ(lines.of_address(0xfff), 3u);
  EXPECT_EQ(lines.of_address(0x1000), 0u);
  EXPECT_EQ(lines.of_address(0x10ff), 0u);
  EXPECT_EQ(lines.of_address(0x1100), 1u);
  EXPECT_EQ(lines.of_address(0x117f), 1u);
  EXPECT_EQ(lines.of_address(0x1180), 3u);
  EXPECT_EQ(lines.of_address(0x3000), 3u);  // nothing is in an empty range
  EXPECT_EQ(TensorLines({}).of_address(0), 0u);
}

TEST(TensorLines, ALineIsTheLastOnesThatHasAByteOfIt) {
  const TensorLines lines({{0x1010, 0x1020}, {0x1020, 0x1084}, {0x10f0, 0x1200}});
  EXPECT_EQ(lines.of_line(0x0f80 / 128), 3u);
  EXPECT_EQ(lines.of_line(0x1000 / 128), 1u);
  EXPECT_EQ(lines.of_line(0x1080 / 128), 2u);
  EXPECT_EQ(lines.of_line(0x1180 / 128), 2u);
  EXPECT_EQ(lines.of_line(0x1200 / 128), 3u);
  // A tensor smaller than a line, and a last line that is not full.
  const TensorLines small({{0x2000, 0x2004}, {0x3000, 0x3084}});
  EXPECT_EQ(small.of_line(0x2000 / 128), 0u);
  EXPECT_EQ(small.of_line(0x3080 / 128), 1u);
}

TEST(TensorLines, OverlapsBelongToWhatBeginsLater) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<AddressRange> ranges(1 + random() % 6);
    for (AddressRange& range : ranges) {
      range.begin = 1000 + random() % 300;
      range.end = range.begin + random() % 300;
    }
    const TensorLines lines(ranges);
    for (std::uint64_t at = 990; at < 1700; ++at) {
      std::size_t wanted = ranges.size();
      for (std::size_t n = 0; n < ranges.size(); ++n)
        if (at >= ranges[n].begin && at < ranges[n].end &&
            (wanted == ranges.size() || ranges[n].begin >= ranges[wanted].begin))
          wanted = n;
      ASSERT_EQ(lines.of_address(at), wanted) << "round " << round << ", byte " << at;
    }
  }
}

TEST(TensorLines, LinesCountOnce) {
  // It begins and ends inside lines: 0x1080 to 0x10ff, 0x1100 to 0x117f, 0x1180.
  TensorLines lines({{0x10c0, 0x1181}, {0x2000, 0x2000 + 128 * 1000}});
  lines.touch_read(0, 0x1080 / 128);
  lines.touch_read(0, 0x1080 / 128);
  lines.touch_read(0, 0x1180 / 128);
  EXPECT_EQ(lines.lines_read(0), 2u);
  EXPECT_EQ(lines.sectors_written(0), 0u);
  lines.touch_write(0, 0x1180 / 128, 1);
  lines.touch_write(0, 0x1080 / 128, 2);
  lines.touch_write(0, 0x1080 / 128, 3);
  lines.touch_write(0, 0x1080 / 128, 0);
  EXPECT_EQ(lines.sectors_written(0), 3u);
  lines.touch_read(lines.unnamed(), 77);
  EXPECT_EQ(lines.lines_read(lines.unnamed()), 0u);  // nobody counts them
  for (int twice = 0; twice < 2; ++twice)
    for (std::uint64_t n = 0; n < 1000; n += 3) lines.touch_read(1, 0x2000 / 128 + n);
  EXPECT_EQ(lines.lines_read(1), 334u);
}

TEST(TensorLines, SeveralThreadsCountTheSameLines) {
  constexpr std::uint64_t kLines = 5000;
  TensorLines lines({{0, kLines * 128}});
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&lines, t] {
      for (std::uint64_t n = 0; n < kLines; ++n) {
        const std::uint64_t line = (n * (2 * t + 1) + t) % kLines;
        lines.touch_read(0, line);
        lines.touch_write(0, line, t % 2 == 0 ? 1 : 2);
      }
    });
  threads.clear();
  EXPECT_EQ(lines.lines_read(0), kLines);
  EXPECT_EQ(lines.sectors_written(0), 2 * kLines);
}

}  // namespace
}  // namespace margay::profile
