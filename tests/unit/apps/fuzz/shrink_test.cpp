// The shrinker, with a failure that is only a predicate on the program.
#include "apps/fuzz/programs/shrink.h"

#include <gtest/gtest.h>

#include "apps/fuzz/programs/generate.h"
#include "apps/fuzz/programs/print.h"

namespace margay::fuzz {
namespace {

/// "Fails" are programs whose source contains `text`.
StillFails contains(const std::string& text) {
  return [text](std::span<const Program> programs) -> Result<std::vector<bool>> {
    std::vector<bool> out;
    for (const Program& p : programs) out.push_back(print(p, 0).contains(text));
    return out;
  };
}

Program first_with(const std::string& text) {
  for (std::uint64_t seed = 0;; ++seed) {
    Program program = generate(seed);
    if (print(program, 0).contains(text) && count_statements(program) > 12) return program;
  }
}

TEST(Shrink, LeavesOneStatementOfABigProgram) {
  for (const char* const cause : {"rotated<u32>", "divide<i32>", "median<", "fused("}) {
    const Program program = first_with(cause);
    const auto shrunk = shrink(program, contains(cause));
    ASSERT_TRUE(shrunk.has_value());
    EXPECT_TRUE(print(shrunk->program, 0).contains(cause));
    EXPECT_LE(count_statements(shrunk->program), 3u) << print(shrunk->program, 0);
    EXPECT_LT(size_of(shrunk->program), 30u) << print(shrunk->program, 0);
    EXPECT_LT(size_of(shrunk->program), size_of(program));
  }
}

TEST(Shrink, KeepsWhatEveryPartIsNeededFor) {
  const Program program = first_with("switch");
  const auto shrunk = shrink(program, [](std::span<const Program> programs) {
    return Result<std::vector<bool>>(std::vector<bool>(programs.size(), false));
  });
  ASSERT_TRUE(shrunk.has_value());
  EXPECT_EQ(print(shrunk->program, 0), print(program, 0));
  EXPECT_EQ(shrunk->steps, 0u);
}

TEST(Shrink, StopsAtItsLimit) {
  const auto shrunk = shrink(first_with("fused("), contains("fused("), 40);
  ASSERT_TRUE(shrunk.has_value());
  EXPECT_LE(shrunk->tried, 40u + 32u);
}

TEST(Shrink, PassesErrorsOn) {
  const auto shrunk = shrink(first_with("fused("), [](std::span<const Program>) {
    return Result<std::vector<bool>>(fail(ErrorCode::system, "no compiler"));
  });
  ASSERT_FALSE(shrunk.has_value());
  EXPECT_EQ(shrunk.error().what, "no compiler");
}

}  // namespace
}  // namespace margay::fuzz
