// Generated programs: the same for the same seed, of all kinds, and well typed.
#include "apps/fuzz/programs/generate.h"

#include <gtest/gtest.h>

#include <set>

#include "apps/fuzz/programs/print.h"
#include "apps/fuzz/programs/rules.h"

namespace margay::fuzz {
namespace {

TEST(Generate, IsDeterminedByTheSeed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(print(generate(seed), 0), print(generate(seed), 0));
}

TEST(Generate, RandomNumbersAreThePublishedOnes) {
  Random random(1);
  EXPECT_EQ(random.next(), 0x910a2dec89025cc1ull);  // SplitMix64's published first number for 1
}

TEST(Generate, DiffersBetweenSeeds) {
  std::set<std::string> sources;
  for (std::uint64_t seed = 0; seed < 200; ++seed) sources.insert(print(generate(seed), 0));
  EXPECT_EQ(sources.size(), 200u);
}

/// Calls `visit` for each expression of a program.
template <typename Visit>
void for_each_expression(Program& program, Visit&& visit) {
  visit_block(program.body, visit);
  for (Variable& v : program.variables) visit_expression(v.initial, visit);
  for (Helper& h : program.helpers) {
    visit_block(h.body, visit);
    visit_expression(h.value, visit);
  }
}

TEST(Generate, OperandsHaveTheTypesTheRulesAskFor) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Program program = generate(seed);
    for_each_expression(program, [&](const Expression& e) {
      if (e.kind != Expression::Kind::rule) return;
      const Rule& rule = rules()[e.index];
      ASSERT_EQ(rule.result, e.type) << rule.text;
      ASSERT_EQ(rule.arguments.size(), e.arguments.size()) << rule.text;
      for (std::size_t n = 0; n < rule.arguments.size(); ++n)
        ASSERT_EQ(rule.arguments[n], e.arguments[n].type) << rule.text;
    });
  }
}

TEST(Generate, UsesEveryRuleAndEveryStatement) {
  std::set<std::uint32_t> used_rules;
  std::set<Expression::Kind> expressions;
  std::set<Statement::Kind> statements;
  const auto note = [&](const auto& self, const std::vector<Statement>& block) -> void {
    for (const Statement& s : block) {
      statements.insert(s.kind);
      for (const auto& inner : s.blocks) self(self, inner);
    }
  };
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Program program = generate(seed);
    note(note, program.body);
    for_each_expression(program, [&](const Expression& e) {
      expressions.insert(e.kind);
      if (e.kind == Expression::Kind::rule) used_rules.insert(e.index);
    });
  }
  EXPECT_EQ(used_rules.size(), rules().size());
  EXPECT_EQ(expressions.size(), 8u);
  EXPECT_EQ(statements.size(), 10u);
}

}  // namespace
}  // namespace margay::fuzz
