// Source positions: by hand for the marked lines, and against LLVM's own reader for every
// instruction of every input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "code_object/code_object.h"
#include "inputs.h"
#include "llvm_lines.h"

namespace margay {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

/// All distinct call chains within a function.
std::vector<std::vector<SourceFrame>> chains(const CodeObject& object, std::string_view function) {
  const Symbol& symbol = *object.find_symbol(function);
  std::vector<std::vector<SourceFrame>> out;
  for (std::uint64_t pc = symbol.vaddr; pc < symbol.vaddr + symbol.size_bytes; pc += 4) {
    out.push_back(object.source_at(pc));
  }
  return out;
}

class MarkedLines : public testing::TestWithParam<const char*> {};

TEST_P(MarkedLines, GiveTheInlinedCallChain) {
  const CodeObject object = test::parsed(GetParam());
  const std::uint32_t scaled = test::line_of("kernels.hip", "MARK: scaled");
  const std::uint32_t combine = test::line_of("kernels.hip", "MARK: combine");
  const std::uint32_t saxpy = test::line_of("kernels.hip", "MARK: saxpy");
  std::set<std::uint32_t> columns;
  for (const auto& chain : chains(object, "saxpy")) {
    ASSERT_FALSE(chain.empty());
    for (const SourceFrame& frame : chain) EXPECT_THAT(frame.file, EndsWith("kernels.hip"));
    EXPECT_EQ(chain.back().function, "saxpy");
    if (chain.size() != 3 || chain[0].line != scaled) continue;
    EXPECT_THAT(chain[0].function, HasSubstr("scaled<float>"));
    EXPECT_THAT(chain[1].function, HasSubstr("combine"));
    EXPECT_EQ(chain[1].line, combine);
    EXPECT_EQ(chain[2].line, saxpy);
    EXPECT_GT(chain[0].column, 0u);
    columns.insert(chain[1].column);
  }
  // `  return scaled(in + i, 3.0f) + scaled(in + i + 1, 5.0f);` calls at these columns.
  EXPECT_EQ(columns, (std::set<std::uint32_t>{10, 33}));
}

INSTANTIATE_TEST_SUITE_P(EveryForm, MarkedLines,
                         testing::Values("v4.hsaco", "v5.hsaco", "v6.hsaco", "full_dwarf4.hsaco",
                                         "full_dwarf5.hsaco", "dwarf64.hsaco", "debug_zlib.hsaco",
                                         "debug_zstd.hsaco"));

TEST(SourceLines, DemangleTheKernel) {
  const CodeObject object = test::parsed("v5.hsaco");
  const Kernel& tiled = *object.find_kernel("_Z5tiledILi256EEvPil");
  EXPECT_EQ(object.source_at(tiled.entry_vaddr).back().function, "void tiled<256>(int*, long)");
}

TEST(SourceLines, FollowAssembly) {
  const CodeObject object = test::parsed("plain.hsaco");
  const Symbol& code = *object.find_symbol("store_one");
  const auto frames = object.source_at(code.vaddr + code.size_bytes - 4);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].line, test::line_of("plain.s", "MARK: end"));
  EXPECT_EQ(frames[0].function, "store_one");
  EXPECT_THAT(frames[0].file, EndsWith("plain.s"));
}

TEST(SourceLines, AreEmptyWhereThereIsNothing) {
  const CodeObject object = test::parsed("v5.hsaco");
  EXPECT_TRUE(object.source_at(0).empty());
  EXPECT_TRUE(object.source_at(object.find_symbol("table")->vaddr).empty());
  EXPECT_TRUE(object.source_at(~std::uint64_t{0}).empty());
  const CodeObject stripped = test::parsed("no_debug.hsaco");
  EXPECT_TRUE(stripped.source_at(stripped.find_kernel("saxpy")->entry_vaddr).empty());
}

TEST(SourceLines, MayBeAskedForByManyThreads) {
  const CodeObject object = test::parsed("full_dwarf5.hsaco");
  const std::uint64_t pc = object.find_kernel("saxpy")->entry_vaddr;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_FALSE(object.source_at(pc).empty()); });
  }
}

class AgainstLlvm : public testing::TestWithParam<const char*> {};

TEST_P(AgainstLlvm, EveryInstructionAgrees) {
  const test::LlvmLines llvm_lines(test::input(GetParam()));
  const CodeObject object = test::parsed(GetParam());
  std::size_t compared = 0;
  for (const Symbol& symbol : object.symbols()) {
    if (symbol.kind != Symbol::Kind::function) continue;
    for (std::uint64_t pc = symbol.vaddr; pc < symbol.vaddr + symbol.size_bytes; pc += 4) {
      const std::vector<test::LlvmFrame> theirs = llvm_lines.frames_at(pc);
      const std::vector<SourceFrame> ours = object.source_at(pc);
      if (ours.empty()) {
        // No row: LLVM answers with at most one frame that says nothing.
        ASSERT_LE(theirs.size(), 1u);
        if (!theirs.empty()) {
          EXPECT_EQ(theirs[0].line, 0u);
        }
        continue;
      }
      ASSERT_EQ(ours.size(), theirs.size()) << std::hex << pc;
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_EQ(ours[i].line, theirs[i].line) << std::hex << pc;
        EXPECT_EQ(ours[i].column, theirs[i].column) << std::hex << pc;
        EXPECT_EQ(ours[i].file, theirs[i].file) << std::hex << pc;
        EXPECT_THAT(ours[i].function, HasSubstr(theirs[i].function)) << std::hex << pc;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 5u);
}

INSTANTIATE_TEST_SUITE_P(EveryForm, AgainstLlvm,
                         testing::Values("v4.hsaco", "v5.hsaco", "full_dwarf4.hsaco",
                                         "full_dwarf5.hsaco", "dwarf64.hsaco", "debug_zlib.hsaco",
                                         "debug_zstd.hsaco", "plain.hsaco"));

}  // namespace
}  // namespace margay
