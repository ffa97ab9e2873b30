// Which tensor a byte or a line belongs to; sets of lines.
#include "observe/profile/memory/tensor_lines.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

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

TEST(TensorLines, LinesHaveNumbers) {
  // It begins inside a line.
  const TensorLines lines({{0x10c0, 0x1181}, {0x2000, 0x2000 + 128 * 1000}});
  EXPECT_EQ(lines.number_of(0, 0x1080 / 128), 0u);
  EXPECT_EQ(lines.number_of(0, 0x1180 / 128), 2u);
  EXPECT_EQ(lines.number_of(1, 0x2000 / 128 + 999), 999u);
}

TEST(LineSet, IsASet) {
  std::mt19937 random(7);
  LineSet one, other;
  std::set<std::uint64_t> in_one, in_other;
  for (int n = 0; n < 5000; ++n) {
    // Near each other, and a few far away.
    const std::uint64_t number = random() % 3000 + (n % 50 == 0 ? random() % 2000000 : 0);
    (n % 3 == 0 ? one : other).add(number);
    (n % 3 == 0 ? in_one : in_other).insert(number);
    ASSERT_EQ(one.count(), in_one.size());
  }
  EXPECT_EQ(other.count(), in_other.size());
  one.add(other);
  in_one.merge(in_other);
  EXPECT_EQ(one.count(), in_one.size());
  EXPECT_EQ(LineSet{}.count(), 0u);
}

}  // namespace
}  // namespace margay::profile
