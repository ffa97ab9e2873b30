// `margay asm` as text and as JSON.
#include "apps/asm/text.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "apps/asm/json.h"
#include "listing_image.h"

namespace margay::assembly {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const TextOptions kPlain{.colour = false, .source = false};

KernelPlace place() { return {&listing_object(), &listing_kernel()}; }

TEST(KernelText, HasAllResources) {
  const std::string text = kernel_text(place(), kPlain);
  EXPECT_THAT(text, HasSubstr("kernel list<float>(int, float*)\nsymbol _Z4listIfEviPT_\n"));
  EXPECT_THAT(text, HasSubstr("gfx942, code object v5\n"));
  EXPECT_THAT(text, ContainsRegex("VGPRs +200  per lane: 136 architected, 64 accumulation; 200 "
                                  "allocated of 512\n"));
  EXPECT_THAT(text, ContainsRegex("SGPRs +38 "));
  EXPECT_THAT(text, ContainsRegex("LDS +40960 "));
  EXPECT_THAT(text, ContainsRegex("scratch +16 "));
  EXPECT_THAT(text, ContainsRegex("spills +3  3 VGPRs, 0 SGPRs\n"));
  EXPECT_THAT(text, ContainsRegex("code +68 "));
  EXPECT_THAT(text, ContainsRegex("occupancy +2  waves per SIMD that the registers allow\n"));
  EXPECT_THAT(text, HasSubstr("1 workgroup of 256 work-items (4 waves) per CU, 1 wave per SIMD in "
                              "them; limited by LDS\n"));
}

TEST(KernelText, TakesArgumentTypesFromTheName) {
  const std::string text = kernel_text(place(), kPlain);
  EXPECT_THAT(text, ContainsRegex("  +0 +4  by_value +int\n"));
  EXPECT_THAT(text, ContainsRegex("  +8 +8  global_buffer +float\\* out\n"));
  EXPECT_THAT(text, HasSubstr("  hidden: block_count_x at 16\n"));
}

TEST(OverviewText, HasALinePerKernel) {
  const KernelPlace places[] = {place(), place()};
  const std::string text = overview_text(places, kPlain);
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(text, ContainsRegex("  200 +64 +38 +40960 +16 +3 +68 +256 +2 +1  LDS +"
                                  "list<float>\\(int, float\\*\\)\n"));
}

TEST(ListingText, SeparatesBlocksAndNamesTheirPredecessors) {
  SourceText sources;
  const Listing all = listing();
  const std::string text = listing_text(all, sources, kPlain);
  EXPECT_THAT(text,
              ContainsRegex("s_mov_b32 s4, 0\n\nL0:  ; from [0-9a-f]+ \\(loop\\)\n +[0-9a-f]+  "
                            "v_mfma"));
  EXPECT_THAT(text, ContainsRegex("s_cbranch_scc1 L1\n\n +[0-9a-f]+  s_call_b64"));
  EXPECT_THAT(text, ContainsRegex("\nL1:  ; from [0-9a-f]+\n"));
  EXPECT_THAT(text, HasSubstr(".long 0xffffffff  ; not an instruction\n"));
  EXPECT_THAT(text, HasSubstr("; 13 instructions, 68 bytes\n"));
  EXPECT_THAT(text, Not(HasSubstr("listing.s")));
}

TEST(ListingText, InterleavesSourceLines) {
  SourceText sources;
  Listing all = listing();
  // The debug information holds a relative name; the test may run anywhere.
  for (ListedInstruction& line : all.instructions) {
    for (SourceFrame& frame : line.frames) frame.file = MARGAY_LISTING_SOURCE;
  }
  const std::string text = listing_text(all, sources, {.colour = false, .source = true});
  EXPECT_THAT(text, HasSubstr("; listing.s is " MARGAY_LISTING_SOURCE "\n"));
  EXPECT_THAT(text,
              ContainsRegex("; listing.s:[0-9]+ list\n; +[0-9]+ \\|         s_mov_b32 s4, 0  // "
                            "MARK: first\n +[0-9a-f]+  s_mov_b32 s4, 0\n"));
}

TEST(ListingText, ShowsWhatWasInlinedIntoWhat) {
  Listing all;
  ListedInstruction line;
  line.dwords = {0};
  line.text = "v_nop";
  line.frames = {{"__get_x", "/usr/include/hip/amd_detail/amd_hip_runtime.h", 263, 1},
                 {"tile::load<4>(float*)", MARGAY_LISTING_SOURCE, 1, 3},
                 {"gemm", "/src/gemm.cpp", 93, 5}};
  all.instructions = {line, line};
  all.instructions[1].frames[0].column = 9;  // the same line: not worth another heading
  SourceText sources;
  const std::string text = listing_text(all, sources, {.colour = false, .source = true});
  EXPECT_THAT(text, HasSubstr("; amd_hip_runtime.h:263 __get_x < listing.s:1 load < gemm.cpp:93 "
                              "gemm\n;     1 | // A hand-written kernel"));
  EXPECT_EQ(text.find("__get_x"), text.rfind("__get_x"));
}

TEST(ListingText, IsColouredOnRequest) {
  SourceText sources;
  EXPECT_THAT(listing_text(listing(), sources, kPlain), Not(HasSubstr("\x1b")));
  const std::string text = listing_text(listing(), sources, {.colour = true, .source = false});
  EXPECT_THAT(text, ContainsRegex("\x1b\\[35mv_mfma[^\n]*\x1b\\[0m\n"));
  EXPECT_THAT(text, ContainsRegex("\x1b\\[31ms_barrier"));
}

TEST(Json, HasTheSameFacts) {
  const Listing all = listing();
  const KernelReport reports[] = {{place(), &all}};
  const auto json = nlohmann::json::parse(json_text("some.hsaco", reports));
  EXPECT_EQ(json["file"], "some.hsaco");
  const auto& kernel = json["kernels"][0];
  EXPECT_EQ(kernel["name"], "list<float>(int, float*)");
  EXPECT_EQ(kernel["symbol"], "_Z4listIfEviPT_");
  EXPECT_EQ(kernel["resources"]["vgprs"], 200);
  EXPECT_EQ(kernel["resources"]["lds_bytes"], 40960);
  EXPECT_EQ(kernel["occupancy"]["workgroups_per_cu"], 1);
  EXPECT_EQ(kernel["occupancy"]["limits"], nlohmann::json::array({"LDS"}));
  EXPECT_EQ(kernel["arguments"][1]["name"], "out");
  ASSERT_EQ(kernel["instructions"].size(), 13U);
  const auto& mfma = kernel["instructions"][1];
  EXPECT_EQ(mfma["mnemonic"], "v_mfma_f32_16x16x16_bf16");
  EXPECT_EQ(mfma["class"], "MFMA");
  EXPECT_EQ(mfma["label"], "L0");
  EXPECT_EQ(kernel["instructions"][10]["target"], mfma["pc"]);
  EXPECT_EQ(kernel["instructions"][0]["source"][0]["line"], line_of("MARK: first"));
}

TEST(Json, NamesThatAreNotUtf8) {
  Kernel kernel = listing_kernel();
  kernel.name = "bad\xff";
  const KernelReport reports[] = {{{&listing_object(), &kernel}, nullptr}};
  const auto json = nlohmann::json::parse(json_text("x", reports));
  EXPECT_EQ(json["kernels"][0]["symbol"], "bad\xef\xbf\xbd");
  EXPECT_FALSE(json["kernels"][0].contains("instructions"));
}

}  // namespace
}  // namespace margay::assembly
