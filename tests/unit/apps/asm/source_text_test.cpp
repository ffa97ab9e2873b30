// Source lines and the names of their files. What debug information names may be anything.
#include "apps/asm/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace margay::assembly {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

TEST(SourceText, GivesLinesFromOne) {
  const std::string file = testing::TempDir() + "source_text.cpp";
  std::ofstream(file) << "first\n\tsecond\x1b[31m\r\nthird";
  SourceText sources;
  EXPECT_EQ(sources.line(file, 1), "first");
  EXPECT_EQ(sources.line(file, 2), "  second[31m");
  EXPECT_EQ(sources.line(file, 3), "third");
  EXPECT_EQ(sources.line(file, 0), std::nullopt);
  EXPECT_EQ(sources.line(file, 4), std::nullopt);
}

TEST(SourceText, ReadsOnlyFiles) {
  SourceText sources;
  EXPECT_EQ(sources.line("/nothing/there.cpp", 1), std::nullopt);
  EXPECT_EQ(sources.line("/dev/zero", 1), std::nullopt);
  EXPECT_EQ(sources.line("/tmp", 1), std::nullopt);
  EXPECT_EQ(sources.line("", 1), std::nullopt);
}

TEST(ShortNames, AreAsLongAsNeeded) {
  EXPECT_THAT(
      short_names({"/a/b/gemm.cpp", "/a/c/tile.h", "/a/d/tile.h", "plain.cpp"}),
      UnorderedElementsAre(Pair("/a/b/gemm.cpp", "gemm.cpp"), Pair("/a/c/tile.h", "c/tile.h"),
                           Pair("/a/d/tile.h", "d/tile.h"), Pair("plain.cpp", "plain.cpp")));
  EXPECT_THAT(
      short_names({"/tile.h", "tile.h", ""}),
      UnorderedElementsAre(Pair("/tile.h", "/tile.h"), Pair("tile.h", "tile.h"), Pair("", "")));
}

TEST(Printable, LeavesTerminalsAlone) {
  EXPECT_EQ(printable("a\x1b]0;title\x07\tb\x7f\xc3\xa4"), "a]0;title  b\xc3\xa4");
}

}  // namespace
}  // namespace margay::assembly
