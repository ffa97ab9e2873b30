// Which lines of a suppressions file match what, and the errors for invalid ones.
#include "report/check/suppressions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace margay::check {
namespace {

using testing::HasSubstr;

bool suppressed_by(const std::string& text, const Finding& finding = sample_race()) {
  const auto suppressions = parse_suppressions(text, "s.txt");
  EXPECT_TRUE(suppressions.has_value()) << suppressions.error().text();
  std::vector<Finding> findings = {finding};
  return take_out(findings, *suppressions) == 1;
}

std::string complaint(const std::string& text) {
  const auto suppressions = parse_suppressions(text, "s.txt");
  return suppressions ? "(read)" : suppressions.error().where + ": " + suppressions.error().what;
}

TEST(Glob, stars_and_question_marks) {
  EXPECT_TRUE(glob_matches("abc", "abc"));
  EXPECT_FALSE(glob_matches("abc", "abcd"));
  EXPECT_FALSE(glob_matches("abcd", "abc"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*c*e", "abcbcde"));
  EXPECT_FALSE(glob_matches("a*c*e", "abcbcd"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_TRUE(glob_matches("**", "x"));
  EXPECT_FALSE(glob_matches("", "x"));
}

TEST(Glob, functions_by_any_of_their_names) {
  const std::string name = "void ns::gemm<64, float>(int)";
  for (const char* pattern : {"void ns::gemm<64, float>(int)", "ns::gemm<64, float>", "ns::gemm",
                              "gemm", "g*m", "ns::*"}) {
    EXPECT_TRUE(function_matches(pattern, name)) << pattern;
  }
  for (const char* pattern : {"emm", "ns", "gemm<32*", "gemm(int)"}) {
    EXPECT_FALSE(function_matches(pattern, name)) << pattern;
  }
}

TEST(Suppressions, tool_and_kind) {
  EXPECT_TRUE(suppressed_by("racecheck"));
  EXPECT_TRUE(suppressed_by("*"));
  EXPECT_FALSE(suppressed_by("memcheck"));
  EXPECT_TRUE(suppressed_by("racecheck:write-after-read"));
  EXPECT_TRUE(suppressed_by("*:write-after-*"));
  EXPECT_FALSE(suppressed_by("racecheck:read-after-write"));
}

TEST(Suppressions, every_field_has_to_match) {
  EXPECT_TRUE(suppressed_by("racecheck kernel=micro_tk"));
  EXPECT_TRUE(suppressed_by("racecheck kernel=micro_tk<64>"));
  EXPECT_TRUE(suppressed_by("racecheck kernel=\"void micro_tk<64>(float const*)\""));
  EXPECT_FALSE(suppressed_by("racecheck kernel=micro"));
  EXPECT_TRUE(suppressed_by("racecheck message=*LDS*"));
  EXPECT_FALSE(suppressed_by("racecheck message=LDS"));
  EXPECT_TRUE(suppressed_by("racecheck kernel=micro* file=gemm.cpp message=*As*"));
  EXPECT_FALSE(suppressed_by("racecheck kernel=micro* file=gemm.cpp message=*Bs*"));
}

TEST(Suppressions, function_file_and_line_of_one_frame_of_any_access) {
  EXPECT_TRUE(suppressed_by("* file=/src/gemm.cpp line=84"));
  EXPECT_TRUE(suppressed_by("* file=kittens/shared.h function=load line=310"));
  EXPECT_TRUE(suppressed_by("* file=include/*/*.h"));
  EXPECT_FALSE(suppressed_by("* file=hared.h")) << "from a directory's name on";
  EXPECT_FALSE(suppressed_by("* file=gemm.cpp line=310")) << "of two frames";
  EXPECT_FALSE(suppressed_by("* line=85"));
  Finding stripped = sample_race();
  for (Access& access : stripped.accesses) access.frames.clear();
  EXPECT_TRUE(suppressed_by("* function=micro_tk", stripped));
  EXPECT_FALSE(suppressed_by("* file=gemm.cpp", stripped));
  stripped.accesses.clear();
  EXPECT_FALSE(suppressed_by("* function=*", stripped));
}

TEST(Suppressions, comments_and_blank_lines) {
  const auto read = parse_suppressions(
      "# known\n\n  \t\r\nracecheck file=a#b.cpp # the rest\r\n*:leak\n", "s.txt");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  ASSERT_EQ(read->lines.size(), 2U);
  EXPECT_EQ(read->lines[0].file, "a#b.cpp");
  EXPECT_EQ(read->lines[1].kind, "leak");
  EXPECT_FALSE(read->lines[1].tool.has_value());
}

TEST(Suppressions, errors_name_the_line_and_what_is_wrong) {
  EXPECT_THAT(complaint("memcheck\n\nracechek"),
              HasSubstr("s.txt:3: Line 3 of the suppressions is wrong: \"racechek\" is no tool"));
  EXPECT_THAT(complaint("memcheck gemm.cpp"), HasSubstr("\"gemm.cpp\" is not of the form"));
  EXPECT_THAT(complaint("memcheck files=a"), HasSubstr("there is no field files"));
  EXPECT_THAT(complaint("memcheck file="), HasSubstr("file= has no value"));
  EXPECT_THAT(complaint("memcheck line=12a"), HasSubstr("line=12a is not a line number"));
  EXPECT_THAT(complaint("memcheck line=0"), HasSubstr("line=0 is not a line number"));
  EXPECT_THAT(complaint("memcheck file=a file=b"), HasSubstr("file= is given twice"));
  EXPECT_THAT(complaint("memcheck line=1 line=2"), HasSubstr("line= is given twice"));
  EXPECT_THAT(complaint("memcheck message=\"x y"), HasSubstr("a quote is not closed"));
  EXPECT_THAT(complaint("memcheck:"), HasSubstr("a kind is missing"));
  EXPECT_THAT(complaint("racecheck:read-after-wirte"),
              HasSubstr("racecheck finds no kind read-after-wirte"));
  EXPECT_THAT(complaint("memcheck:deadlock"), HasSubstr("memcheck finds no kind deadlock"));
  EXPECT_FALSE(read_suppressions("/nonexistent/file").has_value());
  EXPECT_TRUE(read_suppressions("/dev/null").has_value());
}

TEST(Suppressions, a_report_counts_what_it_lost) {
  Report report = sample_report();
  apply(report, *parse_suppressions("waitcheck", "s.txt"));
  EXPECT_EQ(report.suppressed, 5U);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].tool(), Tool::racecheck);
}

}  // namespace
}  // namespace margay::check
