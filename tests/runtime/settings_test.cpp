// The environment variables, read from a made-up environment.
#include "runtime/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace margay::runtime {
namespace {

using testing::HasSubstr;

Result<Settings> read(std::map<std::string, std::string, std::less<>> variables) {
  return read_settings([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(Settings, defaults_without_variables) {
  const auto settings = read({});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->mfma, DeviceOptions{}.mfma);
  EXPECT_EQ(settings->threads, 0U);
  EXPECT_FALSE(settings->stats || settings->progress || settings->quiet);
}

TEST(Settings, empty_is_unset) {
  const auto settings = read({{"MARGAY_MFMA", ""}, {"MARGAY_THREADS", ""}, {"MARGAY_QUIET", ""}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->threads, 0U);
}

TEST(Settings, reads_each_value) {
  EXPECT_EQ(read({{"MARGAY_MFMA", "exact"}})->mfma, MfmaMode::exact);
  EXPECT_EQ(read({{"MARGAY_MFMA", "fma"}})->mfma, MfmaMode::fma);
  EXPECT_EQ(read({{"MARGAY_MFMA", "fast"}})->mfma, MfmaMode::fast);
  EXPECT_EQ(read({{"MARGAY_THREADS", "12"}})->threads, 12U);
  EXPECT_EQ(read({{"MARGAY_TARGET", "x86-64-v3"}})->target, "x86-64-v3");
  EXPECT_TRUE(read({{"MARGAY_STATS", "1"}})->stats);
  EXPECT_TRUE(read({{"MARGAY_PROGRESS", "1"}})->progress);
  EXPECT_TRUE(read({{"MARGAY_QUIET", "1"}})->quiet);
  EXPECT_FALSE(read({{"MARGAY_STATS", "0"}})->stats);
}

TEST(Settings, bad_values_are_errors_that_name_the_variable_and_what_it_takes) {
  const auto mode = read({{"MARGAY_MFMA", "exakt"}});
  ASSERT_FALSE(mode.has_value());
  EXPECT_EQ(mode.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(mode.error().what,
            "The environment variable MARGAY_MFMA is \"exakt\", which is not one of exact, fma or "
            "fast.");
  EXPECT_THAT(read({{"MARGAY_TARGET", "avx2"}}).error().what,
              HasSubstr("one of generic, x86-64-v3 or x86-64-v4"));
  for (const char* threads : {"0", "-1", "two", "4 ", "99999", "1e3", "0x4"}) {
    const auto result = read({{"MARGAY_THREADS", threads}});
    ASSERT_FALSE(result.has_value()) << threads;
    EXPECT_THAT(result.error().what, HasSubstr("a number from 1 to 4096"));
  }
  for (const char* name : {"MARGAY_STATS", "MARGAY_PROGRESS", "MARGAY_QUIET"}) {
    const auto result = read({{name, "yes"}});
    ASSERT_FALSE(result.has_value()) << name;
    EXPECT_THAT(result.error().what, HasSubstr(name));
    EXPECT_THAT(result.error().hint, HasSubstr("0 or 1"));
  }
}

}  // namespace
}  // namespace margay::runtime
