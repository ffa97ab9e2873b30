// Reports as files: whole or not at all, and nothing but a file is ever replaced.
#include "report/text_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TextFile : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / ("text_file." + std::to_string(getpid()));
    fs::create_directory(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }
  [[nodiscard]] std::string at(const char* name) const { return (directory_ / name).string(); }
  fs::path directory_;
};

TEST_F(TextFile, is_written_in_place_of_an_older_one) {
  ASSERT_TRUE(write_text("first", at("a")));
  ASSERT_TRUE(write_text("second", at("a")));
  EXPECT_EQ(*read_text(at("a")), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1) << "nothing else is left";
}

TEST_F(TextFile, of_a_link_is_what_it_points_to) {
  ASSERT_TRUE(write_text("first", at("a")));
  fs::create_symlink("a", at("link"));
  ASSERT_TRUE(write_text("second", at("link")));
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(*read_text(at("a")), "second");
}

// Only root could replace a device; here a FIFO represents one.
TEST_F(TextFile, what_is_no_file_is_written_to) {
  ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
  std::fstream reader(at("fifo"), std::ios::in | std::ios::out);  // both: neither end waits
  ASSERT_TRUE(write_text("text\n", at("fifo")));
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "text");
  EXPECT_TRUE(fs::is_fifo(at("fifo")));
}

TEST_F(TextFile, that_cannot_be_written_is_an_error_with_its_number) {
  const Status full = write_text("text", "/dev/full");
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(full.error().what, "The report cannot be written: No space left on device.");
  EXPECT_THAT(full.error().hint, HasSubstr("Make room"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  const Status nowhere = write_text("text", at("no/such/folder"));
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace margay::report
