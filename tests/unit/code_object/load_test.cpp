// Loading: segments, zero fill, relocations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/BinaryFormat/ELF.h>

#include "code_object/code_object.h"
#include "code_object/elf/elf_image.h"
#include "inputs.h"

namespace margay {
namespace {

using test::Image;
using testing::HasSubstr;

constexpr std::uint64_t kLoadAddress = 0x7f12'3456'7000;

Image loaded(const CodeObject& object, std::uint64_t address = kLoadAddress) {
  Image memory(object.image_bytes(), std::byte{0xee});
  const Status status = object.load(memory, address);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  return memory;
}

TEST(Load, CopiesSegmentsAndZeroesTheRest) {
  const Image file = test::input("v5.hsaco");
  const CodeObject object = test::parsed("v5.hsaco");
  const Image memory = loaded(object);
  EXPECT_EQ(std::memcmp(memory.data(), file.data(), 64), 0) << "the ELF header is mapped too";
  EXPECT_EQ(test::get<int>(memory, object.find_symbol("counter")->vaddr), 42);
  const std::uint64_t table = object.find_symbol("table")->vaddr;
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(test::get<int>(memory, table + 4 * i), int(i) + 1);
  const Symbol& zeroed = *object.find_symbol("zeroed");
  for (std::uint64_t i = 0; i < zeroed.size_bytes; ++i) {
    ASSERT_EQ(memory[zeroed.vaddr + i], std::byte{0}) << i;
  }
}

TEST(Load, RelocatesPointersWithinTheImage) {
  const CodeObject object = test::parsed("v5.hsaco");
  const Image memory = loaded(object);
  const auto pointer = [&](const char* name) {
    return test::get<std::uint64_t>(memory, object.find_symbol(name)->vaddr);
  };
  EXPECT_EQ(pointer("counter_address"), kLoadAddress + object.find_symbol("counter")->vaddr);
  EXPECT_EQ(pointer("table_end"), kLoadAddress + object.find_symbol("table")->vaddr + 16);
}

TEST(Load, RelocatesAgainstNamedSymbols) {
  const CodeObject object = test::parsed("plain.hsaco");
  const Image memory = loaded(object);
  const std::uint64_t pointers = object.find_symbol("pointers")->vaddr;
  const std::uint64_t value = kLoadAddress + object.find_symbol("value")->vaddr;
  EXPECT_EQ(test::get<std::uint64_t>(memory, pointers), value);
  EXPECT_EQ(test::get<std::uint64_t>(memory, pointers + 8), value + 4);
}

/// plain.hsaco with the type of its first relocation changed; the second is switched off.
Image with_relocation(std::uint32_t type) {
  Image image = test::input("plain.hsaco");
  const auto rela = code_object::find_elf_section(image, ".rela.dyn");
  EXPECT_TRUE(rela && rela->size() == 48);
  const std::size_t offset = static_cast<std::size_t>(rela->data() - image.data());
  test::put(image, offset + 8, type);
  test::put(image, offset + 24 + 8, std::uint32_t{llvm::ELF::R_AMDGPU_NONE});
  return image;
}

TEST(Load, AppliesEveryDynamicRelocationKind) {
  const CodeObject plain = test::parsed("plain.hsaco");
  const std::uint64_t field = plain.find_symbol("pointers")->vaddr;
  const std::uint64_t symbol = plain.find_symbol("value")->vaddr;
  const std::uint64_t absolute = kLoadAddress + symbol;
  const std::uint64_t relative = symbol - field;
  struct Kind {
    std::uint32_t type;
    std::uint64_t value;
  };
  for (const Kind& kind : {
           Kind{llvm::ELF::R_AMDGPU_NONE, 0},
           Kind{llvm::ELF::R_AMDGPU_ABS64, absolute},
           Kind{llvm::ELF::R_AMDGPU_ABS32_LO, absolute & 0xffffffff},
           Kind{llvm::ELF::R_AMDGPU_ABS32_HI, absolute >> 32},
           Kind{llvm::ELF::R_AMDGPU_REL64, relative},
           Kind{llvm::ELF::R_AMDGPU_REL32, relative & 0xffffffff},
           Kind{llvm::ELF::R_AMDGPU_REL32_LO, relative & 0xffffffff},
           Kind{llvm::ELF::R_AMDGPU_REL32_HI, relative >> 32},
           Kind{llvm::ELF::R_AMDGPU_RELATIVE64, kLoadAddress},
       }) {
    const auto object = CodeObject::parse(with_relocation(kind.type));
    ASSERT_TRUE(object.has_value()) << object.error().text();
    EXPECT_EQ(test::get<std::uint64_t>(loaded(*object), field), kind.value) << kind.type;
  }
}

TEST(Load, CutsNoAddressTo32Bits) {
  const auto object = CodeObject::parse(with_relocation(llvm::ELF::R_AMDGPU_ABS32));
  ASSERT_TRUE(object.has_value());
  const std::uint64_t field = object->find_symbol("pointers")->vaddr;
  EXPECT_EQ(test::get<std::uint32_t>(loaded(*object, 0x10000), field),
            0x10000 + object->find_symbol("value")->vaddr);
  Image memory(object->image_bytes());
  const Status status = object->load(memory, kLoadAddress);
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().what, HasSubstr("does not fit"));
}

TEST(Load, RefusesRelocationsOfObjectFiles) {
  const auto object = CodeObject::parse(with_relocation(llvm::ELF::R_AMDGPU_GOTPCREL));
  ASSERT_TRUE(object.has_value());
  Image memory(object->image_bytes());
  const Status status = object->load(memory, kLoadAddress);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::not_implemented);
  EXPECT_THAT(status.error().what, HasSubstr("type 7"));
}

TEST(Load, RefusesRelocationsOutsideTheImage) {
  for (const std::int64_t distance : {-7, 0, 1 << 20}) {
    Image image = with_relocation(llvm::ELF::R_AMDGPU_ABS64);
    const auto rela = code_object::find_elf_section(image, ".rela.dyn");
    const std::uint64_t end = CodeObject::parse(image)->image_bytes();
    test::put(image, static_cast<std::size_t>(rela->data() - image.data()), end + distance);
    const auto object = CodeObject::parse(image);
    ASSERT_TRUE(object.has_value());
    Image memory(object->image_bytes());
    const Status status = object->load(memory, kLoadAddress);
    ASSERT_FALSE(status.has_value()) << distance;
    EXPECT_THAT(status.error().what, HasSubstr("outside the image"));
  }
}

TEST(Load, NamesUnresolvedSymbols) {
  const CodeObject object = test::parsed("external.hsaco");
  Image memory(object.image_bytes());
  const Status status = object.load(memory, kLoadAddress);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
  EXPECT_THAT(status.error().what, HasSubstr("nowhere_defined"))
      << "and not maybe_defined, which is weak";
}

TEST(Load, ChecksItsArguments) {
  const CodeObject object = test::parsed("v5.hsaco");
  Image small(object.image_bytes() - 1);
  EXPECT_EQ(object.load(small, kLoadAddress).error().code, ErrorCode::invalid_argument);
  Image memory(object.image_bytes());
  EXPECT_EQ(object.image_alignment(), 4096u);
  EXPECT_EQ(object.load(memory, kLoadAddress + 256).error().code, ErrorCode::invalid_argument);
}

TEST(Load, RefusesImpossibleSegments) {
  const Image sound = test::input("v5.hsaco");
  // The second program header is the first PT_LOAD: type, flags, offset, vaddr, paddr, filesz,
  // memsz, align (gABI, "Program Header").
  constexpr std::size_t kLoad = 64 + 56;
  ASSERT_EQ(test::get<std::uint32_t>(sound, kLoad), std::uint32_t{llvm::ELF::PT_LOAD});
  const auto why = [&](std::size_t field, std::uint64_t value) {
    Image image = sound;
    test::put(image, kLoad + field, value);
    const auto object = CodeObject::parse(image);
    return object ? "accepted" : object.error().what;
  };
  EXPECT_THAT(why(8, ~std::uint64_t{0} - 1), HasSubstr("truncated or corrupted"));
  EXPECT_THAT(why(32, std::uint64_t{1} << 40), HasSubstr("truncated or corrupted"));
  EXPECT_THAT(why(40, std::uint64_t{1} << 40), HasSubstr("past 4 GiB"));
  EXPECT_THAT(why(40, 0x10000), HasSubstr("overlaps"));
  EXPECT_THAT(why(16, ~std::uint64_t{0} - 100), HasSubstr("past 4 GiB"));
  EXPECT_THAT(why(48, 3000), HasSubstr("alignment of 3000"));
  EXPECT_THAT(why(48, std::uint64_t{1} << 32), HasSubstr("alignment"));
}

}  // namespace
}  // namespace margay
