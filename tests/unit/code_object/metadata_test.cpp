// The metadata note: which notes are refused, and why.
#include "code_object/elf/metadata.h"
#include "gpu/gfx942/gfx942.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>

namespace margay::code_object {
namespace {

using testing::HasSubstr;

std::string message_pack(const std::string& yaml) {
  llvm::msgpack::Document document;
  EXPECT_TRUE(document.fromYAML(yaml)) << yaml;
  std::string blob;
  document.writeToBlob(blob);
  return blob;
}

Result<Metadata> read(const std::string& blob) {
  return read_metadata(std::as_bytes(std::span(blob)), kGfx942);
}

std::string note(const std::string& kernel_keys, const std::string& args = "[]") {
  return message_pack("amdhsa.version: [1, 2]\namdhsa.kernels:\n  - .symbol: k.kd\n" + kernel_keys +
                      "    .args: " + args + "\n");
}

const std::string kKeys =
    "    .kernarg_segment_size: 16\n    .group_segment_fixed_size: 0\n"
    "    .private_segment_fixed_size: 0\n    .max_flat_workgroup_size: 256\n"
    "    .vgpr_count: 3\n    .sgpr_count: 4\n";

std::string why(const std::string& blob) {
  const Result<Metadata> metadata = read(blob);
  return metadata ? "accepted" : metadata.error().what;
}

TEST(Metadata, ReadsAKernel) {
  const auto metadata = read(note(kKeys + "    .uses_dynamic_stack: 1\n    .agpr_count: 5\n",
                                  "[{.offset: 8, .size: 4, .value_kind: by_value},"
                                  " {.offset: 0, .size: 8, .value_kind: global_buffer}]"));
  ASSERT_TRUE(metadata.has_value()) << metadata.error().text();
  EXPECT_EQ(metadata->version_minor, 2u);
  ASSERT_EQ(metadata->kernels.size(), 1u);
  const Kernel& kernel = metadata->kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_TRUE(kernel.uses_dynamic_stack);
  EXPECT_EQ(kernel.agpr_count, 5u);
  ASSERT_EQ(kernel.arguments.size(), 2u);
  EXPECT_EQ(kernel.arguments[0].kind, ArgumentKind::global_buffer) << "sorted by offset";
}

TEST(Metadata, KeepsTheTextOfUnknownKinds) {
  const auto metadata = read(note(kKeys, "[{.offset: 0, .size: 8, .value_kind: hidden_new}]"));
  ASSERT_TRUE(metadata.has_value()) << metadata.error().text();
  EXPECT_EQ(metadata->kernels[0].arguments[0].kind, ArgumentKind::other);
  EXPECT_EQ(metadata->kernels[0].arguments[0].kind_text, "hidden_new");
}

TEST(Metadata, NamesEveryHiddenKind) {
  // LLVM, "User Guide for AMDGPU Backend", code object v3 to v5 metadata, `.value_kind`.
  for (const char* kind : {"hidden_global_offset_x",    "hidden_global_offset_y",
                           "hidden_global_offset_z",    "hidden_none",
                           "hidden_printf_buffer",      "hidden_hostcall_buffer",
                           "hidden_default_queue",      "hidden_completion_action",
                           "hidden_multigrid_sync_arg", "hidden_block_count_x",
                           "hidden_block_count_y",      "hidden_block_count_z",
                           "hidden_group_size_x",       "hidden_group_size_y",
                           "hidden_group_size_z",       "hidden_remainder_x",
                           "hidden_remainder_y",        "hidden_remainder_z",
                           "hidden_grid_dims",          "hidden_heap_v1",
                           "hidden_dynamic_lds_size",   "hidden_private_base",
                           "hidden_shared_base",        "hidden_queue_ptr"}) {
    const auto metadata =
        read(note(kKeys, std::string("[{.offset: 0, .size: 8, .value_kind: ") + kind + "}]"));
    ASSERT_TRUE(metadata.has_value());
    EXPECT_TRUE(is_hidden(metadata->kernels[0].arguments[0].kind)) << kind;
  }
}

TEST(Metadata, RefusesImpossibleArguments) {
  EXPECT_THAT(why(note(kKeys, "[{.offset: 12, .size: 8, .value_kind: by_value}]")),
              HasSubstr("past its end"));
  EXPECT_THAT(why(note(kKeys, "[{.offset: 4294967295, .size: 8, .value_kind: by_value}]")),
              HasSubstr("past its end"));
  EXPECT_THAT(why(note(kKeys,
                       "[{.offset: 0, .size: 8, .value_kind: by_value},"
                       " {.offset: 4, .size: 4, .value_kind: by_value}]")),
              HasSubstr("over another one"));
  EXPECT_THAT(why(note(kKeys, "[{.offset: 0, .size: 8}]")), HasSubstr(".value_kind"));
  EXPECT_THAT(why(note(kKeys, "[{.offset: zero, .size: 8, .value_kind: by_value}]")),
              HasSubstr("no number for .offset"));
  EXPECT_THAT(why(note(kKeys, "[{.offset: 4294967296, .size: 8, .value_kind: by_value}]")),
              HasSubstr("4294967296"));
}

TEST(Metadata, RefusesImpossibleKernels) {
  EXPECT_THAT(why(note("    .kernarg_segment_size: 16\n")), HasSubstr("leaves out"));
  EXPECT_THAT(why(note(kKeys + "    .wavefront_size: 32\n")), HasSubstr("waves of 32 lanes"));
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string keys = kKeys;
    keys.replace(keys.find(from), from.size(), to);
    return why(note(keys));
  };
  EXPECT_THAT(replaced("vgpr_count: 3", "vgpr_count: -1"), HasSubstr("no number"));
  EXPECT_THAT(replaced("workgroup_size: 256", "workgroup_size: 2048"), HasSubstr("at most 1024"));
  EXPECT_THAT(replaced("workgroup_size: 256", "workgroup_size: 0"), HasSubstr("at most 1024"));
  EXPECT_THAT(replaced("segment_size: 16", "segment_size: 2000000"), HasSubstr("2000000 bytes"));
}

TEST(Metadata, RefusesWhatIsNoNote) {
  EXPECT_THAT(why(""), HasSubstr("ends early"));
  EXPECT_THAT(why("\xc1"), HasSubstr("not MessagePack"));
  EXPECT_THAT(why("\x01"), HasSubstr("no map"));
  EXPECT_THAT(why(message_pack("amdhsa.kernels: []")), HasSubstr("no amdhsa.version"));
  EXPECT_THAT(why(message_pack("amdhsa.version: [1, 2]\namdhsa.kernels:\n  - .symbol: k\n")),
              HasSubstr("should end in .kd"));
}

TEST(Metadata, SurvivesDeepNestingAndHugeCounts) {
  // {"a": [[[[...
  EXPECT_THAT(why("\x81\xa1"
                  "a" +
                  std::string(1'000'000, '\x91')),
              HasSubstr("nests too deeply"));
  // A list that claims 2^32-1 elements.
  EXPECT_THAT(why(std::string("\x81\xa1"
                              "a\xdd\xff\xff\xff\xff",
                              8)),
              HasSubstr("ends early"));
}

}  // namespace
}  // namespace margay::code_object
