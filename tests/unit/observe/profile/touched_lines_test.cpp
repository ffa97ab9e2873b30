// The lines a workgroup has touched, against a map.
#include "observe/profile/memory/touched_lines.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace margay::profile {
namespace {

TEST(TouchedLines, SaysWhatIsNew) {
  std::mt19937_64 random(7);
  TouchedLines set;
  for (const std::uint64_t stride : {1u, 2u, 64u, 4096u}) {
    for (const std::uint64_t lines : {10u, 3000u, 100u}) {
      SCOPED_TRACE(testing::Message() << lines << " lines, " << stride << " apart");
      set.clear();
      std::map<std::uint64_t, std::uint8_t> known;
      for (unsigned n = 0; n < 5000; ++n) {
        const std::uint64_t line = 0x4000'0000 + random() % lines * stride;
        const auto quarters = static_cast<std::uint8_t>(random() % 16);
        const bool is_new = !known.contains(line);
        const auto fresh = static_cast<std::uint8_t>(quarters & ~known[line]);
        known[line] |= quarters;
        const TouchedLines::Added added = set.add(line, quarters);
        ASSERT_EQ(added.line, is_new);
        ASSERT_EQ(added.quarters, fresh);
      }
    }
  }
}

}  // namespace
}  // namespace margay::profile
