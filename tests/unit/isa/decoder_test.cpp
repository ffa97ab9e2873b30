// The decoder for another processor than the device's: gfx950, which is decoded and not executed
// yet.
#include "isa/decoder.h"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "code_object/code_object.h"
#include "code_object/elf/elf_image.h"
#include "gpu/gfx942/gfx942.h"

namespace margay::isa {
namespace {

using testing::IsSupersetOf;

/// What the decoder looks at is the processor's name.
Architecture architecture(std::string_view processor) {
  Architecture named = kGfx942;
  named.processor = processor;
  return named;
}

std::unique_ptr<Decoder> decoder_for(std::string_view processor) {
  auto made = Decoder::create(architecture(processor));
  EXPECT_TRUE(made) << made.error().what;
  return std::move(*made);
}

struct Golden {
  std::array<std::uint32_t, 4> words;
  unsigned size;
  std::string_view mnemonic;
};
// Words as llvm-mc 22 writes them for the lines of LLVM's test gfx950_asm_features.s.
constexpr auto kGfx950 = std::to_array<Golden>({
    {{0x7e0ab101}, 4, "v_prng_b32"},
    {{0x7e0ab501}, 4, "v_permlane32_swap_b32"},
    {{0xd2340405, 0xe40e0501}, 8, "v_bitop3_b32"},
    {{0xd3b50000, 0x04021104}, 8, "v_mfma_f32_16x16x32_bf16"},
    {{0xd9c60010, 0x02000001}, 8, "ds_read_b64_tr_b16"},
    {{0xddf48010, 0x007f0002}, 8, "global_load_lds_dwordx4"},
    {{0xd3ac0800, 0x10023318, 0xd3ad0800, 0x04521904}, 16, "v_mfma_scale_f32_16x16x128_f8f6f4"},
});

TEST(Decoder, KnowsTheInstructionsOfGfx950) {
  const auto newer = decoder_for("gfx950");
  const auto ours = decoder_for("gfx942");
  for (const Golden& golden : kGfx950) {
    const auto code = std::as_bytes(std::span(golden.words));
    const auto encoded = newer->decode(code, 0);
    ASSERT_TRUE(encoded) << golden.mnemonic;
    EXPECT_EQ(encoded->mnemonic, golden.mnemonic);
    EXPECT_EQ(encoded->size_bytes, golden.size) << golden.mnemonic;
    const auto unknown = ours->decode(code, 0);
    ASSERT_FALSE(unknown) << golden.mnemonic;
    EXPECT_EQ(unknown.error().what, "these bytes are not a gfx942 instruction");
  }
}

TEST(Decoder, TakesAllSixteenBytesOfAScaledMfma) {
  const auto code = std::as_bytes(std::span(kGfx950.back().words));
  const auto encoded = decoder_for("gfx950")->decode(code, 0);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->word, 0x10023318'd3ac0800u);
  EXPECT_EQ(encoded->second, 0x04521904'd3ad0800u);
  EXPECT_EQ(encoded->literal, 0u) << "it has none";
  // Cut off behind the scales it is not that instruction.
  const auto half = decoder_for("gfx950")->decode(code.first(8), 0);
  EXPECT_TRUE(!half || half->size_bytes <= 8);
}

TEST(Decoder, ReadsACodeObjectForGfx950ThatTheDeviceRefuses) {
  std::ifstream file(MARGAY_GFX950_CODE_OBJECT, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  auto code = code_object::find_elf_section(bytes, ".text");
  ASSERT_TRUE(code) << code.error().what;
  const auto decoder = decoder_for("gfx950");
  std::set<std::string_view> met;
  // Behind s_endpgm come words that pad.
  while (!code->empty() && !met.contains("s_endpgm")) {
    const auto encoded = decoder->decode(*code, 0);
    ASSERT_TRUE(encoded) << encoded.error().what << " behind " << met.size() << " mnemonics";
    met.insert(encoded->mnemonic);
    *code = code->subspan(encoded->size_bytes);
  }
  EXPECT_THAT(met, IsSupersetOf({"v_mfma_f32_16x16x32_bf16", "v_mfma_scale_f32_16x16x128_f8f6f4",
                                 "ds_read_b64_tr_b16", "v_prng_b32", "s_endpgm"}));

  const auto refused = CodeObject::parse({bytes.begin(), bytes.end()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_architecture);
  EXPECT_EQ(refused.error().what,
            "The code object is for gfx950; the virtual device runs gfx942:sramecc+:xnack- only.");
}

TEST(Decoder, RefusesALiteralThatIsCutOff) {
  constexpr std::uint32_t kWords[] = {0x680a02ff, 0x12345678};  // v_add_u32 v5, 0x12345678, v1
  const auto code = std::as_bytes(std::span(kWords));
  for (const std::string_view processor : {"gfx942", "gfx950"}) {
    const auto decoder = decoder_for(processor);
    const auto whole = decoder->decode(code, 0);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->literal, 0x12345678u);
    EXPECT_EQ(decoder->disassemble(code, 0), "v_add_u32_e32 v5, 0x12345678, v1");
    EXPECT_FALSE(decoder->decode(code.first(4), 0));
    EXPECT_EQ(decoder->disassemble(code.first(4), 0), "<not an instruction>");
  }
}

TEST(Decoder, RefusesAProcessorThatLlvmDoesNotKnow) {
  const auto decoder = Decoder::create(architecture("gfx9999"));
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().what, "LLVM has no AMD processor gfx9999");
}

}  // namespace
}  // namespace margay::isa
