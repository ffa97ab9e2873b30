// Lists of tools.
#include "report/check/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Tools, lists_and_back) {
  EXPECT_TRUE(parse_tools("all")->all());
  EXPECT_EQ(list_of(*parse_tools("all")), "all");
  EXPECT_EQ(list_of(*parse_tools("waitcheck,memcheck")), "memcheck,waitcheck");
  EXPECT_TRUE(parse_tools("memcheck,all")->all());
  EXPECT_THAT(names_of(*parse_tools("synccheck")), ElementsAre("synccheck"));
  EXPECT_EQ(list_of(ToolSet{}), "");
}

TEST(Tools, wrong_names_are_errors_that_list_the_right_ones) {
  EXPECT_EQ(parse_tools("memcheck,rachecheck").error().what, "No such tool: rachecheck.");
  EXPECT_THAT(parse_tools("rachecheck").error().hint, HasSubstr("racecheck, initcheck"));
  for (const char* list : {"", ",", "memcheck,", ",memcheck"}) {
    EXPECT_THAT(parse_tools(list).error().what, HasSubstr("missing")) << list;
  }
}

}  // namespace
}  // namespace margay::check
