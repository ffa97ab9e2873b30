// The ELF layer: turns the file into segments, symbols, relocations and the byte ranges that the
// metadata and DWARF readers work on. Everything in the result has been range-checked.
//
// Format: System V gABI chapters 4 and 5; LLVM, "User Guide for AMDGPU Backend", "ELF Code Object".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "code_object/elf/byte_reader.h"
#include "code_object/elf/symbol.h"
#include "gpu/architecture.h"

namespace margay::code_object {

/// A PT_LOAD segment. Ordered by address and disjoint.
struct Segment {
  std::uint64_t vaddr = 0;
  std::uint64_t memory_bytes = 0;
  bool executable = false;
  Bytes contents;  ///< The part that comes from the file; the rest of the memory is zero.
};

/// A dynamic relocation, its symbol already looked up.
struct Relocation {
  std::uint64_t vaddr = 0;
  std::uint32_t type = 0;
  std::uint64_t symbol_value = 0;
  bool symbol_is_absolute = false;  ///< The value does not move with the load address.
  std::int64_t addend = 0;
  std::string_view unresolved = {};  ///< The symbol's name when the image does not define it.
};

/// Raw (still possibly compressed) contents of one non-loaded section.
struct DebugSection {
  std::string_view name;  ///< E.g. ".debug_line".
  Bytes contents;
  bool compressed = false;
};

/// Views into the file it was read from, which must outlive it.
struct ElfImage {
  std::string target;  ///< E.g. "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-".
  const Architecture* architecture = nullptr;
  int version = 0;
  std::uint64_t image_bytes = 0;
  std::uint64_t alignment = 1;  ///< The load address must be a multiple of this.
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;  ///< Sorted by address, then name.
  std::vector<Relocation> relocations;
  Bytes metadata_note;  ///< Description of NT_AMDGPU_METADATA, MessagePack; empty without one.
  std::vector<DebugSection> debug_sections;

  [[nodiscard]] const Segment* segment_at(std::uint64_t vaddr) const;
  /// `size` bytes at `vaddr` as they are in the file, or an empty span.
  [[nodiscard]] Bytes file_bytes_at(std::uint64_t vaddr, std::uint64_t size) const;
};

/// Checks class, machine, ABI and target, and reads the tables.
[[nodiscard]] Result<ElfImage> read_elf(Bytes file);

/// The target of an AMD GPU ELF; wrong_architecture for the ELF file of another machine,
/// invalid_image for a file that is not ELF or of an unknown ABI.
struct ElfIdentity {
  std::string target;
  const Architecture* architecture = nullptr;
  int version = 0;
};
[[nodiscard]] Result<ElfIdentity> identify_elf(Bytes file);

/// Contents of the section `name` of any 64-bit little-endian ELF, e.g. a host program; empty when
/// there is none.
[[nodiscard]] Result<Bytes> find_elf_section(Bytes file, std::string_view name);

inline constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";
[[nodiscard]] bool is_elf(Bytes file);

}  // namespace margay::code_object
