// What the fuzzer found, one case each, with the options it was found with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "apps/fuzz/programs/rules.h"
#include "apps/fuzz/runner/run.h"

namespace margay::fuzz {
namespace {

std::uint32_t rule(std::string_view text, Type result) {
  for (std::uint32_t n = 0; n < rules().size(); ++n)
    if (rules()[n].text == text && rules()[n].result == result) return n;
  ADD_FAILURE() << text;
  return 0;
}
Expression constant(Type type) { return {.kind = Expression::Kind::constant, .type = type}; }

Outcome run(const Program& program, std::vector<std::string> options) {
  const auto directory =
      std::filesystem::path(testing::TempDir()) / fmt::format("margay-fuzz-found-{}", getpid());
  std::filesystem::create_directories(directory);
  auto runner = Runner::create({.directory = directory});
  EXPECT_TRUE(runner.has_value());
  BuildOptions build;
  build.device = std::move(options);
  auto outcomes = runner->run(std::span(&program, 1), build);
  EXPECT_TRUE(outcomes.has_value()) << outcomes.error().text();
  std::filesystem::remove_all(directory);
  return outcomes->front();
}

// v_pk_add_f32 v[a:b], v[c:d], 0 neg_lo:[1,1] neg_hi:[1,1]: the upper half of the constant 0.
TEST(Found, PackedF32WithTheConstantZero) {
  Program program;
  Expression fma{
      .kind = Expression::Kind::rule,
      .type = Type::f32x2,
      .index = rule("fused({0}, -{1}.yx, {2})", Type::f32x2),
      .arguments = {constant(Type::f32x2), constant(Type::f32x2), constant(Type::f32x2)}};
  program.variables.push_back({.type = Type::f32x2, .initial = fma});
  program.results.push_back(0);
  const Outcome outcome = run(program, {"-O0"});
  EXPECT_FALSE(outcome.device_error.has_value()) << outcome.device_error->text();
  EXPECT_TRUE(outcome.passed());
}

// v_pk_lshlrev_b16 v0, s2, -2.0 op_sel:[0,1]: -2.0 is 0xc0000000 there, and 0xc000 its upper half.
TEST(Found, PackedIntegersWithAFloatConstant) {
  Program program;
  Expression input{.kind = Expression::Kind::input, .type = Type::u32};
  Expression count{.kind = Expression::Kind::rule,
                   .type = Type::u16x2,
                   .index = rule("bits<u16x2>({0})", Type::u16x2),
                   .arguments = {input}};
  Expression shifted{.kind = Expression::Kind::rule,
                     .type = Type::u16x2,
                     .index = rule("({0} << ({1} & (u16x2)15))", Type::u16x2),
                     .arguments = {constant(Type::u16x2), count}};
  shifted.arguments[0].bits = 0xc000;
  program.variables.push_back({.type = Type::u16x2, .initial = shifted});
  program.results.push_back(0);
  const Outcome outcome = run(program, {"-O1"});
  EXPECT_FALSE(outcome.device_error.has_value());
  EXPECT_TRUE(outcome.passed());
}

// v_pack_b32_f16 v0, -v5, |v0|
TEST(Found, PackedF16WithSigns) {
  Program program;
  const auto input = [](unsigned column) {
    return Expression{.kind = Expression::Kind::input, .type = Type::f16, .index = column};
  };
  Expression pair{.kind = Expression::Kind::rule,
                  .type = Type::f16x2,
                  .index = rule("f16x2{-opaque({0}), absolute(opaque({1}))}", Type::f16x2),
                  .arguments = {input(0), input(1)}};
  Expression product{.kind = Expression::Kind::rule,
                     .type = Type::f16x2,
                     .index = rule("({0} * {1})", Type::f16x2),
                     .arguments = {pair, constant(Type::f16x2)}};
  product.arguments[1].bits = 0x3c00;
  program.variables.push_back({.type = Type::f16x2, .initial = product});
  program.results.push_back(0);
  const Outcome outcome = run(program, {"-O1"});
  EXPECT_FALSE(outcome.device_error.has_value()) << outcome.device_error->text();
  EXPECT_TRUE(outcome.passed());
}

}  // namespace
}  // namespace margay::fuzz
