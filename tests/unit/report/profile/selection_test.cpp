// Which launches and workgroups are counted, as people write it.
#include "report/profile/selection.h"

#include <gtest/gtest.h>

namespace margay::profile {
namespace {

std::string chosen(const Selection& s) {
  std::string out;
  for (std::uint64_t n = 0; n < 12; ++n) out += s.contains(n) ? '1' : '0';
  return out;
}

TEST(Selection, Numbers) {
  EXPECT_EQ(chosen(Selection{}), "111111111111");
  EXPECT_EQ(chosen(parse_numbers("3", 1).value()), "000100000000");
  EXPECT_EQ(chosen(parse_numbers("9,1,4-6", 1).value()), "010011100100");
  EXPECT_EQ(chosen(parse_numbers("4-6,5-8", 1).value()), "000011111000");
  for (const char* wrong :
       {"", "x", "1,", "-", "3-", "6-4", "0", "1 2", "1-2-3", "99999999999999999999"})
    EXPECT_FALSE(parse_numbers(wrong, 1)) << wrong;
  EXPECT_TRUE(parse_numbers("0", 0));
}

TEST(Selection, Samples) {
  EXPECT_EQ(chosen(parse_sample("3").value()), "111000000000");
  EXPECT_EQ(chosen(parse_sample("3-5").value()), "000111000000");
  EXPECT_EQ(parse_sample("3-5").value().first(), 3u);
  for (const char* wrong : {"", "0", "a", "5-3", "1,2"}) EXPECT_FALSE(parse_sample(wrong)) << wrong;
}

TEST(Selection, EveryFew) {
  const Selection s = Selection::every(4, 2);
  EXPECT_EQ(chosen(s), "100010000000");
  EXPECT_FALSE(s.all());
  for (std::uint64_t end = 0; end < 12; ++end)
    EXPECT_EQ(s.count_below(end), std::min<std::uint64_t>(2, (end + 3) / 4)) << end;
}

TEST(Selection, Counts) {
  EXPECT_EQ(Selection{}.count_below(7), 7u);
  const Selection s = parse_numbers("2-4,8", 0).value();
  for (std::uint64_t end = 0; end < 12; ++end) {
    std::uint64_t count = 0;
    for (std::uint64_t n = 0; n < end; ++n) count += s.contains(n) ? 1 : 0;
    EXPECT_EQ(s.count_below(end), count);
  }
}

}  // namespace
}  // namespace margay::profile
