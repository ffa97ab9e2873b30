// The progress line: plain lines in a file, none for short launches, one line on a terminal.
#include "runtime/device/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

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

// A line that wraps cannot be redrawn: each update would leave one behind.
TEST(Progress, a_long_name_is_cut_to_what_fits_the_terminal) {
  winsize size{};
  size.ws_col = 72;
  int ours = -1, theirs = -1;
  ASSERT_EQ(openpty(&ours, &theirs, nullptr, nullptr, &size), 0);
  std::FILE* const terminal = fdopen(theirs, "w");
  const auto shown = [&](const std::string& kernel) {
    const ProgressLine::Clock::time_point start{};
    ProgressLine line(terminal);
    line.begin(kernel, start);
    line.update(2, 8, start + 2s);
    std::array<char, 512> text{};
    const ssize_t count = read(ours, text.data(), text.size());
    return std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  };
  const std::string progress = ": 2 of 8 workgroups (25 %), 2 s, about 6 s left\x1b[K";
  EXPECT_EQ(shown("gemm"), "\rmargay: gemm" + progress);
  // 8 columns, 16, 47, and one that stays free.
  EXPECT_EQ(shown("gemm_of_16_chars"), "\rmargay: gemm_of_16_chars" + progress);
  EXPECT_EQ(shown("void gemm<float, 256, 256, 64>(float*)"),
            "\rmargay: void gemm<flo..." + progress);
  std::fclose(terminal);
  close(ours);
}

}  // namespace
}  // namespace margay::runtime
