// The progress line, written to a file: plain lines, none for short launches.
#include "runtime/device/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace margay::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Progress, plain_lines_after_two_seconds_and_then_every_five) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const ProgressLine::Clock::time_point start{};
  ProgressLine line(file);
  line.begin("gemm", start);
  line.update(1, 8, start + 1s);
  line.update(2, 8, start + 2s);
  line.update(3, 8, start + 4s);
  line.update(4, 8, start + 8s);
  line.end();
  line.begin("next", start + 10s);
  line.update(1, 8, start + 11s);
  line.end();
  std::rewind(file);
  std::array<char, 512> text{};
  ASSERT_GT(std::fread(text.data(), 1, text.size() - 1, file), 0U);
  std::fclose(file);
  EXPECT_STREQ(text.data(),
               "margay: gemm: 2 of 8 workgroups (25 %), 2 s, about 6 s left\n"
               "margay: gemm: 4 of 8 workgroups (50 %), 8 s, about 8 s left\n");
}

}  // namespace
}  // namespace margay::runtime
