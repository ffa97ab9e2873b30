#include "cli/hipcc/compiler.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class ClangOption : public testing::Test {
 protected:
  ClangOption() { unsetenv("HIP_CLANG_PATH"); }
  ~ClangOption() override { unsetenv("HIP_CLANG_PATH"); }
};

TEST_F(ClangOption, IsTakenOutAndTheLastOneCounts) {
  Words words = {"-O2", "--clang", "19", "a.cpp", "--clang=22", "-c"};
  const auto clang = take_clang_option(words);
  ASSERT_TRUE(clang);
  EXPECT_EQ(clang->version, "22");
  EXPECT_THAT(clang->program, HasSubstr("22"));
  EXPECT_EQ(clang->package("lld"), "lld-22");
  EXPECT_FALSE(clang->loads_our_passes());
  EXPECT_THAT(words, ElementsAre("-O2", "a.cpp", "-c"));
}

TEST_F(ClangOption, IsTheOneMargayIsBuiltWithWhereNothingIsSaid) {
  Words words = {"a.cpp"};
  const auto clang = take_clang_option(words);
  ASSERT_TRUE(clang);
  EXPECT_EQ(clang->version, MARGAY_CLANG_VERSION);
  EXPECT_TRUE(clang->loads_our_passes());
}

TEST_F(ClangOption, GoesBeforeTheEnvironment) {
  setenv("HIP_CLANG_PATH", "/opt/theirs", 1);
  Words none, given = {"--clang", "19"};
  const auto theirs = take_clang_option(none);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->program, "/opt/theirs/clang++");
  EXPECT_EQ(theirs->version, "");
  EXPECT_FALSE(theirs->loads_our_passes());
  EXPECT_EQ(theirs->package("clang"), "clang-" MARGAY_CLANG_VERSION)
      << "what can be installed instead";
  EXPECT_EQ(take_clang_option(given).value().version, "19");
}

TEST_F(ClangOption, LeavesWhatFollowsTheEndOfOptions) {
  Words words = {"--", "--clang", "7"};
  EXPECT_TRUE(take_clang_option(words));
  EXPECT_THAT(words, ElementsAre("--", "--clang", "7"));
}

TEST_F(ClangOption, RefusesOtherVersionsAndAMissingOne) {
  for (Words words : {Words{"--clang", "18"}, Words{"--clang=2"}, Words{"--clang="}}) {
    const auto clang = take_clang_option(words);
    ASSERT_FALSE(clang);
    EXPECT_EQ(clang.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(clang.error().what, HasSubstr("is not one that Margay is tested with"));
  }
  Words words = {"a.cpp", "--clang"};
  EXPECT_THAT(take_clang_option(words).error().what, HasSubstr("needs a value"));
}

}  // namespace
}  // namespace margay::cli
