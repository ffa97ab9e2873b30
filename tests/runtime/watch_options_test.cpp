// The options that a program gives when it begins a check or a profile itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/watch/checking.h"
#include "runtime/watch/profiling.h"

namespace margay::runtime {
namespace {

using testing::HasSubstr;

TEST(WatchOptions, none_is_all_tools) {
  const auto settings = parse_check_options("");
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->tools, *check::parse_tools("all"));
  EXPECT_FALSE(settings->adversarial.has_value());
}

TEST(WatchOptions, of_the_checker) {
  const auto settings = parse_check_options(";tools=memcheck;;adversarial=18446744073709551615;");
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->tools, *check::parse_tools("memcheck"));
  EXPECT_EQ(settings->adversarial, 18446744073709551615U);
}

TEST(WatchOptions, of_the_profiler) {
  const auto settings = parse_profile_options("kernel=a=b;trace=2;launches=1,4-6;workgroups=64");
  ASSERT_TRUE(settings.has_value());
  EXPECT_TRUE(settings->enabled);
  EXPECT_EQ(settings->kernel, "a=b") << "the first = divides";
  EXPECT_EQ(settings->traced_workgroups, 2U);
  EXPECT_FALSE(settings->launches.all());
  EXPECT_FALSE(settings->workgroups.all());
  EXPECT_FALSE(settings->timed);
}

TEST(WatchOptions, time_is_on_or_off) {
  EXPECT_TRUE(parse_profile_options("time=1").value().timed);
  EXPECT_FALSE(parse_profile_options("time=0").value().timed);
  EXPECT_FALSE(parse_profile_options("time=yes").has_value());
}

TEST(WatchOptions, unknown_ones_and_values_that_are_none_are_refused_by_name) {
  for (const char* const option : {"trace=1", "adversarial", "adversarial=", "adversarial=-1",
                                   "adversarial=7x", "adversarial=99999999999999999999"}) {
    const auto settings = parse_check_options(std::string("tools=all;") + option);
    ASSERT_FALSE(settings.has_value()) << option;
    EXPECT_EQ(settings.error().what, "the checker has no option \"" + std::string(option) + "\"");
    EXPECT_EQ(settings.error().where, "margayCheckBegin");
    EXPECT_EQ(settings.error().hint, "give tools=LIST and adversarial=SEED, with ; between");
  }
  const auto settings = parse_profile_options("adversarial=7");
  ASSERT_FALSE(settings.has_value());
  EXPECT_EQ(settings.error().what, "the profiler has no option \"adversarial=7\"");
  EXPECT_THAT(settings.error().hint, HasSubstr("kernel=NAME"));
}

TEST(WatchOptions, a_value_may_be_refused_with_a_reason_of_its_own) {
  const auto settings = parse_check_options("tools=nonesuch");
  ASSERT_FALSE(settings.has_value());
  EXPECT_THAT(settings.error().what, HasSubstr("nonesuch"));
}

}  // namespace
}  // namespace margay::runtime
