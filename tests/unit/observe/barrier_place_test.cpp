// Where a missing barrier is put, on small functions as text.
#include "observe/check/findings/barrier_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay::check {
namespace {

constexpr const char* kFile = "/src/k.cpp";

Access access_at(std::uint32_t line) {
  Access access;
  access.vaddr = line * 16;
  access.frames = {{"k", kFile, line, 0}};
  access.called = 0;
  return access;
}

Finding race(std::uint32_t later, std::uint32_t earlier) {
  Finding finding;
  finding.kind = FindingKind::read_after_write;
  finding.fix = Fix::barrier;
  finding.accesses = {access_at(later), access_at(earlier)};
  return finding;
}

class BarrierPlace : public testing::Test {
 protected:
  /// "12" or "12 at the end of 9" of each race; barriers are named by their lines.
  std::vector<std::string> places(const std::string& text, std::vector<Finding> races,
                                  std::initializer_list<std::uint32_t> barriers = {}) {
    SourceFiles files;
    files.add(kFile, text);
    std::vector<BarrierChain> chains;
    for (const std::uint32_t line : barriers) chains.push_back({{{"k", kFile, line, 0}}, 0});
    place_barriers(races, chains, files);
    std::vector<std::string> found;
    for (const Finding& finding : races) {
      const FixPlace& at = finding.fix_place;
      found.push_back(std::to_string(at.line));
      if (at.end_of_loop != 0) found.back() += " at the end of " + std::to_string(at.end_of_loop);
    }
    return found;
  }
};

using testing::ElementsAre;

TEST_F(BarrierPlace, between_two_statements) {
  EXPECT_THAT(places("void k() {\n"
                     "  write();\n"
                     "  other();\n"
                     "  read();\n"
                     "}\n",
                     {race(4, 2)}),
              ElementsAre("4"));
}

TEST_F(BarrierPlace, the_end_of_the_tile_loop_and_not_the_inner_one) {
  const std::string text =
      "void k() {\n"
      "  for (int tile = 0; tile < n; ++tile) {\n"
      "    load(a);\n"
      "    load(b);\n"
      "    __syncthreads();\n"
      "    for (int k = 0; k < 4; ++k) {\n"
      "      read(a);\n"
      "      read(b);\n"
      "    }\n"
      "  }\n"
      "}\n";
  EXPECT_THAT(places(text, {race(3, 7), race(4, 7), race(3, 8), race(4, 8)}, {5}),
              testing::Each("10 at the end of 2"));
}

TEST_F(BarrierPlace, in_front_of_a_branch_and_not_in_it) {
  EXPECT_THAT(places("void k() {\n"
                     "  for (int tile = 0; tile < n; ++tile) {\n"
                     "    if (w == 0) barrier();\n"
                     "    for (int k = 0; k < 4; ++k) read(k);\n"
                     "    if (tile + 1 < n)\n"
                     "      write();\n"
                     "  }\n"
                     "}\n",
                     {race(6, 4)}, {3}),
              ElementsAre("5"));
}

TEST_F(BarrierPlace, one_barrier_for_what_is_read_before_the_loop_and_in_it) {
  EXPECT_THAT(places("void k() {\n"
                     "  read(0);\n"
                     "  for (int tile = 0; tile < n; ++tile) {\n"
                     "    count();\n"
                     "    write();\n"
                     "    __syncthreads();\n"
                     "    read(tile);\n"
                     "    use();\n"
                     "  }\n"
                     "}\n",
                     {race(5, 2), race(5, 7)}, {6}),
              ElementsAre("5", "5"));
}

TEST_F(BarrierPlace, two_faults_two_barriers) {
  EXPECT_THAT(places("void k() {\n"
                     "  write(a);\n"
                     "  read(a);\n"
                     "  __syncthreads();\n"
                     "  write(b);\n"
                     "  read(b);\n"
                     "}\n",
                     {race(3, 2), race(6, 5)}, {4}),
              ElementsAre("3", "6"));
}

TEST_F(BarrierPlace, a_barrier_straight_between_leaves_the_way_around) {
  const std::string text =
      "void k() {\n"
      "  while (more()) {\n"
      "    write();\n"
      "    __syncthreads();\n"
      "    read();\n"
      "  }\n"
      "}\n";
  EXPECT_THAT(places(text, {race(3, 5)}, {4}), ElementsAre("6 at the end of 2"));
  EXPECT_THAT(places(text, {race(5, 3)}, {}), ElementsAre("5")) << "the way from 3 to 5";
}

TEST_F(BarrierPlace, functions_that_both_were_called_from) {
  const std::string text =
      "int sum() {\n"
      "  write();\n"
      "  __syncthreads();\n"
      "  return read();\n"
      "}\n"
      "void k() {\n"
      "  a = sum();\n"
      "  b = sum();\n"
      "}\n";
  Finding finding = race(2, 4);
  finding.accesses[0].frames = {{"sum", kFile, 2, 0}, {"k", kFile, 8, 0}};
  finding.accesses[1].frames = {{"sum", kFile, 4, 0}, {"k", kFile, 7, 0}};
  EXPECT_THAT(places(text, {finding}, {3}), ElementsAre("8"));
}

TEST_F(BarrierPlace, never_in_a_function_of_the_library) {
  Finding finding = race(3, 3);
  finding.accesses[0].frames = {{"k", kFile, 3, 0}, {"load", "/include/kittens/l.cuh", 2, 0}};
  finding.accesses[1].frames = {{"k", kFile, 3, 0}, {"load", "/include/kittens/l.cuh", 5, 0}};
  finding.accesses[0].called = finding.accesses[1].called = 1;
  EXPECT_THAT(places("void k() {\n"
                     "  for (;;) {\n"
                     "    exchange();\n"
                     "  }\n"
                     "}\n",
                     {finding}),
              ElementsAre("4 at the end of 2"));
}

TEST_F(BarrierPlace, what_is_not_known_is_left_open) {
  const std::string text = "void k() {\n  a();\n  b();\n}\n";
  Finding other_function = race(2, 3);
  other_function.accesses[0].frames[0].function = "g";
  Finding no_line = race(2, 3);
  no_line.accesses[0].frames.clear();
  Finding other_file = race(2, 3);
  for (Access& access : other_file.accesses) access.frames[0].file = "/there/is/no/such.cpp";
  Finding other_fix = race(3, 2);
  other_fix.fix = Fix::one_writer;
  EXPECT_THAT(places(text, {other_function, no_line, other_file, other_fix}), testing::Each("0"));
}

TEST_F(BarrierPlace, the_other_way_round_where_no_way_leads_on) {
  EXPECT_THAT(places("void k() {\n  a();\n  b();\n}\n", {race(2, 3), race(3, 2)}),
              ElementsAre("3", "3"));
}

TEST_F(BarrierPlace, none_between_branches_that_different_waves_take) {
  const std::string text =
      "void k() {\n"
      "  if (wave == 0) {\n"
      "    for (int i = 0; i < n; ++i) write(i);\n"
      "    return;\n"
      "  } else {\n"
      "    for (int i = 0; i < n; ++i) read(i);\n"
      "  }\n"
      "}\n";
  SourceFiles files;
  files.add(kFile, text);
  std::vector<Finding> races = {race(6, 3), race(3, 6)};
  place_barriers(races, {}, files);
  for (const Finding& finding : races) {
    EXPECT_EQ(finding.fix, Fix::hand_over);
    EXPECT_EQ(finding.fix_place.line, 0U);
  }
}

TEST_F(BarrierPlace, none_in_a_statement_that_all_waves_execute_once) {
  const std::string text =
      "void k() {\n"
      "  s[0] = threadIdx.x;\n"
      "  p[i] = p[i + 1];\n"
      "}\n";
  SourceFiles files;
  files.add(kFile, text);
  const auto with_roles = [](Finding finding, Role later, Role earlier) {
    finding.accesses[0].role = later;
    finding.accesses[1].role = earlier;
    return finding;
  };
  std::vector<Finding> races = {with_roles(race(2, 2), Role::write, Role::write),
                                with_roles(race(3, 3), Role::write, Role::read),
                                with_roles(race(3, 3), Role::read, Role::write),
                                with_roles(race(2, 2), Role::write, Role::atomic)};
  place_barriers(races, {}, files);
  std::vector<Fix> fixes;
  for (const Finding& finding : races) fixes.push_back(finding.fix);
  EXPECT_THAT(fixes, ElementsAre(Fix::own_bytes, Fix::split_statement, Fix::split_statement,
                                 Fix::hand_over));
}

TEST_F(BarrierPlace, none_in_a_statement_of_a_loop_whose_turns_end_at_a_barrier) {
  const std::string text =
      "void k() {\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    if (found(i)) winner = threadIdx.x;\n"
      "    __syncthreads();\n"
      "  }\n"
      "}\n";
  SourceFiles files;
  files.add(kFile, text);
  std::vector<Finding> races = {race(3, 3)};
  for (Access& access : races[0].accesses) access.role = Role::write;
  const BarrierChain barrier{{{"k", kFile, 4, 0}}, 0};
  place_barriers(races, {&barrier, 1}, files);
  EXPECT_EQ(races[0].fix, Fix::own_bytes);
  EXPECT_EQ(races[0].fix_place.line, 0U);
  // Without it the turns race with each other.
  EXPECT_THAT(places(text, {race(3, 3)}), ElementsAre("5 at the end of 2"));
}

TEST_F(BarrierPlace, in_a_branch_is_said) {
  const std::string text =
      "int find() {\n"
      "  read();\n"
      "  write();\n"
      "}\n"
      "void k() {\n"
      "  if (threadIdx.x % 3) find();\n"
      "  if (threadIdx.x % 3) {\n"
      "    read();\n"
      "    write();\n"
      "  }\n"
      "  read();\n"
      "  write();\n"
      "}\n";
  SourceFiles files;
  files.add(kFile, text);
  Finding in_callee = race(3, 2);
  for (Access& access : in_callee.accesses) {
    access.frames[0].function = "find";
    access.frames.push_back({"k", kFile, 6, 0});
  }
  std::vector<Finding> races = {in_callee, race(9, 8), race(12, 11)};
  place_barriers(races, {}, files);
  EXPECT_EQ(races[0].fix, Fix::branch_barrier);
  EXPECT_EQ(races[0].fix_place.line, 3U);
  EXPECT_EQ(races[1].fix, Fix::branch_barrier);
  EXPECT_EQ(races[1].fix_place.line, 9U);
  EXPECT_EQ(races[2].fix, Fix::barrier);
  EXPECT_EQ(races[2].fix_place.line, 12U);
}

TEST_F(BarrierPlace, none_between_an_arm_that_returns_and_what_follows) {
  const std::string text =
      "void k() {\n"
      "  if (wave == 0) {\n"
      "    for (int i = 0; i < n; ++i) write(i);\n"
      "    return;\n"
      "  }\n"
      "  for (int i = 0; i < n; ++i) read(i);\n"
      "}\n";
  SourceFiles files;
  files.add(kFile, text);
  std::vector<Finding> races = {race(6, 3), race(3, 6)};
  place_barriers(races, {}, files);
  for (const Finding& finding : races) {
    EXPECT_EQ(finding.fix, Fix::hand_over);
    EXPECT_EQ(finding.fix_place.line, 0U);
  }
}

TEST_F(BarrierPlace, an_arm_that_breaks_or_continues) {
  const auto text = [](const char* jump) {
    return std::string(
               "void k() {\n"
               "  for (int i = 0; i < n; ++i) {\n"
               "    count();\n"
               "    if (i == x) {\n"
               "      write();\n"
               "      ") +
           jump +
           ";\n"
           "    }\n"
           "    __syncthreads();\n"
           "    read();\n"
           "  }\n"
           "  other();\n"
           "  late();\n"
           "}\n";
  };
  // Around the loop, past the barrier.
  EXPECT_THAT(places(text("continue"), {race(9, 5)}, {8}), ElementsAre("4"));
  // No jumps: the barrier is on all paths, and the intended one is unknown.
  EXPECT_THAT(places(text("stay()"), {race(9, 5)}, {8}), ElementsAre("9"));
  // To the code after the loop; no wave returns.
  EXPECT_THAT(places(text("break"), {race(12, 5)}, {8}), ElementsAre("12"));
  SourceFiles files;
  files.add(kFile, text("break"));
  std::vector<Finding> races = {race(3, 5)};
  place_barriers(races, {}, files);
  EXPECT_EQ(races[0].fix_place.line, 4U) << "from the counting to the writing";
}

TEST_F(BarrierPlace, in_front_of_an_early_return_and_not_behind_it) {
  const std::string text =
      "void k() {\n"
      "  write();\n"
      "  if (lane >= n) return;\n"
      "  read();\n"
      "  use();\n"
      "  again();\n"
      "}\n";
  EXPECT_THAT(places(text, {race(4, 2)}), ElementsAre("3"));
  EXPECT_THAT(places(text, {race(6, 4)}), ElementsAre("6")) << "both are behind the return";
}

TEST_F(BarrierPlace, a_break_of_a_switch_and_a_return_of_a_lambda_lead_on) {
  EXPECT_THAT(places("void k() {\n"
                     "  while (more()) {\n"
                     "    switch (x) {\n"
                     "      case 0:\n"
                     "        write();\n"
                     "        break;\n"
                     "    }\n"
                     "    read();\n"
                     "  }\n"
                     "}\n",
                     {race(8, 5)}),
              ElementsAre("8"));
  EXPECT_THAT(places("void k() {\n"
                     "  auto f = [&](int i) {\n"
                     "    return write(i);\n"
                     "  };\n"
                     "  read();\n"
                     "}\n",
                     {race(5, 3)}),
              ElementsAre("5"));
}

TEST_F(BarrierPlace, not_into_a_loop_without_braces) {
  EXPECT_THAT(places("void k() {\n"
                     "  for (;;)\n"
                     "    if (x) { write(); } else { read(); }\n"
                     "}\n",
                     {race(3, 3)}),
              ElementsAre("0"));
}

}  // namespace
}  // namespace margay::check
