// Programs as children: environment, exit codes, signals, limits.
#include "cli/process/child.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::cli {
namespace {

using testing::HasSubstr;

ChildPlan shell(const std::string& script) {
  ChildPlan plan;
  plan.command = {"sh", "-c", script};
  return plan;
}

TEST(Child, its_exit_code_and_its_signal) {
  const auto seven = run_child(shell("exit 7"));
  ASSERT_TRUE(seven.has_value());
  EXPECT_EQ(seven->exit_code, 7);
  EXPECT_EQ(seven->signal, 0);
  const auto killed = run_child(shell("kill -SEGV $$"));
  ASSERT_TRUE(killed.has_value());
  EXPECT_EQ(killed->signal, SIGSEGV);
  EXPECT_EQ(killed->shell_code(), 128 + SIGSEGV);
  EXPECT_EQ(signal_text(SIGSEGV), "signal 11 (Segmentation fault)");
}

TEST(Child, what_cannot_be_started_is_an_error) {
  ChildPlan plan;
  plan.command = {"no-such-program-anywhere"};
  EXPECT_THAT(run_child(plan).error().what, HasSubstr("no such program: no-such-program-anywhere"));
  plan.limit = std::chrono::seconds(1);
  EXPECT_THAT(run_child(plan).error().what, HasSubstr("no such program"));
}

TEST(Child, variables_replace_those_of_the_same_name) {
  setenv("MARGAY_CHILD_TEST", "before", 1);
  setenv("MARGAY_CHILD_TEST_2", "kept", 1);
  ChildPlan plan = shell("[ \"$MARGAY_CHILD_TEST $MARGAY_CHILD_TEST_2\" = 'after kept' ]");
  plan.environment = {{"MARGAY_CHILD_TEST", "after"}};
  EXPECT_EQ(run_child(plan)->exit_code, 0);
  plan.command[2] = "[ \"$(grep -zc '^MARGAY_CHILD_TEST=' /proc/$$/environ)\" = 1 ]";
  EXPECT_EQ(run_child(plan)->exit_code, 0) << "not there twice";
  EXPECT_STREQ(getenv("MARGAY_CHILD_TEST"), "before");
}

TEST(Child, a_limit_ends_it_and_what_it_started) {
  const auto marker =
      std::filesystem::temp_directory_path() / ("margay-child-" + std::to_string(getpid()));
  ChildPlan plan = shell("(sleep 1; touch " + marker.string() + ") & sleep 60");
  plan.limit = std::chrono::milliseconds(100);
  const auto end = run_child(plan);
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end->timed_out);
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_LT(end->seconds, 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST(Child, what_it_leaves_behind_ends_with_it) {
  const auto marker =
      std::filesystem::temp_directory_path() / ("margay-left-" + std::to_string(getpid()));
  ChildPlan plan = shell("(sleep 0.5; touch " + marker.string() + ") & exit 0");
  plan.limit = std::chrono::seconds(60);
  EXPECT_EQ(run_child(plan)->exit_code, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST(Child, within_its_limit_it_ends_by_itself) {
  ChildPlan plan = shell("exit 3");
  plan.limit = std::chrono::seconds(60);
  const auto end = run_child(plan);
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_FALSE(end->timed_out);
}

TEST(Child, can_be_stopped) {
  std::atomic<bool> stop = false;
  ChildPlan plan = shell("sleep 60");
  plan.limit = std::chrono::seconds(60);
  plan.stop = &stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const auto end = run_child(plan);
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_FALSE(end->timed_out);
  EXPECT_LT(end->seconds, 30);
}

TEST(Child, signals_sent_to_us_are_passed_on) {
  // The child ends only through the signal; it says that it is ready by making a file.
  std::string name = (std::filesystem::temp_directory_path() / "margay-child-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const std::filesystem::path ready = std::filesystem::path(name) / "ready";
  std::jthread sender([&] {
    for (int i = 0; i < 1000 && !std::filesystem::exists(ready); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(getpid(), SIGINT);
  });
  const auto end = run_child(shell("trap 'exit 9' INT; touch " + ready.string() + "; n=0; " +
                                   "while [ $n -lt 300 ]; do sleep 0.1; n=$((n+1)); done"));
  EXPECT_EQ(end->exit_code, 9);
  std::filesystem::remove_all(name);
}

TEST(Child, a_silent_one_writes_nowhere) {
  ChildPlan plan = shell(
      "[ \"$(readlink /proc/$$/fd/1)\" = /dev/null ] && "
      "[ \"$(readlink /proc/$$/fd/2)\" = /dev/null ] && ! read line");
  plan.silent = true;
  EXPECT_EQ(run_child(plan)->exit_code, 0);
}

}  // namespace
}  // namespace margay::cli
