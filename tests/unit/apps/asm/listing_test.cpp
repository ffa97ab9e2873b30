// The instructions of a function: addresses, kinds, named branch targets, source lines.
#include "apps/asm/listing.h"

#include <cstring>
#include <random>

#include "apps/asm/text.h"
#include "gpu/gfx942/gfx942.h"
#include "listing_image.h"

namespace margay::assembly {
namespace {

const ListedInstruction& find(const Listing& listing, std::string_view mnemonic) {
  for (const ListedInstruction& line : listing.instructions) {
    if (line.mnemonic == mnemonic) return line;
  }
  ADD_FAILURE() << "no " << mnemonic;
  return listing.instructions.front();
}

TEST(Listing, HoldsTheWholeFunctionAndNothingElse) {
  const Listing all = listing();
  ASSERT_EQ(all.instructions.size(), 13U);
  EXPECT_EQ(all.begin, listing_kernel().entry_vaddr);
  EXPECT_EQ(all.end - all.begin, code_bytes(listing_object(), all.begin));
  std::uint64_t at = all.begin;
  for (const ListedInstruction& line : all.instructions) {
    EXPECT_EQ(line.vaddr, at);
    at += 4 * line.dwords.size();
  }
  EXPECT_EQ(at, all.end);
  EXPECT_EQ(all.instructions.back().text, "s_endpgm");
}

TEST(Listing, KnowsTheKindOfEachInstruction) {
  const Listing all = listing();
  EXPECT_EQ(find(all, "s_mov_b32").kind, LineKind::salu);
  EXPECT_EQ(find(all, "v_mfma_f32_16x16x16_bf16").kind, LineKind::mfma);
  EXPECT_EQ(find(all, "ds_read_b64").kind, LineKind::lds);
  EXPECT_EQ(find(all, "s_waitcnt").kind, LineKind::wait);
  EXPECT_EQ(find(all, "s_barrier").kind, LineKind::barrier);
  EXPECT_EQ(find(all, "global_load_dword").kind, LineKind::vmem);
  EXPECT_EQ(find(all, "s_load_dword").kind, LineKind::smem);
  EXPECT_EQ(find(all, "s_cbranch_scc1").kind, LineKind::branch);
  EXPECT_EQ(find(all, "s_endpgm").kind, LineKind::other);
}

TEST(Listing, NamesBranchTargetsInAddressOrder) {
  const Listing all = listing();
  const ListedInstruction& mfma = find(all, "v_mfma_f32_16x16x16_bf16");
  const ListedInstruction& add = find(all, "s_add_u32");
  EXPECT_EQ(mfma.label, 0);
  EXPECT_EQ(add.label, 1);
  const ListedInstruction& forward = find(all, "s_cbranch_scc1");
  const ListedInstruction& backward = find(all, "s_cbranch_scc0");
  EXPECT_EQ(forward.text, "s_cbranch_scc1 L1");
  EXPECT_EQ(forward.target, add.vaddr);
  EXPECT_EQ(backward.text, "s_cbranch_scc0 L0");
  EXPECT_EQ(backward.target, mfma.vaddr);
  ASSERT_EQ(all.label_sources.size(), 2U);
  EXPECT_EQ(all.label_sources[0], std::vector{backward.vaddr});
  EXPECT_EQ(all.label_sources[1], std::vector{forward.vaddr});
}

TEST(Listing, CallsNameTheFunctionAndDoNotEndABlock) {
  const Listing all = listing();
  const ListedInstruction& call = find(all, "s_call_b64");
  EXPECT_EQ(call.text, "s_call_b64 s[30:31], helper");
  EXPECT_FALSE(call.ends_block);
  EXPECT_TRUE(find(all, "s_cbranch_scc0").ends_block);
  EXPECT_TRUE(find(all, "s_endpgm").ends_block);
}

TEST(Listing, KeepsBytesThatAreNoInstruction) {
  const Listing all = listing();
  const ListedInstruction& line = all.instructions[11];
  EXPECT_EQ(line.kind, LineKind::invalid);
  EXPECT_EQ(line.text, ".long 0xffffffff");
  EXPECT_EQ(line.dwords, std::vector{0xffffffffU});
}

TEST(Listing, DamagedImagesAreRefusedOrListed) {
  std::ifstream file(MARGAY_LISTING_IMAGE, std::ios::binary);
  const std::vector<char> good{std::istreambuf_iterator<char>(file), {}};
  const auto decoder = isa::Decoder::create(kGfx942);
  ASSERT_TRUE(decoder);
  std::mt19937 random(7);
  int listed = 0;
  for (int n = 0; n < 1500; ++n) {
    std::vector<std::byte> bad(good.size());
    std::memcpy(bad.data(), good.data(), good.size());
    for (int damage = 0; damage <= n % 4; ++damage) {
      bad[random() % bad.size()] = static_cast<std::byte>(random());
    }
    const auto object = CodeObject::parse(std::move(bad));
    // Larger images are the loader's affair, and take long to clear.
    if (!object || object->image_bytes() > 1u << 20) continue;
    std::vector<std::byte> image(object->image_bytes());
    if (!object->load(image, 0)) continue;
    for (const Kernel& kernel : object->kernels()) {
      SourceText sources;
      const Listing all = list_function(*object, image, kernel.entry_vaddr, **decoder);
      EXPECT_LE(all.end, image.size());
      const TextOptions options{.colour = true, .source = true};
      EXPECT_FALSE(kernel_text({&*object, &kernel}, options).empty());
      EXPECT_FALSE(listing_text(all, sources, options).empty());
      ++listed;
    }
  }
  EXPECT_GT(listed, 300);
}

TEST(Listing, KnowsTheSourceLines) {
  const Listing all = listing();
  ASSERT_FALSE(all.instructions.front().frames.empty());
  EXPECT_EQ(all.instructions.front().frames.front().line, line_of("MARK: first"));
  EXPECT_EQ(all.instructions.back().frames.front().line, line_of("MARK: end"));
}

}  // namespace
}  // namespace margay::assembly
