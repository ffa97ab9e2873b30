// Parsing: identity, kernels, symbols, and the checks between descriptor and metadata note.
#include "code_object/code_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>

#include "code_object/elf/elf_image.h"
#include "inputs.h"

namespace margay {
namespace {

using test::Image;
using testing::HasSubstr;

Error parse_error(Image image) {
  Result<CodeObject> object = CodeObject::parse(std::move(image));
  EXPECT_FALSE(object.has_value());
  return object ? Error{} : object.error();
}

TEST(CodeObject, ReadsAllThreeVersions) {
  EXPECT_EQ(test::parsed("v4.hsaco").version(), 4);
  EXPECT_EQ(test::parsed("v5.hsaco").version(), 5);
  EXPECT_EQ(test::parsed("v6.hsaco").version(), 6);
  EXPECT_EQ(test::parsed("v5.hsaco").target(), "amdgcn-amd-amdhsa--gfx942");
  EXPECT_EQ(test::parsed("gfx942_sramecc__xnack_.hsaco").target(),
            "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
}

TEST(CodeObject, DescribesAKernel) {
  const CodeObject object = test::parsed("v5.hsaco");
  ASSERT_EQ(object.kernels().size(), 3u);
  const Kernel* tiled = object.find_kernel("_Z5tiledILi256EEvPil");
  ASSERT_NE(tiled, nullptr);
  EXPECT_EQ(tiled->lds_bytes, 1024u);
  EXPECT_EQ(tiled->descriptor.group_segment_fixed_size, 1024u);
  EXPECT_EQ(tiled->kernarg_bytes, 16u);
  EXPECT_EQ(tiled->max_workgroup_size, 256u);
  EXPECT_EQ(tiled->scratch_bytes, 0u);
  EXPECT_EQ(tiled->agpr_count, 0u);
  EXPECT_GT(tiled->vgpr_count, 0u);
  EXPECT_LE(tiled->vgpr_count, tiled->descriptor.unified_vgpr_count());
  EXPECT_LE(tiled->descriptor.accum_offset(), tiled->descriptor.unified_vgpr_count());
  EXPECT_GT(tiled->sgpr_count, 0u);
  EXPECT_FALSE(tiled->uses_dynamic_stack);

  const Symbol* code = object.find_symbol(tiled->name);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->kind, Symbol::Kind::function);
  EXPECT_EQ(code->vaddr, tiled->entry_vaddr);
  EXPECT_EQ(tiled->entry_vaddr % 256, 0u);
  EXPECT_TRUE(object.is_executable(tiled->entry_vaddr));
  EXPECT_EQ(object.find_kernel("tiled"), nullptr);
}

TEST(CodeObject, ListsArgumentsInSegmentOrder) {
  const CodeObject object = test::parsed("v5.hsaco");
  const Kernel& saxpy = *object.find_kernel("saxpy");
  ASSERT_GE(saxpy.arguments.size(), 6u);
  const auto expect_argument = [&](std::size_t index, ArgumentKind kind, std::uint32_t offset,
                                   std::uint32_t size) {
    const KernelArgument& argument = saxpy.arguments[index];
    EXPECT_EQ(argument.kind, kind) << index;
    EXPECT_EQ(argument.offset_bytes, offset) << index;
    EXPECT_EQ(argument.size_bytes, size) << index;
  };
  expect_argument(0, ArgumentKind::global_buffer, 0, 8);
  expect_argument(1, ArgumentKind::global_buffer, 8, 8);
  expect_argument(2, ArgumentKind::by_value, 16, 16);
  expect_argument(3, ArgumentKind::by_value, 32, 1);
  expect_argument(4, ArgumentKind::by_value, 36, 4);
  expect_argument(5, ArgumentKind::hidden_block_count_x, 40, 4);
  EXPECT_FALSE(is_hidden(saxpy.arguments[4].kind));
  EXPECT_TRUE(is_hidden(saxpy.arguments[5].kind));
  EXPECT_EQ(saxpy.kernarg_bytes, 296u) << "40 explicit, 256 hidden (LLVM, AMDGPUUsage)";
  for (const KernelArgument& argument : saxpy.arguments) {
    EXPECT_NE(argument.kind, ArgumentKind::other) << argument.kind_text;
    EXPECT_LE(argument.offset_bytes + argument.size_bytes, saxpy.kernarg_bytes);
  }
}

TEST(CodeObject, KnowsTheHiddenArgumentsOfVersion4) {
  const CodeObject object = test::parsed("v4.hsaco");
  std::vector<ArgumentKind> hidden_kinds;
  for (const KernelArgument& argument : object.find_kernel("hidden")->arguments) {
    if (is_hidden(argument.kind)) hidden_kinds.push_back(argument.kind);
    EXPECT_NE(argument.kind, ArgumentKind::other) << argument.kind_text;
  }
  ASSERT_GE(hidden_kinds.size(), 4u);
  EXPECT_EQ(hidden_kinds[0], ArgumentKind::hidden_global_offset_x);
  EXPECT_EQ(hidden_kinds[1], ArgumentKind::hidden_global_offset_y);
  EXPECT_EQ(hidden_kinds[2], ArgumentKind::hidden_global_offset_z);
}

TEST(CodeObject, ReadsHandWrittenKernels) {
  const CodeObject object = test::parsed("plain.hsaco");
  ASSERT_EQ(object.kernels().size(), 1u);
  const Kernel& kernel = object.kernels()[0];
  EXPECT_EQ(kernel.name, "store_one");
  ASSERT_EQ(kernel.arguments.size(), 1u);
  EXPECT_EQ(kernel.arguments[0].name, "out");
  EXPECT_EQ(kernel.arguments[0].type_name, "int*");
  const Symbol* code = object.function_at(kernel.entry_vaddr + 4);
  ASSERT_NE(code, nullptr) << "a function without .size extends to the end of the code";
  EXPECT_EQ(code->name, "store_one");
  EXPECT_EQ(code->vaddr + code->size_bytes, object.executable_range(code->vaddr).second);
}

TEST(CodeObject, FindsSymbolsAndFunctions) {
  const CodeObject object = test::parsed("v5.hsaco");
  const Symbol* table = object.find_symbol("table");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->kind, Symbol::Kind::object);
  EXPECT_EQ(table->size_bytes, 16u);
  EXPECT_FALSE(object.is_executable(table->vaddr));
  EXPECT_EQ(object.function_at(table->vaddr), nullptr);
  EXPECT_EQ(object.find_symbol("nothing"), nullptr);

  const Symbol& saxpy = *object.find_symbol("saxpy");
  EXPECT_EQ(object.function_at(saxpy.vaddr), &saxpy);
  EXPECT_EQ(object.function_at(saxpy.vaddr + saxpy.size_bytes - 1), &saxpy);
  EXPECT_NE(object.function_at(saxpy.vaddr + saxpy.size_bytes), &saxpy);
  EXPECT_EQ(object.function_at(saxpy.vaddr - 1), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(object.symbols(), {}, &Symbol::vaddr));
  for (std::size_t i = 1; i < object.symbols().size(); ++i) {
    EXPECT_NE(object.symbols()[i].name, object.symbols()[i - 1].name) << "listed twice";
  }

  const auto [first, last] = object.executable_range(saxpy.vaddr);
  EXPECT_LE(first, saxpy.vaddr);
  EXPECT_GE(last, saxpy.vaddr + saxpy.size_bytes);
  EXPECT_LE(last, object.image_bytes());
  EXPECT_EQ(object.executable_range(last), (std::pair<std::uint64_t, std::uint64_t>{}));
}

TEST(CodeObject, SaysWhatAForeignImageIsFor) {
  for (const auto& [file, name] : {std::pair{"gfx90a.hsaco", "gfx90a"},
                                   {"gfx1100.hsaco", "gfx1100"},
                                   {"gfx942_xnack_.hsaco", "gfx942:xnack+"}}) {
    const Error error = parse_error(test::input(file));
    EXPECT_EQ(error.code, ErrorCode::wrong_architecture);
    EXPECT_THAT(error.what, HasSubstr(name));
  }
  const Error host = parse_error(test::input("host_only.so"));
  EXPECT_EQ(host.code, ErrorCode::wrong_architecture);
  EXPECT_THAT(host.what, HasSubstr("62")) << "EM_X86_64";
}

TEST(CodeObject, RefusesUnlinkedImages) {
  const Error error = parse_error(test::input("plain.o"));
  EXPECT_EQ(error.code, ErrorCode::invalid_image);
  EXPECT_THAT(error.what, HasSubstr("not linked"));
}

TEST(CodeObject, RefusesWhatIsNoElf) {
  EXPECT_EQ(parse_error({}).code, ErrorCode::invalid_image);
  EXPECT_EQ(parse_error(Image(100)).code, ErrorCode::invalid_image);
}

TEST(CodeObject, ChecksTheHeader) {
  const Image sound = test::input("v5.hsaco");
  struct Damage {
    std::size_t offset;
    std::uint8_t value;
    ErrorCode code;
    const char* says;
  };
  for (const Damage& damage : {
           Damage{4, 1, ErrorCode::wrong_architecture, "64-bit"},         // EI_CLASS
           Damage{5, 2, ErrorCode::wrong_architecture, "little-endian"},  // EI_DATA
           Damage{7, 0, ErrorCode::wrong_architecture, "OS ABI 0"},       // EI_OSABI
           Damage{8, 1, ErrorCode::invalid_image, "ABI version 1"},       // code object v3
           Damage{8, 5, ErrorCode::invalid_image, "ABI version 5"},
           Damage{48, 0xfe, ErrorCode::wrong_architecture, "unknown AMD GPU"},
           Damage{48, 0x4f, ErrorCode::wrong_architecture, "gfx950"},
       }) {
    Image image = sound;
    test::put(image, damage.offset, damage.value);
    const Error error = parse_error(image);
    EXPECT_EQ(error.code, damage.code) << damage.says;
    EXPECT_THAT(error.what, HasSubstr(damage.says));
  }
}

/// Descriptor of `kernel` as a file offset: in these inputs the first segment maps the file from 0.
std::size_t descriptor_offset(const Image& image, const char* kernel) {
  return CodeObject::parse(image)->find_kernel(kernel)->descriptor_vaddr;
}

TEST(CodeObject, ChecksDescriptors) {
  const Image sound = test::input("v5.hsaco");
  const std::size_t descriptor = descriptor_offset(sound, "saxpy");
  const auto damaged = [&](std::size_t offset, auto value) {
    Image image = sound;
    test::put(image, descriptor + offset, value);
    return parse_error(image).what;
  };
  const auto entry = test::get<std::int64_t>(sound, descriptor + 16);
  EXPECT_THAT(damaged(16, std::int64_t{0}), HasSubstr("The entry of kernel saxpy"));
  EXPECT_THAT(damaged(16, entry + 4), HasSubstr("multiple of 256"));
  EXPECT_THAT(damaged(16, std::int64_t{1} << 62), HasSubstr("executable segment"));
  EXPECT_THAT(damaged(16, -static_cast<std::int64_t>(descriptor)), HasSubstr("(address 0x0)"))
      << "aligned, but not executable";
  EXPECT_THAT(damaged(8, std::uint32_t{64}), HasSubstr("64 bytes of arguments"));
  EXPECT_THAT(damaged(56, std::uint16_t{1u << 10}), HasSubstr("wave32"));
  EXPECT_THAT(damaged(44, std::uint32_t{0x3f}), HasSubstr("accumulation VGPRs begin at 256"));
}

TEST(CodeObject, FillsInASizeThatOneSideLeavesOut) {
  Image image = test::input("v5.hsaco");
  test::put(image, descriptor_offset(image, "saxpy") + 8, std::uint32_t{0});
  const auto object = CodeObject::parse(image);
  ASSERT_TRUE(object.has_value()) << object.error().text();
  EXPECT_EQ(object->find_kernel("saxpy")->kernarg_bytes, 296u);
}

/// v5.hsaco with another metadata note, which must not be longer.
Image with_note(const std::string& yaml) {
  llvm::msgpack::Document document;
  EXPECT_TRUE(document.fromYAML(yaml));
  std::string blob;
  document.writeToBlob(blob);
  Image image = test::input("v5.hsaco");
  const Result<code_object::ElfImage> elf = code_object::read_elf(image);
  EXPECT_TRUE(elf.has_value() && elf->metadata_note.size() >= blob.size());
  std::memcpy(image.data() + (elf->metadata_note.data() - image.data()), blob.data(), blob.size());
  return image;
}

TEST(CodeObject, NeedsTheSameKernelsInNoteAndSymbols) {
  const Image sound = test::input("plain.hsaco");
  Image renamed = sound;
  // The note comes first in the file, then the symbol names.
  test::put(renamed, test::find_text(sound, "store_one.kd"), 'S');
  EXPECT_THAT(parse_error(renamed).what, HasSubstr("there is no descriptor Store_one.kd"));

  EXPECT_THAT(parse_error(with_note("amdhsa.version: [1, 2]\namdhsa.kernels: []\n")).what,
              HasSubstr("the metadata note does not list it"));

  const std::string saxpy =
      "  - .symbol: saxpy.kd\n    .kernarg_segment_size: 296\n    .group_segment_fixed_size: 0\n"
      "    .private_segment_fixed_size: 0\n    .max_flat_workgroup_size: 256\n"
      "    .vgpr_count: 3\n    .sgpr_count: 4\n";
  EXPECT_THAT(
      parse_error(with_note("amdhsa.version: [1, 2]\namdhsa.kernels:\n" + saxpy + saxpy)).what,
      HasSubstr("lists kernel saxpy twice"));
  EXPECT_THAT(parse_error(with_note("amdhsa.version: [2, 0]\namdhsa.kernels: []\n")).what,
              HasSubstr("version 2.0"));

  Image without_note = sound;
  test::put(without_note, test::find_text(sound, "AMDGPU"), 'X');
  EXPECT_THAT(parse_error(without_note).what, HasSubstr("no metadata note"));
}

/// v5.hsaco, whose ELF header says gfx942 and no features, with another target in its note.
Image with_target(std::string_view target) {
  Image image = test::input("v5.hsaco");
  const Result<code_object::ElfImage> elf = code_object::read_elf(image);
  EXPECT_TRUE(elf.has_value());
  const code_object::Bytes note = elf->metadata_note;
  llvm::msgpack::Document document;
  EXPECT_TRUE(document.readFromBlob(code_object::as_text(note), false));
  llvm::msgpack::MapDocNode& root = document.getRoot().getMap();
  // Makes room.
  for (auto& kernel : root["amdhsa.kernels"].getArray())
    kernel.getMap().erase(kernel.getMap().find(".name"));
  root["amdhsa.target"] = document.getNode(llvm::StringRef(target.data(), target.size()), true);
  std::string blob;
  document.writeToBlob(blob);
  EXPECT_LE(blob.size(), note.size());
  std::memcpy(image.data() + (note.data() - image.data()), blob.data(), blob.size());
  return image;
}

TEST(CodeObject, TheNoteMaySpellTheTargetInAnyWay) {
  for (const std::string_view spelling :
       {"amdgcn-amd-amdhsa--gfx942", "amdgpu9.42-amd-amdhsa-unknown-gfx942",
        "amdgcn--amdhsa-amdgiz-gfx942:sramecc+:xnack-", "amdgcn-amd-amdhsa-unknown-gfx942:xnack-",
        "amdgpu9.42-amd-amdhsa"}) {
    const auto object = CodeObject::parse(with_target(spelling));
    EXPECT_TRUE(object.has_value()) << spelling << ": " << object.error().text();
  }
  for (const std::string_view spelling :
       {"amdgcn-amd-amdhsa--gfx90a", "amdgpu9.42-amd-amdhsa-unknown-gfx950",
        "amdgcn-amd-amdhsa--gfx942:wavefrontsize32+"})
    EXPECT_THAT(parse_error(with_target(spelling)).what,
                HasSubstr("The metadata note is for " + std::string(spelling) +
                          ", but the ELF header for amdgcn-amd-amdhsa--gfx942."));
}

/// File offset of the first section header of `type` (gABI, "Sections").
std::size_t section_header(const Image& image, std::uint32_t type) {
  const auto table = static_cast<std::size_t>(test::get<std::uint64_t>(image, 40));
  const auto count = test::get<std::uint16_t>(image, 60);
  for (std::size_t header = table; header < table + count * 64u; header += 64) {
    if (test::get<std::uint32_t>(image, header + 4) == type) return header;
  }
  ADD_FAILURE() << "no section of type " << type;
  return 0;
}

TEST(CodeObject, BoundsTheLengthOfAllSymbolNames) {
  // 40000 symbols that share one name of a million characters: 40 GB when copied.
  Image image = test::input("v5.hsaco");
  constexpr std::size_t kSymbols = 40'000, kNameChars = 1'000'000, kSymbolBytes = 24;
  const std::size_t symtab = section_header(image, 2);
  const std::size_t strtab = test::get<std::uint64_t>(image, 40) +
                             64 * std::size_t{test::get<std::uint32_t>(image, symtab + 40)};
  const std::size_t names = image.size();
  image.resize(names + kNameChars + 2, std::byte{'x'});
  image.back() = std::byte{0};
  const std::size_t symbols = (image.size() + 7) / 8 * 8;
  image.resize(symbols + kSymbols * kSymbolBytes);
  for (std::size_t i = 0; i < kSymbols; ++i) {
    test::put(image, symbols + i * kSymbolBytes + 6, std::uint16_t{1});  // st_shndx
  }
  test::put(image, strtab + 24, std::uint64_t{names});
  test::put(image, strtab + 32, std::uint64_t{kNameChars + 2});
  test::put(image, symtab + 24, std::uint64_t{symbols});
  test::put(image, symtab + 32, std::uint64_t{kSymbols * kSymbolBytes});
  EXPECT_THAT(parse_error(std::move(image)).what, HasSubstr("symbol names are longer"));
}

TEST(CodeObject, ReadsOneSymbolTableOfAKind) {
  Image image = test::input("v5.hsaco");
  test::put(image, section_header(image, 11) + 4, std::uint32_t{2});  // SHT_DYNSYM to SHT_SYMTAB
  EXPECT_THAT(parse_error(std::move(image)).what, HasSubstr("several symbol tables"));
}

TEST(CodeObject, RefusesPackedRelocations) {
  Image image = test::input("v5.hsaco");
  test::put(image, section_header(image, 4) + 4, std::uint32_t{19});  // SHT_RELA to SHT_RELR
  EXPECT_EQ(parse_error(std::move(image)).code, ErrorCode::not_implemented);
}

TEST(CodeObject, ChecksTheNotesTarget) {
  Image image = test::input("plain.hsaco");
  test::put(image, test::find_text(image, "gfx942") + 4, '5');
  EXPECT_THAT(parse_error(image).what, HasSubstr("gfx952"));
}

}  // namespace
}  // namespace margay
