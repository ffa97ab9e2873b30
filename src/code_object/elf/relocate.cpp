// Relocations of linked code objects. With S the symbol's address, A the addend, P the address of
// the field and B the load address, each kind stores what LLVM, "User Guide for AMDGPU Backend",
// "Relocation Records", says.
#include "code_object/elf/relocate.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>

namespace margay::code_object {
namespace {

struct Field {
  std::uint64_t value = 0;
  std::size_t bytes = 0;
};

/// Empty for a kind that does not occur in linked images.
std::optional<Field> evaluate(const Relocation& relocation, std::uint64_t load_address) {
  const std::uint64_t addend = static_cast<std::uint64_t>(relocation.addend);
  const std::uint64_t symbol =
      relocation.symbol_value + (relocation.symbol_is_absolute ? 0 : load_address);
  const std::uint64_t absolute = symbol + addend;
  const std::uint64_t relative = absolute - (load_address + relocation.vaddr);
  switch (relocation.type) {
    case llvm::ELF::R_AMDGPU_NONE:
      return Field{};
    case llvm::ELF::R_AMDGPU_RELATIVE64:
      return Field{load_address + addend, 8};
    case llvm::ELF::R_AMDGPU_ABS64:
      return Field{absolute, 8};
    case llvm::ELF::R_AMDGPU_ABS32:
      return Field{absolute, 4};
    case llvm::ELF::R_AMDGPU_ABS32_LO:
      return Field{absolute & 0xffffffff, 4};
    case llvm::ELF::R_AMDGPU_ABS32_HI:
      return Field{absolute >> 32, 4};
    case llvm::ELF::R_AMDGPU_REL64:
      return Field{relative, 8};
    case llvm::ELF::R_AMDGPU_REL32:
    case llvm::ELF::R_AMDGPU_REL32_LO:
      return Field{relative & 0xffffffff, 4};
    case llvm::ELF::R_AMDGPU_REL32_HI:
      return Field{relative >> 32, 4};
    default:
      return std::nullopt;
  }
}

Status apply(const Relocation& relocation, const ElfImage& image, std::span<std::byte> memory,
             std::uint64_t load_address) {
  const std::string where = fmt::format("relocation at image address 0x{:x}", relocation.vaddr);
  if (!relocation.unresolved.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("The code object refers to {}, which it does not define.",
                            relocation.unresolved.substr(0, 1000)),
                where, "Define it in device code, and link all device code together (-fgpu-rdc).");
  }
  const std::optional<Field> field = evaluate(relocation, load_address);
  if (!field) {
    return fail(ErrorCode::not_implemented,
                fmt::format("Relocation type {} cannot be applied when a code object is loaded.",
                            relocation.type),
                where, "Link the code object with ld.lld -shared.");
  }
  if (field->bytes == 0) return {};
  const Segment* segment = image.segment_at(relocation.vaddr);
  if (segment == nullptr ||
      field->bytes > segment->vaddr + segment->memory_bytes - relocation.vaddr) {
    return fail(ErrorCode::invalid_image, "A relocation is outside the image.", where,
                "Rebuild the code object.");
  }
  // Only the _LO and _HI kinds may truncate an address.
  if (relocation.type == llvm::ELF::R_AMDGPU_ABS32 &&
      field->value > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::invalid_image,
                fmt::format("Address 0x{:x} does not fit a 32-bit relocation.", field->value),
                where, "Compile without 32-bit absolute addresses.");
  }
  std::memcpy(memory.data() + relocation.vaddr, &field->value, field->bytes);
  return {};
}

/// Zeroes memory, writing only to pages that are not zero yet: a few damaged bytes in a segment's
/// header make an image gigabytes large, and pages of a fresh mapping that are only read take no
/// memory.
void clear(std::span<std::byte> memory) {
  static constexpr std::byte kZeroes[4096] = {};
  while (!memory.empty()) {
    const std::size_t size = std::min(memory.size(), sizeof kZeroes);
    if (std::memcmp(memory.data(), kZeroes, size) != 0) std::memset(memory.data(), 0, size);
    memory = memory.subspan(size);
  }
}

}  // namespace

Status place_image(const ElfImage& image, std::span<std::byte> memory, std::uint64_t load_address) {
  if (memory.size() != image.image_bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The code object needs {} bytes of memory, but was given {}.",
                            image.image_bytes, memory.size()));
  }
  if (load_address % image.alignment != 0) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("Load address 0x{:x} is not a multiple of {}.", load_address, image.alignment));
  }
  clear(memory);
  for (const Segment& segment : image.segments) {
    std::ranges::copy(segment.contents,
                      memory.begin() + static_cast<std::ptrdiff_t>(segment.vaddr));
  }
  for (const Relocation& relocation : image.relocations) {
    MARGAY_CHECK(apply(relocation, image, memory, load_address));
  }
  return {};
}

}  // namespace margay::code_object
