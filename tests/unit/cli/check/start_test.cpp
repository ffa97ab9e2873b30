// Where margay's own words end and the user's command begins.
#include "cli/process/start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace margay::cli {
namespace {

using testing::ElementsAre;

struct Split {
  std::vector<std::string> own;
  std::vector<std::string> command;
};

Split split(std::vector<std::string> words) {
  words.insert(words.begin(), "check");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  const CommandLine line =
      split_command(pointers, {.always = {"--json"}, .if_number = {"--adversarial"}});
  return {{line.own.begin() + 1, line.own.end()}, {line.command.begin(), line.command.end()}};
}

TEST(SplitCommand, at_the_dashes_or_at_the_first_word_that_is_no_option) {
  EXPECT_THAT(split({"--leak-check", "--", "./a", "-x"}).command, ElementsAre("./a", "-x"));
  EXPECT_THAT(split({"--leak-check", "./a", "--json"}).own, ElementsAre("--leak-check"));
  EXPECT_THAT(split({"--leak-check", "./a", "--json"}).command, ElementsAre("./a", "--json"));
  EXPECT_THAT(split({"./a", "--", "b"}).command, ElementsAre("./a", "--", "b"));
  EXPECT_TRUE(split({"--"}).command.empty());
  EXPECT_TRUE(split({}).command.empty());
}

TEST(SplitCommand, an_options_value_is_not_the_command) {
  EXPECT_THAT(split({"--json", "f", "./a"}).command, ElementsAre("./a"));
  EXPECT_THAT(split({"--json=f", "./a"}).command, ElementsAre("./a"));
  EXPECT_THAT(split({"--json"}).own, ElementsAre("--json"));
}

TEST(SplitCommand, a_value_that_may_be_left_out_is_a_number) {
  EXPECT_THAT(split({"--adversarial", "7", "./a"}).command, ElementsAre("./a"));
  EXPECT_THAT(split({"--adversarial", "./a", "7"}).command, ElementsAre("./a", "7"));
  EXPECT_THAT(split({"--adversarial", "--", "7"}).command, ElementsAre("7"));
  EXPECT_TRUE(split({"--adversarial"}).command.empty());
}

}  // namespace
}  // namespace margay::cli
