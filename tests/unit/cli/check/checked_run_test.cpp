// Reports of several processes, and the directory they are left in.
#include "cli/watch/checked_run.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process/temporary_directory.h"

namespace margay::cli {
namespace {

using testing::HasSubstr;

TEST(TemporaryDirectory, goes_with_what_is_in_it) {
  std::filesystem::path path;
  {
    auto directory = TemporaryDirectory::create();
    ASSERT_TRUE(directory.has_value());
    path = directory->path();
    std::ofstream(path / "file") << "x";
    const TemporaryDirectory moved = *std::move(directory);
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryDirectory, goes_later_if_its_process_was_killed) {
  const auto make_old = [](const std::filesystem::path& path) {
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  };
  // In a folder of its own: others may make some meanwhile.
  const auto parent = *TemporaryDirectory::create();
  setenv("TMPDIR", parent.path().c_str(), 1);
  const auto live = *TemporaryDirectory::create();
  const auto killed = [] {
    const pid_t child = fork();
    if (child == 0) {
      const auto directory = *TemporaryDirectory::create();
      std::ofstream(directory.path() / "file") << "x";
      kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
  };
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(parent.path()), {});
  };
  killed();
  EXPECT_EQ(count(), 2);
  {
    const auto young = *TemporaryDirectory::create();
  }
  EXPECT_EQ(count(), 2) << "it may have been made just now, and not be locked yet";
  std::filesystem::create_directory(parent.path() / "margay-of-a-user");
  for (const auto& entry : std::filesystem::directory_iterator(parent.path()))
    make_old(entry.path());
  {
    const auto next = *TemporaryDirectory::create();
  }
  EXPECT_EQ(count(), 2);
  EXPECT_TRUE(std::filesystem::exists(live.path()));
  EXPECT_TRUE(std::filesystem::exists(parent.path() / "margay-of-a-user"));
  unsetenv("TMPDIR");
}

TEST(ReadReports, adds_up_all_processes_in_the_order_of_their_ids) {
  const auto directory = *TemporaryDirectory::create();
  const auto put = [&](const char* name, std::uint64_t launches, const char* kernel) {
    std::ofstream(directory.path() / name)
        << R"({"version":1,"tools":["memcheck"],"adversarial":null,"launches":)" << launches
        << R"(,"findings":[{"tool":"memcheck","kind":"leak","severity":"error","message":"m",)"
        << R"("kernel":")" << kernel << R"(","launch":1,"count":1,"accesses":[],"detail":[],)"
        << R"("hint":""}],"advice":[],"sites":[],"summary":{"suppressed":2}})";
  };
  put("1000.json", 3, "third");
  put("99.json", 1, "first");
  put("100.json", 2, "second");
  std::ofstream(directory.path() / "7.json.7.part") << "{";
  const Reports reports = read_reports(directory.path());
  EXPECT_TRUE(reports.unreadable.empty());
  EXPECT_EQ(reports.count, 3U);
  EXPECT_EQ(reports.merged.launches, 6U);
  EXPECT_EQ(reports.merged.suppressed, 6U);
  ASSERT_EQ(reports.merged.findings.size(), 3U);
  EXPECT_EQ(reports.merged.findings[0].kernel, "first");
  EXPECT_EQ(reports.merged.findings[2].kernel, "third");
}

TEST(ReadReports, one_that_is_cut_off_is_named_and_the_others_count) {
  const auto directory = *TemporaryDirectory::create();
  std::filesystem::copy_file(MARGAY_RECORDED_REPORT, directory.path() / "5.json");
  std::ofstream(directory.path() / "6.json") << R"({"version":1,"tools":)";
  const Reports reports = read_reports(directory.path());
  EXPECT_EQ(reports.count, 1U);
  EXPECT_EQ(reports.merged.findings.size(), 4U);
  ASSERT_EQ(reports.unreadable.size(), 1U);
  EXPECT_THAT(reports.unreadable[0].where, HasSubstr("6.json"));
}

}  // namespace
}  // namespace margay::cli
