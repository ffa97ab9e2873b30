// What the words of fixes are made of.
#include "report/check/fix_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sample.h"

namespace margay::check {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string words(Fix fix, std::vector<std::string> arguments = {}) {
  Finding finding = sample_race();
  finding.fix = fix;
  finding.fix_arguments = std::move(arguments);
  return fix_in_words(finding);
}

TEST(FixText, of_a_barrier_names_its_place) {
  Finding finding = sample_race();
  finding.fix = Fix::barrier;
  finding.fix_place = {"/src/gemm.cpp", 90, 3, 60};
  EXPECT_EQ(
      fix_in_words(finding),
      "put __syncthreads() at the end of the loop of gemm.cpp:60, before its closing brace in "
      "line 90");
  finding.fix_place.end_of_loop = 0;
  EXPECT_EQ(fix_in_words(finding), "put __syncthreads() in front of gemm.cpp:90");
  finding.fix_place = {};
  EXPECT_EQ(fix_in_words(finding), "put __syncthreads() between gemm.cpp:84 and gemm.cpp:71");
  finding.accesses[0].frames.clear();
  EXPECT_EQ(fix_in_words(finding), "put a barrier (__syncthreads) between the two");
}

TEST(FixText, of_a_barrier_in_a_branch_says_that_all_have_to_take_it) {
  Finding finding = sample_race();
  finding.fix = Fix::branch_barrier;
  finding.fix_place = {"/src/gemm.cpp", 90, 3, 0};
  EXPECT_THAT(fix_in_words(finding),
              StartsWith("put __syncthreads() in front of gemm.cpp:90, if all waves"));
}

TEST(FixText, of_parts_names_who_must_own_them) {
  Finding finding = sample_race();
  finding.fix = Fix::own_part;
  finding.accesses[0].workgroup = finding.accesses[1].workgroup = {1, 0, 0};
  EXPECT_THAT(fix_in_words(finding), StartsWith("each wave must own"));
  finding.accesses[0].workgroup = {2, 0, 0};
  EXPECT_THAT(fix_in_words(finding), StartsWith("each workgroup must own"));
}

TEST(FixText, of_a_wait_depends_on_what_is_waited_for) {
  Finding finding = sample_race();
  finding.fix = Fix::wait_barrier;
  EXPECT_THAT(fix_in_words(finding), HasSubstr("s_waitcnt lgkmcnt(0)"));
  finding.accesses[1].role = Role::direct_load;
  EXPECT_EQ(fix_in_words(finding), "wait for it (s_waitcnt vmcnt(0)) before the barrier");
}

TEST(FixText, arguments_are_text_whatever_is_in_them) {
  EXPECT_EQ(words(Fix::other), "");
  EXPECT_EQ(words(Fix::other, {"as the error says: {1}"}), "as the error says: {1}");
  EXPECT_EQ(words(Fix::coordinate_unit, {"tile", "64 x 128"}),
            "a coordinate counts tiles of 64 x 128: check its unit and the grid");
  EXPECT_THAT(words(Fix::stream_event, {"stream 1", "the null stream"}),
              HasSubstr("hipEventRecord on stream 1, before the second hipStreamWaitEvent on the "
                        "null stream;"));
  EXPECT_THAT(words(Fix::stream_event), Not(HasSubstr("{")));
}

TEST(FixText, every_fix_has_words_of_its_own) {
  std::set<std::string> all;
  for (std::size_t n = 1; n < kFixCount; ++n) {
    const auto fix = static_cast<Fix>(n);
    const std::string text = words(fix, {"one", "two"});
    EXPECT_NE(text, "") << fix_name(fix);
    EXPECT_TRUE(all.insert(text).second) << fix_name(fix);
  }
}

}  // namespace
}  // namespace margay::check
