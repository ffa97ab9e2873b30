// Findings as text, to the character.
#include "report/check/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace margay::check {
namespace {

using testing::HasSubstr;
using testing::Not;

const TextOptions kPlainText{.colour = false, .directory = "/src"};

TEST(Text, a_race_in_full) {
  EXPECT_EQ(
      text_of(sample_race(), kPlainText),
      "========= racecheck: write-after-read race on LDS at byte 0x0840 (As, row 16, column 32), "
      "16 bytes\n"
      "=========   write  gemm.cpp:71 in micro_tk<64>  ds_write_b64 v1, v[4:5]  "
      "wave 3 lane 17, workgroup (0,0,0)\n"
      "=========          -> load\n"
      "=========   read   gemm.cpp:84 in micro_tk<64>  ds_read_b64 v[8:9], v2   "
      "wave 1 lane 40, workgroup (0,2,0)\n"
      "=========   no s_barrier separates them\n"
      "=========   fix: put a barrier after gemm.cpp:93\n"
      "=========   kernel micro_tk<64>, launch 2, seen 4096 times\n");
}

TEST(Text, what_the_kernel_computes) {
  Finding finding = sample_race();
  finding.computes = {{"jit(step)/add", "/src/model.py", 7, 0},
                      {"jit(step)/mul", "/src/model.py", 7, 0},
                      {"jit(step)/sub", "/src/model.py", 5, 0}};
  EXPECT_THAT(text_of(finding, kPlainText),
              HasSubstr("seen 4096 times\n"
                        "=========   computes jit(step)/add at model.py:7; also model.py:5\n"));
  EXPECT_THAT(text_of(finding, kPlainText), HasSubstr("  fix: put a barrier"));
  finding.fix = Fix::wait_barrier;
  EXPECT_THAT(text_of(finding, kPlainText), HasSubstr("  fix, in the compiler: "));
  EXPECT_THAT(text_of(finding, {.directory = "/src", .full = true}),
              HasSubstr("computes jit(step)/add at model.py:7; jit(step)/mul at model.py:7; "
                        "jit(step)/sub at model.py:5\n"));
}

TEST(Text, what_a_line_called_and_what_called_it) {
  Finding finding = sample_race();
  finding.accesses[0].frames.push_back({"outer", "/src/gemm.cpp", 99, 1});
  EXPECT_EQ(finding.accesses[0].frames.size(), 3U);
  finding.accesses[0].frames.insert(finding.accesses[0].frames.begin() + 2,
                                    {"lds_store", "/lib/include/kittens/memory.h", 60, 1});
  finding.accesses[0].called = 2;
  finding.accesses[0].frames.push_back({"main", "/src/gemm.cpp", 120, 1});
  const std::string folded = text_of(finding, kPlainText);
  EXPECT_THAT(folded, HasSubstr("  -> load (2 frames)\n"));
  EXPECT_THAT(folded, HasSubstr("  <- gemm.cpp:99 in outer <- gemm.cpp:120 in main\n"));
  const std::string full = text_of(finding, {.directory = "/src", .full = true});
  EXPECT_THAT(full, HasSubstr("  -> include/kittens/shared.h:310 in load\n"));
  EXPECT_THAT(full, HasSubstr("  -> /lib/include/kittens/memory.h:60 in lds_store\n"));
  EXPECT_THAT(full, HasSubstr("  <- gemm.cpp:99 in outer\n"));
}

TEST(Text, files_elsewhere_go_by_their_names) {
  Finding finding = sample_race();
  finding.accesses[1].frames[0].file = "/elsewhere/gemm.cpp";
  EXPECT_THAT(text_of(finding, kPlainText), HasSubstr("  read   gemm.cpp:84 in micro_tk<64>  "));
  EXPECT_THAT(text_of(finding, {.directory = "/src", .full = true}),
              HasSubstr("  /elsewhere/gemm.cpp:84 in micro_tk<64>  "));
}

TEST(Text, a_line_close_by_is_said_to_be_so) {
  Finding finding = sample_race();
  finding.accesses[1].nearby = true;
  EXPECT_THAT(text_of(finding, kPlainText), HasSubstr("  read   near gemm.cpp:84 in "));
}

TEST(Text, other_instructions_of_the_cause) {
  Finding finding = sample_race();
  Occurrence other{.kind = FindingKind::read_after_write,
                   .message = sentence("another"),
                   .accesses = finding.accesses};
  other.accesses[1].frames[0].line = 85;
  finding.others = {other, other};
  EXPECT_THAT(text_of(finding, kPlainText),
              HasSubstr("=========   3 pairs of instructions in all, also in gemm.cpp:85 (--full "
                        "lists them)\n"));
  EXPECT_THAT(text_of(finding, {.directory = "/src", .full = true}),
              HasSubstr("=========   3 pairs of instructions in all; the others:\n"
                        "=========   another\n"
                        "=========   write  gemm.cpp:71 in "));
  finding.accesses.resize(1);
  finding.others.assign(9, other);
  for (std::uint32_t n = 0; n < 9; ++n) finding.others[n].accesses[0].frames[0].line = 200 + n;
  EXPECT_THAT(text_of(finding, kPlainText),
              HasSubstr("  10 instructions in all, also in gemm.cpp:200, gemm.cpp:85, "));
  EXPECT_THAT(text_of(finding, kPlainText), HasSubstr(", 4 more (--full lists them)\n"));
}

TEST(Text, only_what_is_known_is_said) {
  Finding leak;
  leak.kind = FindingKind::leak;
  leak.message = sentence("4096 bytes were never freed");
  EXPECT_EQ(text_of(leak, kPlainText), "========= memcheck: 4096 bytes were never freed\n");

  Finding finding = sample_race();
  finding.severity = Severity::note;
  finding.accesses.resize(1);
  finding.accesses[0].frames.clear();
  finding.accesses[0].lane = kNoNumber;
  finding.count = 1;
  const std::string text = text_of(finding, kPlainText);
  EXPECT_THAT(text, HasSubstr("========= racecheck (note): write-after-read"));
  EXPECT_THAT(text, HasSubstr("  write  micro_tk<64>+0x140  ds_write_b64 v1, v[4:5]  wave 3, "
                              "workgroup (0,0,0)\n"));
  EXPECT_THAT(text, Not(HasSubstr("seen")));

  finding.accesses[0].wave = kNoNumber;
  EXPECT_THAT(text_of(finding, kPlainText),
              HasSubstr("=========   write  micro_tk<64>+0x140  ds_write_b64 v1, v[4:5]\n"));
}

TEST(Text, a_line_that_the_compiler_attributes_to_nothing_is_no_place) {
  Finding finding = sample_race();
  finding.accesses[0].frames[0].line = 0;
  EXPECT_THAT(text_of(finding, kPlainText), HasSubstr("  micro_tk<64>+0x140         "));
}

TEST(Text, advice_takes_one_line) {
  EXPECT_EQ(text_of(sample_advice(), kPlainText),
            "========= waitcheck: nothing depended on this wait in 512 executions: s_waitcnt "
            "vmcnt(0)   gemm.cpp:90 in micro_tk<64>\n");
  Finding named = sample_advice();
  named.message = sentence("s_waitcnt vmcnt(0) ordered nothing");
  EXPECT_EQ(text_of(named, kPlainText),
            "========= waitcheck: s_waitcnt vmcnt(0) ordered nothing   gemm.cpp:90 in "
            "micro_tk<64>\n")
      << "the instruction is not said twice";
}

TEST(Text, colour_is_only_added_never_anything_else) {
  const std::string coloured = text_of(sample_race(), {.colour = true, .directory = "/src"});
  std::string stripped;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      stripped += coloured[i];
  }
  EXPECT_NE(coloured, stripped);
  EXPECT_EQ(stripped, text_of(sample_race(), kPlainText));
}

TEST(Text, paths_below_the_directory_are_relative) {
  const SourceFrame frame{.function = "f", .file = "/src/a/b.cpp", .line = 7};
  EXPECT_EQ(place_of(frame, "/src"), "a/b.cpp:7 in f");
  EXPECT_EQ(place_of(frame, "/src/"), "a/b.cpp:7 in f");
  EXPECT_EQ(place_of(frame, "/src/a"), "b.cpp:7 in f");
  EXPECT_EQ(place_of(frame, "/sr"), "/src/a/b.cpp:7 in f");
  EXPECT_EQ(place_of(frame, ""), "/src/a/b.cpp:7 in f");
  EXPECT_EQ(place_of({.function = "f", .file = "/src/a.cpp", .line = 0}, "/src"), "");
}

TEST(Text, short_function_names) {
  EXPECT_EQ(short_function("saxpy"), "saxpy");
  EXPECT_EQ(short_function("saxpy(float, float const*)"), "saxpy");
  EXPECT_EQ(short_function("void ns::gemm<64, float>(int)"), "ns::gemm<64, float>");
  EXPECT_EQ(short_function("(anonymous namespace)::f(int)"), "f");
  EXPECT_EQ(short_function("void (anonymous namespace)::f<a::(anonymous namespace)::B>(int)"),
            "f<a::B>");
  EXPECT_EQ(short_function("void f<void (*)(int)>(int)"), "f<void (*)(int)>");
  EXPECT_EQ(short_function("void load<kittens::st<__hip_bfloat16, 64, 128>, 1>(int, "
                           "kittens::st<__hip_bfloat16, 64, 128>&)"),
            "load<kittens::st<__hip_bfloat16, 64, 128>, 1>");
  EXPECT_EQ(
      short_function("void load<kittens::st<__hip_bfloat16, 64, 128>, kittens::gl<int>>(int)"),
      "load<...>");
  EXPECT_EQ(short_function("A::operator()(int) const"), "A::operator()(int) const");
}

TEST(Printer, shows_so_many_and_counts_the_rest) {
  FindingPrinter printer(kPlainText, 2);
  const std::vector<Finding> three = {sample_race(), sample_advice(), sample_race(), sample_race()};
  const std::string first = printer.findings(three);
  EXPECT_THAT(first, HasSubstr("========= 2 findings shown; further ones are counted"));
  EXPECT_EQ(printer.not_shown(), 1U);
  EXPECT_THAT(first, Not(HasSubstr("waitcheck"))) << "advice comes at the end";
  EXPECT_EQ(printer.findings(three), "") << "said once";
  EXPECT_EQ(printer.not_shown(), 4U);
}

TEST(Printer, wait_states_have_a_heading) {
  FindingPrinter printer(kPlainText, 10);
  Finding states = sample_race();
  states.fix = Fix::wait_states;
  const std::vector<Finding> all = {sample_race(), states, states};
  const std::string text = printer.findings(all);
  EXPECT_THAT(text, HasSubstr("seen 4096 times\n========= wait states\n========= racecheck"));
  EXPECT_EQ(text.find("= wait states\n"), text.rfind("= wait states\n")) << "once";
}

TEST(Printer, advice_has_a_heading_and_its_own_maximum) {
  const FindingPrinter printer(kPlainText, 1);
  EXPECT_EQ(printer.advice(std::vector{sample_race()}), "");
  std::vector<Finding> pieces = {sample_advice(), sample_advice(), sample_advice()};
  pieces[1].accesses[0].frames[0].line = 91;
  pieces[2].accesses[0].frames[0].line = 92;
  EXPECT_EQ(printer.advice(pieces), "========= advice\n" + text_of(sample_advice(), kPlainText) +
                                        "========= and 2 pieces more\n");
}

TEST(Printer, equal_lines_of_advice_are_counted) {
  std::vector<Finding> pieces = {sample_advice(), sample_advice(), sample_advice()};
  pieces[1].accesses[0].frames[0].line = 91;
  const std::string text = FindingPrinter(kPlainText, 100).advice(pieces);
  EXPECT_THAT(text, HasSubstr("gemm.cpp:90 in micro_tk<64> (x2)\n"));
  EXPECT_THAT(text, HasSubstr("gemm.cpp:91 in micro_tk<64>\n"));
}

TEST(Summary, counts_by_severity) {
  Report report = sample_report();
  EXPECT_EQ(summary_line(report, kPlainText),
            "========= margay check: 1 error, 1 piece of advice, 4 suppressed (memcheck, "
            "racecheck)\n");
  report.findings.push_back(sample_race());
  report.findings.push_back(sample_race());
  report.findings.back().severity = Severity::note;
  report.adversarial = true;
  report.seed = 7;
  report.suppressed = 0;
  EXPECT_EQ(summary_line(report, kPlainText),
            "========= margay check: 2 errors, 1 note, 1 piece of advice (memcheck, racecheck), "
            "adversarial seed 7\n");
  report.findings.clear();
  report.adversarial = false;
  EXPECT_EQ(summary_line(report, kPlainText),
            "========= margay check: no errors (memcheck, racecheck)\n");
}

}  // namespace
}  // namespace margay::check
