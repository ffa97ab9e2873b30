// Statements in words: every row has a sentence for its values, and a sentence that does not fit
// them is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "report/check/statement_text.h"

namespace margay::check {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Not;

TEST(Statements, each_row_has_words_for_its_values) {
  std::set<std::string_view> sentences;
  for (std::size_t n = 0; n < kSaysCount; ++n) {
    const auto says = static_cast<Says>(n);
    const std::string_view words = sentence_of(says);
    EXPECT_EQ(words.empty(), says == Says::nothing) << n;
    EXPECT_TRUE(sentences.insert(words).second) << words;
    EXPECT_EQ(fault_in(words, takes_of(says)), "") << words;
    EXPECT_EQ(takes_of(says).find_first_not_of("nsrkhudp"), std::string_view::npos) << words;
  }
}

TEST(Statements, sentences_that_do_not_fit_are_refused) {
  EXPECT_EQ(fault_in("{0} of {1}", "nn"), "");
  EXPECT_EQ(fault_in("{0} of {1}", "n"), "a value that the row does not have");
  EXPECT_EQ(fault_in("{0} of", "nn"), "a value that is not named");
  EXPECT_EQ(fault_in("", "n"), "a value that is not named");
  EXPECT_EQ(fault_in("{0?a {1}|b}", "n"), "a value that the row does not have") << "in a choice";
  EXPECT_EQ(fault_in("{0?a {1}|b}", "nn"), "") << "named in one case";
  EXPECT_EQ(fault_in("{0#a|b}", "s"), "a choice by a value that does not decide");
  EXPECT_EQ(fault_in("{0?a|b}", "r"), "a choice by a value that does not decide");
  EXPECT_EQ(fault_in("{0:x}", "s"), "a form that the value does not have");
  EXPECT_EQ(fault_in("{0:at}", "n"), "a form that the value does not have");
  EXPECT_EQ(fault_in("{0:hex}", "n"), "a form that the value does not have");
  for (const std::string_view words : {"{0", "{}", "{", "{x}", "{0!a|b}", "{0?a}", "{0?{0|b}"})
    EXPECT_EQ(fault_in(words, "n"), "a mark that is not complete") << words;
  EXPECT_EQ(fault_in("{0} }", "n"), "a brace that closes nothing");
}

TEST(Statements, literals_of_the_program_are_no_values) {
  EXPECT_EQ(letter_of<const char*>(), '?');
  EXPECT_EQ(letter_of<char[6]>(), '?');
  EXPECT_EQ(letter_of<std::string_view>(), '?');
  EXPECT_EQ(letter_of<bool>(), 'n');
}

TEST(Statements, in_words) {
  EXPECT_EQ(in_words({}), "");
  EXPECT_EQ(in_words(say<Says::no_barrier>()), "no s_barrier separates them");
  EXPECT_EQ(in_words(say<Says::lds_race>(FindingKind::write_after_read, 0x840, 16, false)),
            "write-after-read race on LDS at byte 0x0840, 16 bytes");
  EXPECT_EQ(
      in_words(say<Says::lds_race>(FindingKind::write_after_write, 4, 1, true)),
      "write-after-write race on LDS at byte 0x0004, 1 byte: both waves write the same value");
  EXPECT_EQ(
      in_words(say<Says::workgroups_race>(0x7f0010, 4, Role::atomic, Role::write, true, true)),
      "two workgroups race on global memory at 0x7f0010, 4 bytes: atomic and write of the same "
      "value, one of them of workgroup scope only");
  EXPECT_EQ(
      in_words(say<Says::past_tensor>(Role::read, 16, 0x1000, 1, Dimensions{1, 2, 3, 4})),
      "read of 16 bytes at 0x1000, 1 byte past the end of a tensor of 1 x 2 x 3 x 4 elements");
  EXPECT_EQ(
      in_words(
          say<Says::wait_states>(std::string("v12"), 1, wait_states::Hazard::valu_to_dpp, 2, 1)),
      "v12 is used 1 wait state too early: a VALU result is read by DPP needs 2 between, there "
      "is 1");
  EXPECT_EQ(in_words(say<Says::hardware_wait_states>(2, wait_states::Hazard::hardware_register_set,
                                                     2, 0)),
            "the hardware register is used 2 wait states too early: a hardware register is used "
            "after s_setreg needs 2 between, there are 0");
  EXPECT_EQ(in_words(say<Says::before_wait>(std::string("v3"), true)),
            "v3 is read before the load that fills it was waited for");
  EXPECT_EQ(in_words(say<Says::before_wait>(std::string("v3"), false)),
            "v3 is overwritten before the load that will overwrite it was waited for");
  EXPECT_EQ(in_words(say<Says::lds_unwritten>(8, Decides::branch)),
            "LDS byte 0x0008 is read but was never written; it decides a branch");
  EXPECT_EQ(in_words(say<Says::some_not_freed>(1, 64)),
            "1 allocation of 64 bytes in all was never freed");
  EXPECT_EQ(in_words(say<Says::some_not_freed>(2, 64)),
            "2 allocations of 64 bytes in all were never freed");
}

// Sentences that no program of tests/check leads to.
TEST(Statements, rare_ones_in_words) {
  EXPECT_EQ(in_words(say<Says::reaches_past_tensor>(Role::write, 1, 0x20)),
            "write of 1 byte at 0x20 reaches past the end of a tensor");
  const auto title = say<Says::tensor_title>(say<Says::tensor>(std::string("g"), 0),
                                             std::string("bf16"), 2, Dimensions{1, 1, 8, 16});
  const Dimensions where = {0, 1, 2, 3};
  EXPECT_EQ(in_words(say<Says::row_past_end>(where, false, title, 1)),
            "row 2, column 3 of g (bf16, 1 x 1 x 8 x 16), 1 byte past its end");
  EXPECT_EQ(in_words(say<Says::row_past_last>(where, true, title, 2)),
            "batch 0, depth 1, row 2, column 3 of g (bf16, 1 x 1 x 8 x 16): 2 rows past its last "
            "row");
  EXPECT_EQ(in_words(say<Says::memory_too_short>(256, 1)),
            "a tensor of that shape has 256 bytes, but its memory ends 1 byte from its start");
  EXPECT_EQ(in_words(say<Says::in_vector>(64)),
            "in a vector of 64 elements, whose coordinate counts elements");
  EXPECT_EQ(in_words(say<Says::lanes_write>(3, 4, true, 16)),
            "lanes 3 and 4 of one instruction write the same value to LDS byte 0x0010");
  EXPECT_EQ(in_words(say<Says::lanes_write>(3, 4, false, 16)),
            "lanes 3 and 4 of one instruction write different values to LDS byte 0x0010");
  EXPECT_EQ(in_words(say<Says::lanes_write_globally>(3, 4, 0x1000, 1)),
            "lanes 3 and 4 of one instruction write different values to global memory at 0x1000, "
            "1 byte");
  EXPECT_EQ(in_words(say<Says::waits_for_both>()),
            "s_waitcnt vmcnt(0) lgkmcnt(0) between the two would have waited for it");
  EXPECT_EQ(in_words(say<Says::copy_in_tensor>(Dimensions{1, 2, 3, 4})),
            "in a tensor of 1 x 2 x 3 x 4");
  EXPECT_EQ(in_words(say<Says::launch_interrupted>(std::string("3 of 4 workgroups ran"))),
            "3 of 4 workgroups ran: the others were not checked");
}

TEST(Statements, phrases_are_values) {
  const auto operation = [](std::uint64_t launch, bool in_graph) {
    return say<Says::operation>(std::string("scale"), launch, in_graph, std::string("stream 1"));
  };
  EXPECT_EQ(in_words(say<Says::unordered>(operation(3, false), operation(0, true))),
            "nothing orders scale (launch 3) on stream 1 and scale in a graph on stream 1");
  const auto title = [](const std::string& name, const std::string& element, std::uint64_t bytes,
                        Dimensions shape) {
    return in_words(say<Says::tensor_title>(say<Says::tensor>(name, 24), element, bytes, shape));
  };
  const Dimensions shape = {1, 1, 8, 16};
  EXPECT_EQ(title("g.a", "bf16", 2, shape), "g.a (bf16, 1 x 1 x 8 x 16)");
  EXPECT_EQ(title("g.a", "bf16", 2, {}), "g.a (bf16)");
  EXPECT_EQ(title("g.a", "", 2, shape), "g.a (elements of 2 bytes, 1 x 1 x 8 x 16)");
  EXPECT_EQ(title("g.a", "", 1, {}), "g.a (elements of 1 byte)");
  EXPECT_EQ(title("g.a", "", 0, shape), "g.a (1 x 1 x 8 x 16)");
  EXPECT_EQ(title("", "", 0, {}), "the tensor at kernel argument byte 24");
}

// Names come from programs and may look like marks.
TEST(Statements, values_are_not_read_as_sentences) {
  for (const std::string text : {"{0}", "{1?a|b}", "{", "}", "{0:x} and {9}"})
    EXPECT_EQ(in_words(say<Says::text>(text)), text);
}

TEST(Statements, are_compared_by_what_they_say) {
  const Statement two = say<Says::lanes_off>(2);
  EXPECT_EQ(two, say<Says::lanes_off>(2u));
  EXPECT_NE(two, say<Says::lanes_off>(3));
  EXPECT_NE(two, say<Says::meet_elsewhere>(2));
  EXPECT_LT(two, say<Says::lanes_off>(3));
  const auto of = [](const std::string& name) {
    return say<Says::tensor_title>(say<Says::tensor>(name, 0), std::string(), 0, Dimensions{});
  };
  EXPECT_EQ(of("a"), of("a"));
  EXPECT_LT(of("a"), of("b"));
}

TEST(Statements, each_decision_has_words) {
  std::set<std::string_view> clauses;
  for (std::size_t n = 0; n < kDecidesCount; ++n)
    EXPECT_TRUE(clauses.insert(decides_text(static_cast<Decides>(n))).second) << n;
  EXPECT_THAT(clauses, Each(Not(IsEmpty())));
}

}  // namespace
}  // namespace margay::check
