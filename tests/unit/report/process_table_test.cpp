// The table in which watched processes report their state.
#include "report/process_table.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::report {
namespace {

class Processes : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "process_table." + std::to_string(getpid());
};

TEST_F(Processes, that_are_killed_leave_what_they_told) {
  const auto table = ProcessTable::create(path_);
  ASSERT_TRUE(table.has_value()) << table.error().text();
  const pid_t child = fork();
  if (child == 0) {
    auto own = ProcessTable::open(path_);
    ProcessEntry* const entry = own->claim();
    entry->launches = 3;
    entry->errors = 2;
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(table->entries()[0].process, static_cast<std::uint32_t>(child));
  EXPECT_EQ(table->entries()[0].launches, 3u);
  EXPECT_EQ(table->entries()[0].errors, 2u);
  EXPECT_EQ(table->entries()[0].ended, 0u);
  EXPECT_EQ(table->entries()[1].process, 0u);
}

TEST_F(Processes, get_an_entry_each_until_there_is_none) {
  auto table = ProcessTable::create(path_);
  ASSERT_TRUE(table.has_value());
  for (std::size_t n = 0; n < table->entries().size(); ++n) {
    ProcessEntry* const entry = table->claim();
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(table->number_of(*entry), n);
  }
  EXPECT_EQ(table->claim(), nullptr);
}

TEST_F(Processes, need_the_whole_file) {
  EXPECT_FALSE(ProcessTable::open(path_).has_value());
  std::ofstream(path_) << "short";
  EXPECT_FALSE(ProcessTable::open(path_).has_value());
  EXPECT_FALSE(ProcessTable::create(path_).has_value()) << "it is there already";
}

}  // namespace
}  // namespace margay::report
