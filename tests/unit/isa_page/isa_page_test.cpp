// The list of gfx942's instructions and the page made of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>

#include "assembler.h"
#include "enumerate.h"
#include "exec/instructions/all_rows.h"
#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "gpu/matrix_shapes.h"
#include "isa/decoder.h"
#include "page.h"

namespace margay::isa_page {
namespace {

using isa::Format;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

const InstructionList& instructions() {
  static const InstructionList list = [] {
    auto listed = list_instructions();
    EXPECT_TRUE(listed) << listed.error().text();
    return *listed;
  }();
  return list;
}

TEST(InstructionList, RandomOperandsFindNothingMore) {
  const auto more = list_instructions(50);
  ASSERT_TRUE(more);
  EXPECT_EQ(*more, instructions());
}

TEST(InstructionList, HasTheInstructionsOfEachFormat) {
  EXPECT_THAT(instructions().at("s_mov_b32"), ElementsAre(Format::sop1));
  EXPECT_THAT(instructions().at("s_movk_i32"), ElementsAre(Format::sopk));
  EXPECT_THAT(instructions().at("v_add_f32"), ElementsAre(Format::vop2, Format::vop3));
  EXPECT_THAT(instructions().at("v_cmp_lt_f32"), ElementsAre(Format::vopc, Format::vop3));
  EXPECT_THAT(instructions().at("v_pk_fma_f32"), ElementsAre(Format::vop3p));
  EXPECT_THAT(instructions().at("ds_read_b128"), ElementsAre(Format::ds));
  EXPECT_THAT(instructions().at("global_load_lds_dword"), ElementsAre(Format::global));
  EXPECT_THAT(instructions().at("tbuffer_load_format_x"), ElementsAre(Format::mtbuf));
  for (const MfmaShape& shape : kMfmaShapes) {
    EXPECT_TRUE(instructions().contains(std::string(shape.mnemonic))) << shape.mnemonic;
  }
}

TEST(InstructionList, HasNoInstructionOfOtherProcessors) {
  for (const char* mnemonic : {"image_load", "v_mad_f32", "ds_ordered_count", "s_waitcnt_vscnt",
                               "v_mfma_f32_32x32x4bf16", "v_dual_mov_b32"}) {
    EXPECT_FALSE(instructions().contains(mnemonic)) << mnemonic;
  }
}

// The decoder's tables are shared by the processors of a family; the assembler knows which of them
// each instruction is for. It takes them all, as the decoder prints them, with operands of some
// kind.
TEST(InstructionList, TheAssemblerTakesEachInstruction) {
  const auto assembler = Assembler::create();
  ASSERT_TRUE(assembler) << assembler.error().text();
  EXPECT_TRUE(assembler->accepts("v_add_f32 v0, v1, v2"));
  EXPECT_FALSE(assembler->accepts("v_mad_f32 v0, v1, v2, v3")) << "gfx942 has none";
  EXPECT_FALSE(assembler->accepts("s_round_mode 1")) << "gfx942 has none";
  const auto decoder = isa::Decoder::create(kGfx942);
  ASSERT_TRUE(decoder);
  std::set<std::string> refused;
  for (const auto& [mnemonic, formats] : instructions()) refused.insert(mnemonic);
  // What has few valid forms: nothing set, GDS, one VGPR, packed operands in order, an AccVGPR.
  constexpr auto kForms = std::to_array<std::uint64_t>(
      {0, 0x1'0000, 0x100'0000'0000, 0x1c02'0100'0000'4000, 0x1800'0101'0000'4002});
  std::mt19937_64 random(1);
  for (int round = 0; round < 300 && !refused.empty(); ++round) {
    for (const isa::Encoding& encoding : isa::kEncodings) {
      for (std::uint64_t opcode = 0; opcode < std::uint64_t{1} << encoding.opcode_bits; ++opcode) {
        // Few flags; small, aligned registers.
        std::uint64_t operands = random() & random();
        if (round % 2 == 0) operands &= ~0xf801'0101'0000'ff01ull;
        if (round < static_cast<int>(kForms.size())) operands = kForms[round];
        const std::uint64_t word = encoding.fixed(opcode) | (operands & encoding.free_bits());
        std::array<std::byte, 20> code{};
        std::memcpy(code.data(), &word, sizeof word);
        const auto encoded = (*decoder)->decode(code, 0);
        if (!encoded || !refused.contains(std::string(encoded->mnemonic))) continue;
        if (assembler->accepts((*decoder)->disassemble(code, 0)))
          refused.erase(std::string(encoded->mnemonic));
      }
    }
  }
  EXPECT_THAT(refused, IsEmpty());
}

TEST(InstructionList, HasEveryRowOfTheExecutor) {
  std::vector<std::string_view> dead;
  row_table({}, default_gpu().arch())->for_each([&](const Row& row) {
    // Matrix instructions have a second row by their older name, which the decoder does not give.
    if (row.shape != nullptr && row.mnemonic == row.shape->old_mnemonic) return;
    // Two come with whole families of rows, and exist on other processors only.
    if (row.mnemonic == "s_code_end" || row.mnemonic == "buffer_atomic_pk_add_bf16") return;
    if (!instructions().contains(std::string(row.mnemonic))) dead.push_back(row.mnemonic);
  });
  EXPECT_THAT(dead, IsEmpty()) << "these rows can never run";
}

TEST(Exactness, IsToldApart) {
  const RowTable& rows = *row_table({}, default_gpu().arch());
  const auto state = [&](std::string_view mnemonic) {
    return exactness(*rows.find(mnemonic), rows);
  };
  EXPECT_EQ(state("v_add_f32"), "exact");
  EXPECT_EQ(state("v_div_fixup_f32"), "exact");
  EXPECT_EQ(state("v_rcp_f32"), "correctly rounded");
  EXPECT_EQ(state("v_rcp_iflag_f32"), "correctly rounded");
  EXPECT_EQ(state("v_exp_f16"), "correctly rounded");
  EXPECT_EQ(state("v_rsq_f64"), "correctly rounded");
  EXPECT_EQ(state("v_mfma_f32_16x16x16_bf16"), "by mode");
  EXPECT_EQ(state("s_waitcnt"), "no effect");
  EXPECT_EQ(state("s_barrier"), "exact");
  EXPECT_EQ(state("s_memtime"), "host clock");
  EXPECT_EQ(state("s_getreg_b32"), "in part");
  EXPECT_EQ(state("ds_gws_barrier"), "refused");
  EXPECT_EQ(state("s_rfe_b64"), "refused");
  EXPECT_EQ(state("v_cvt_sr_fp8_f32"), "assumed");
  EXPECT_EQ(state("v_cvt_pk_fp8_f32"), "exact");
}

TEST(Page, SaysWhatIsThereAndWhere) {
  const auto page = page_text({{"s_add_u32", {Format::sop2}},
                               {"v_rcp_f32", {Format::vop1, Format::vop3}},
                               {"global_load_dword", {Format::global}},
                               {"s_rfe_b64", {Format::sop1}},
                               {"v_not_an_instruction", {Format::vop3}}},
                              MARGAY_SOURCE_ROOT);
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_THAT(*page,
              HasSubstr("\n3 of 5 instructions are implemented; the other 2 stop the kernel with "
                        "an explanation. Every implemented instruction is exercised by a test.\n"));
  EXPECT_THAT(
      *page, HasSubstr("\n| `s_rfe_b64` | SOP1 | refused |  | src/exec/instructions/flow.cpp |\n"));
  EXPECT_THAT(*page, ContainsRegex("\n\\| `s_add_u32` \\| SOP2 \\| exact \\| [a-z]+/[^|]+ \\| "
                                   "src/isa/gfx942/scalar.h \\|\n"));
  EXPECT_THAT(*page,
              ContainsRegex("\n\\| `v_rcp_f32` \\| VOP1 VOP3 \\| correctly rounded \\| [^|]+ \\| "
                            "src/isa/gfx942/transcendental.h \\|\n"));
  EXPECT_THAT(*page, ContainsRegex("\n\\| `global_load_dword` \\| GLOBAL \\| exact \\| [^|]+ \\| "
                                   "src/exec/instructions/vmem.cpp \\|\n"));
  EXPECT_THAT(*page, HasSubstr("\n| `v_not_an_instruction` | VOP3 | missing |  |  |\n"));
  EXPECT_THAT(*page, HasSubstr("\n| VOP3: vector, three sources or modifiers | 0 | 1 |\n"));
}

TEST(Page, NeedsTheSourceTree) {
  const auto page = page_text(instructions(), "/nothing/there");
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().where, HasSubstr("/nothing/there"));
}

}  // namespace
}  // namespace margay::isa_page
