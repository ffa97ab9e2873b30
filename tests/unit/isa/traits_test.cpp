// What rows say of their instructions, held against the ISA's own naming: the operation and the
// types are spelled in a mnemonic. A row whose traits were forgotten, or copied from its neighbour,
// fails here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "exec/instructions/all_rows.h"
#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "gpu/matrix_shapes.h"
#include "isa/control_flow.h"

namespace margay {
namespace {

bool matches(std::string_view mnemonic, const char* pattern) {
  return std::regex_match(std::string(mnemonic), std::regex(pattern));
}

template <typename F>
void for_vector_rows(F&& visit) {
  std::size_t rows = 0;
  row_table({}, default_gpu().arch())->for_each([&](const Row& row) {
    if (row.instruction_class != InstructionClass::valu) return;
    ++rows;
    visit(row, row.mnemonic);
  });
  EXPECT_GT(rows, 480u);
}

struct Named {
  Operation operation;
  const char* pattern;
};
// "f" is a format of floats; "_legacy" and "pk_" change nothing of what is computed.
constexpr Named kOperations[] = {
    {Operation::convert, "v_cvt_.*"},
    {Operation::transcendental, "v_(rcp|rcp_iflag|rsq|sqrt|exp|log|sin|cos)(_legacy)?_f.*"},
    {Operation::dot, "v_dot.*"},
    {Operation::add, "v_(pk_)?(add|sub|subrev)_f.*"},
    {Operation::multiply, "v_(pk_)?mul(_legacy)?_f.*"},
    {Operation::multiply_add, "v_(pk_)?fma(c|mk|ak|_legacy|_mix|_mixlo|_mixhi)?_f.*"},
    {Operation::multiply_then_add, "v_(mad|mac|madmk|madak)(_legacy)?_f.*"},
    {Operation::min_max, "v_(pk_)?(min|max|min3|max3|med3)_f.*"},
    {Operation::of_bits, "v_(cmpx?_class_f.*|cndmask_b32)"},
};

TEST(Traits, OperationIsTheOneInTheName) {
  std::set<Operation> seen;
  for_vector_rows([&](const Row& row, std::string_view name) {
    const auto found = std::ranges::find_if(
        kOperations, [&](const Named& named) { return matches(name, named.pattern); });
    const Operation expected = found == std::end(kOperations) ? Operation::other : found->operation;
    EXPECT_EQ(row.operation, expected) << name;
    seen.insert(row.operation);
  });
  EXPECT_EQ(seen.size(), std::size(kOperations) + 1);
}

TEST(Traits, NumberIsTheFirstTypeInTheName) {
  for_vector_rows([](const Row& row, std::string_view name) {
    // Conversions are counted as such, and v_cndmask_b32 takes the signs of f32.
    if (row.operation == Operation::convert || row.operation == Operation::of_bits) return;
    std::smatch found;
    const std::string text(name);
    const bool is_typed = std::regex_search(text, found, std::regex("_([fiu])(16|32|64)(?=_|$)"));
    NumberType expected = NumberType::none;
    if (is_typed && found[1] == "f")
      expected = found[2] == "16"   ? NumberType::f16
                 : found[2] == "32" ? NumberType::f32
                                    : NumberType::f64;
    else if (is_typed && found[2] != "16")
      expected = found[2] == "32" ? NumberType::i32 : NumberType::i64;
    // The first type is the result's: not a number if bits or bytes precede it.
    if (matches(name, "v_(\\w+_)?(b32|b64|u8)_.*")) expected = NumberType::none;
    EXPECT_EQ(static_cast<int>(row.number), static_cast<int>(expected)) << name;
  });
}

TEST(Traits, PassesAreFourOfTranscendentalsAndTheShapesOfMatrices) {
  row_table({}, default_gpu().arch())->for_each([](const Row& row) {
    const unsigned expected = row.shape != nullptr ? gfx942_passes(*row.shape)
                              : row.operation == Operation::transcendental ? 4
                                                                           : 1;
    EXPECT_EQ(row.passes, expected) << row.mnemonic;
  });
}

TEST(Traits, RoundingIsModesUnlessTheNameSaysOther) {
  for_vector_rows([](const Row& row, std::string_view name) {
    const FloatUse& use = row.float_use;
    FloatRounding expected = rounding_of(use.result);
    if (row.operation == Operation::transcendental || row.operation == Operation::dot ||
        matches(name, "v_(rndne|floor|ceil|trunc|cvt_pkrtz)_.*"))
      expected = FloatRounding::nearest;
    // Floats made into integers of the width they are named for, by the field of the float.
    if (matches(name, "v_cvt_(pk)?norm_.*|v_cvt_pk(accum)?_u8_.*"))
      expected = name.ends_with("f16") ? FloatRounding::other : FloatRounding::single;
    EXPECT_EQ(static_cast<int>(use.rounding), static_cast<int>(expected)) << name;
    EXPECT_EQ(use.fp8_largest != 0, matches(name, "v_cvt_(pk|sr)_[fb](p8|f8)_f32")) << name;
  });
}

TEST(Traits, OperandFormsAreThoseInTheName) {
  for_vector_rows([](const Row& row, std::string_view name) {
    EXPECT_EQ(row.literal == Literal::source1, matches(name, "v_(fma|mad)mk_.*")) << name;
    EXPECT_EQ(row.literal == Literal::source2, matches(name, "v_(fma|mad)ak_.*")) << name;
    EXPECT_EQ(row.packed == PackedForm::halves, matches(name, "v_pk_.*16")) << name;
    EXPECT_EQ(row.packed == PackedForm::words, matches(name, "v_pk_.*_f32")) << name;
    EXPECT_EQ(row.packed == PackedForm::moves, matches(name, "v_pk_mov_b32")) << name;
    EXPECT_EQ(is_mix(row.packed), matches(name, "v_fma_mix.*")) << name;
    EXPECT_EQ(row.packed_twin == PackedTwin::exists,
              matches(name, "v_(add|sub|subrev|mul|fma|fmac|fmamk|fmaak)_f32"))
        << name;
    EXPECT_EQ(row.byte_floats, matches(name, "v_cvt_(pk_)?f32_(fp8|bf8)")) << name;
    EXPECT_EQ(row.lane != LaneOperation::none,
              matches(name, "v_(read|write|readfirst)lane_.*|v_mbcnt_.*|v_swap_.*|v_accvgpr_.*"))
        << name;
    EXPECT_EQ(is_lane_move(row), matches(name, "v_(read|write|readfirst)lane_.*")) << name;
    EXPECT_EQ(row.definedness.order == Order::reversed, matches(name, "v_(lshl|lshr|ashr)rev_.*"))
        << name;
    EXPECT_EQ(row.definedness.looked_at[0] == 0xff'ffff, matches(name, "v_.*[iu]24")) << name;
  });
}

TEST(Traits, ComparisonsAreThoseInTheName) {
  constexpr std::array<std::string_view, 9> kRelations = {"f",  "t",  "eq", "ne", "lg",
                                                          "lt", "le", "gt", "ge"};
  constexpr std::array kComparisons = {
      Comparison::none,        Comparison::none,  Comparison::equal,
      Comparison::equal,       Comparison::equal, Comparison::below,
      Comparison::below_equal, Comparison::above, Comparison::above_equal,
  };
  std::size_t rows = 0;
  row_table({}, default_gpu().arch())->for_each([&](const Row& row) {
    std::smatch found;
    const std::string name(row.mnemonic);
    if (!std::regex_match(name, found, std::regex("[vs]_cmp[xk]?_([a-z]+)_([iu])(16|32|64)")))
      return;
    ++rows;
    const std::string relation = found[1];
    const auto at = std::ranges::find(kRelations, relation);
    ASSERT_NE(at, kRelations.end()) << name;
    const Comparison expected =
        kComparisons[static_cast<std::size_t>(std::distance(kRelations.begin(), at))];
    EXPECT_EQ(static_cast<int>(row.definedness.comparison), static_cast<int>(expected)) << name;
    EXPECT_EQ(row.definedness.rule,
              expected == Comparison::none ? BitRule::defined : BitRule::compare)
        << name;
    EXPECT_EQ(row.definedness.is_signed, expected != Comparison::none && found[2] == "i") << name;
  });
  EXPECT_GT(rows, 100u);
}

TEST(RowTableDeathTest, TwoRowsForOneInstructionEndTheProcess) {
  RowTable table;
  Row row;
  row.mnemonic = "s_nop";
  table.add(row);
  row.mnemonic = "s_sleep";
  table.add(row);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_DEATH(table.add(row), "two rows for the instruction s_sleep");
}

TEST(ControlFlow, IsWhatRowsSay) {
  std::size_t branches = 0;
  row_table({}, default_gpu().arch())->for_each([&](const Row& row) {
    const isa::ControlFlow flow = isa::control_flow(row.mnemonic);
    const bool is_branch = row.instruction_class == InstructionClass::branch;
    branches += is_branch;
    EXPECT_EQ(flow.is_branch, is_branch) << row.mnemonic;
    EXPECT_EQ(flow.has_displacement, has_displacement(row)) << row.mnemonic;
    EXPECT_EQ(flow.ends_block, (is_branch && row.flow != Flow::call) || row.flow == Flow::end)
        << row.mnemonic;
    EXPECT_EQ(flow.is_barrier, row.flow == Flow::barrier) << row.mnemonic;
    EXPECT_EQ(flow.is_wait, row.pause == Pause::counters) << row.mnemonic;
  });
  EXPECT_GT(branches, 15u);
}

}  // namespace
}  // namespace margay
