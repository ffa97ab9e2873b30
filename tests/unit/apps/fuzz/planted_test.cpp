// A device with a bug: the fuzzer has to find it and make it small.
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "apps/fuzz/programs/print.h"
#include "apps/fuzz/runner/campaign.h"
#include "gpu/gfx942/gfx942.h"
#include "isa/decoder.h"

namespace margay::fuzz {
namespace {

/// The executable sections of a code object.
std::vector<std::span<std::byte>> code_of(std::vector<std::byte>& elf) {
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof header);
  std::vector<std::span<std::byte>> out;
  for (unsigned n = 0; n < header.e_shnum; ++n) {
    Elf64_Shdr section;
    std::memcpy(&section, elf.data() + header.e_shoff + n * sizeof section, sizeof section);
    if ((section.sh_flags & SHF_EXECINSTR) != 0)
      out.push_back(std::span(elf).subspan(section.sh_offset, section.sh_size));
  }
  return out;
}

/// Gives each 32-bit VOP2 instruction `mnemonic` another opcode.
void change_opcode(std::vector<std::byte>& elf, std::string_view mnemonic, std::uint32_t opcode) {
  auto decoder = isa::Decoder::create(kGfx942);
  ASSERT_TRUE(decoder.has_value());
  for (const std::span<std::byte> code : code_of(elf)) {
    for (std::size_t at = 0; at + 4 <= code.size();) {
      const auto encoded = (*decoder)->decode(code.subspan(at), at);
      if (encoded && encoded->mnemonic == mnemonic && encoded->format == isa::Format::vop2) {
        auto word = static_cast<std::uint32_t>(encoded->word);
        word = (word & ~(0x3fu << 25)) | opcode << 25;
        std::memcpy(code.data() + at, &word, sizeof word);
      }
      at += encoded ? encoded->size_bytes : 4;
    }
  }
}

class Planted : public testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        std::filesystem::path(testing::TempDir()) / fmt::format("margay-fuzz-planted-{}", getpid());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  CampaignResult run(std::string_view mnemonic, std::uint32_t opcode) {
    CampaignSettings settings;
    settings.seed = 3;
    settings.cases = 128;
    settings.directory = directory_;
    if (!mnemonic.empty())
      settings.tamper = [=](std::vector<std::byte>& elf) { change_opcode(elf, mnemonic, opcode); };
    auto result = run_campaign(settings, {}, [](const CampaignResult&) {});
    EXPECT_TRUE(result.has_value()) << result.error().text();
    return std::move(*result);
  }
  std::filesystem::path directory_;
};

TEST_F(Planted, NothingIsFoundWhereNothingIs) {
  const CampaignResult result = run("", 0);
  EXPECT_FALSE(result.failure.has_value());
  EXPECT_EQ(result.cases, 128u);
}

// Opcodes: MI300 ISA guide, table of VOP2 opcodes.
TEST_F(Planted, OrInsteadOfExclusiveOr) {
  const CampaignResult result = run("v_xor_b32", 0x14);
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_LE(count_statements(result.failure->shrunk.program), 3u)
      << print(result.failure->shrunk.program, 0);
  EXPECT_LT(count_statements(result.failure->shrunk.program),
            count_statements(result.failure->original));
  ASSERT_TRUE(result.failure->outcome.difference.has_value());
  EXPECT_NE(result.failure->outcome.difference->device, result.failure->outcome.difference->host);
}

TEST_F(Planted, GreatestInsteadOfLeast) {
  const CampaignResult result = run("v_min_f32", 0x0b);
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_LE(count_statements(result.failure->shrunk.program), 3u)
      << print(result.failure->shrunk.program, 0);
}

TEST_F(Planted, TheReportSaysWhatAReaderNeeds) {
  const CampaignResult result = run("v_xor_b32", 0x14);
  ASSERT_TRUE(result.failure.has_value());
  const auto compiler = Compiler::create(directory_);
  ASSERT_TRUE(compiler.has_value());
  const std::string text = describe(*result.failure, 3, *compiler);
  for (const std::string& part :
       {fmt::format("case {} of seed 3", result.failure->number), std::string("device 0x"),
        std::string("host   0x"), std::string("KERNEL k0("), std::string("inputs of work-item"),
        fmt::format("margay fuzz --seed 3 --first {} --cases 1", result.failure->number)})
    EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
}

}  // namespace
}  // namespace margay::fuzz
