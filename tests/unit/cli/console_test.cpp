// Guesses at what a mistyped word meant.
#include "cli/console.h"

#include <array>
#include <string_view>

#include <gtest/gtest.h>

namespace margay::cli {
namespace {

constexpr std::array<std::string_view, 4> kWords = {"hipcc", "run", "gemm", "test"};

TEST(Nearest, FindsTypingErrors) {
  EXPECT_EQ(nearest("hipc", kWords), "hipcc");
  EXPECT_EQ(nearest("gmem", kWords), "gemm");
  EXPECT_EQ(nearest("rnu", kWords), "run");
  EXPECT_EQ(nearest("tests", kWords), "test");
}

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("disassemble", kWords), "");
  EXPECT_EQ(nearest("x", kWords), "");
}

}  // namespace
}  // namespace margay::cli
