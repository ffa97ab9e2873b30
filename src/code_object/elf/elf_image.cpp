// ELF reading on LLVM's ELFFile, which checks each table against the file; what it does not check
// (addresses, overlaps, absurd sizes) is checked here.
#include "code_object/elf/elf_image.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELF.h>

#include "code_object/elf/target_id.h"

namespace margay::code_object {
namespace {

using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;
using SectionHeader = llvm::object::ELF64LE::Shdr;

// An image larger than this is refused: the largest real ones (rocBLAS, Composable Kernel) stay
// below 1 GiB, and a corrupted size must not make the loader allocate terabytes.
constexpr std::uint64_t kMaxImageBytes = std::uint64_t{4} << 30;
// Pages are 4 KiB; 2 MiB, the largest page AMD GPUs map, bounds the alignment a linker can request.
constexpr std::uint64_t kMaxAlignment = std::uint64_t{2} << 20;

std::unexpected<Error> invalid(std::string what) {
  return fail(ErrorCode::invalid_image, std::move(what), {}, "Rebuild the code object.");
}

/// Moves an LLVM Expected into a Result; the error text goes into a sentence about `subject`.
template <typename T>
Result<T> checked(llvm::Expected<T> value, std::string_view subject) {
  if (value) return std::move(*value);
  return invalid(fmt::format("The code object's {} cannot be read: {}.", subject,
                             llvm::toString(value.takeError())));
}

llvm::StringRef to_llvm(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
Bytes from_llvm(llvm::ArrayRef<std::uint8_t> bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

Status read_segments(const ElfFile& elf, Bytes file, ElfImage& image) {
  const auto headers = MARGAY_TRY(checked(elf.program_headers(), "program headers"));
  for (const auto& header : headers) {
    const std::uint64_t offset = header.p_offset, file_bytes = header.p_filesz;
    const std::uint64_t vaddr = header.p_vaddr, memory_bytes = header.p_memsz;
    if (header.p_type != llvm::ELF::PT_LOAD || memory_bytes == 0) continue;
    if (vaddr > kMaxImageBytes || memory_bytes > kMaxImageBytes - vaddr) {
      return invalid(fmt::format("A segment (address 0x{:x}, 0x{:x} bytes) goes past 4 GiB.", vaddr,
                                 memory_bytes));
    }
    if (file_bytes > memory_bytes || offset > file.size() || file_bytes > file.size() - offset) {
      return invalid(
          fmt::format("The segment at address 0x{:x} (file offset 0x{:x}, 0x{:x} bytes) "
                      "does not fit the file's {} bytes: it is truncated or corrupted.",
                      vaddr, offset, file_bytes, file.size()));
    }
    if (vaddr < image.image_bytes) {
      return invalid(fmt::format("The segment at address 0x{:x} overlaps the one before.", vaddr));
    }
    const std::uint64_t alignment = std::max<std::uint64_t>(header.p_align, 1);
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
      return invalid(fmt::format("The segment at address 0x{:x} asks for an alignment of {} bytes.",
                                 vaddr, alignment));
    }
    image.alignment = std::max(image.alignment, alignment);
    image.image_bytes = vaddr + memory_bytes;
    image.segments.push_back({.vaddr = vaddr,
                              .memory_bytes = memory_bytes,
                              .executable = (header.p_flags & llvm::ELF::PF_X) != 0,
                              .contents = file.subspan(offset, file_bytes)});
  }
  if (image.segments.empty()) return invalid("The code object has no loadable segment.");
  return {};
}

/// Note records: three words, name and description, each padded to 4 bytes (gABI, "Note Section").
void read_notes(Bytes notes, ElfImage& image) {
  ByteReader reader(notes);
  while (!reader.at_end()) {
    const auto name_bytes = reader.read<std::uint32_t>();
    const auto description_bytes = reader.read<std::uint32_t>();
    const auto type = reader.read<std::uint32_t>();
    const std::string_view name = as_text(reader.take(name_bytes));
    reader.skip(std::min<std::uint64_t>(-name_bytes & 3u, reader.remaining()));
    const Bytes description = reader.take(description_bytes);
    reader.skip(std::min<std::uint64_t>(-description_bytes & 3u, reader.remaining()));
    if (!reader.ok()) return;
    if (type == llvm::ELF::NT_AMDGPU_METADATA && name == std::string_view("AMDGPU\0", 7)) {
      image.metadata_note = description;
    }
  }
}

Symbol::Kind symbol_kind(unsigned elf_type) {
  if (elf_type == llvm::ELF::STT_FUNC || elf_type == llvm::ELF::STT_AMDGPU_HSA_KERNEL) {
    return Symbol::Kind::function;
  }
  return elf_type == llvm::ELF::STT_OBJECT ? Symbol::Kind::object : Symbol::Kind::other;
}

Status read_symbols(const ElfFile& elf, llvm::ArrayRef<SectionHeader> sections,
                    const SectionHeader& table, ElfImage& image) {
  const auto symbols = MARGAY_TRY(checked(elf.symbols(&table), "symbol table"));
  if (symbols.empty()) return {};
  const auto names = MARGAY_TRY(checked(elf.getStringTableForSymtab(table), "symbol names"));
  // Names may share their tails, but copying a table in which all of them are tails of one long
  // string could exhaust memory.
  std::uint64_t name_budget = 16 * std::uint64_t{elf.getBufSize()};
  for (const auto& entry : symbols) {
    const unsigned type = entry.getType();
    // Absolute symbols hold numbers (register counts), not addresses; the reserved indices above
    // mark LDS variables and commons, which a linked image no longer contains.
    if (entry.st_shndx == llvm::ELF::SHN_UNDEF || entry.st_shndx >= llvm::ELF::SHN_LORESERVE ||
        type == llvm::ELF::STT_SECTION || type == llvm::ELF::STT_FILE) {
      continue;
    }
    const auto name = MARGAY_TRY(checked(entry.getName(names), "symbol names"));
    if (entry.st_shndx >= sections.size()) {
      return invalid(fmt::format("Symbol {} names section {}, which does not exist.",
                                 std::string_view(name), unsigned{entry.st_shndx}));
    }
    if ((sections[entry.st_shndx].sh_flags & llvm::ELF::SHF_ALLOC) == 0) continue;
    const std::uint64_t vaddr = entry.st_value, size = entry.st_size;
    if (vaddr > image.image_bytes || size > image.image_bytes - vaddr) {
      return invalid(fmt::format("Symbol {} (address 0x{:x}, {} bytes) is outside the image.",
                                 std::string_view(name), vaddr, size));
    }
    if (name.empty()) continue;
    if (name.size() > name_budget) return invalid("The symbol names are longer than the file.");
    name_budget -= name.size();
    image.symbols.push_back(
        {.name = name.str(), .vaddr = vaddr, .size_bytes = size, .kind = symbol_kind(type)});
  }
  return {};
}

/// Both symbol tables list the exported symbols; hand-written assembly often leaves out sizes.
void tidy_symbols(ElfImage& image) {
  const auto key = [](const Symbol& s) { return std::tie(s.vaddr, s.name, s.size_bytes, s.kind); };
  std::ranges::sort(image.symbols, {}, key);
  const auto repeated = std::ranges::unique(image.symbols, {}, key);
  image.symbols.erase(repeated.begin(), repeated.end());

  std::uint64_t next_function = image.image_bytes;
  for (auto symbol = image.symbols.rbegin(); symbol != image.symbols.rend(); ++symbol) {
    if (symbol->kind != Symbol::Kind::function) continue;
    if (const Segment* home = image.segment_at(symbol->vaddr); symbol->size_bytes == 0 && home) {
      const std::uint64_t last = home->vaddr + home->memory_bytes;
      symbol->size_bytes = std::min(next_function, last) - symbol->vaddr;
    }
    next_function = std::min(next_function, symbol->vaddr);
  }
}

Status read_relocations(const ElfFile& elf, llvm::ArrayRef<SectionHeader> sections,
                        const SectionHeader& section, ElfImage& image) {
  const auto entries = MARGAY_TRY(checked(elf.relas(section), "relocations"));
  if (entries.empty()) return {};
  if (image.relocations.size() + entries.size() > elf.getBufSize() / sizeof(entries[0])) {
    return invalid("The relocation tables overlap.");
  }
  llvm::ArrayRef<llvm::object::ELF64LE::Sym> symbols;
  llvm::StringRef names;
  if (section.sh_link != 0 && section.sh_link < sections.size()) {
    const SectionHeader& table = sections[section.sh_link];
    symbols = MARGAY_TRY(checked(elf.symbols(&table), "dynamic symbol table"));
    names = MARGAY_TRY(checked(elf.getStringTableForSymtab(table), "dynamic symbol names"));
  }
  for (const auto& entry : entries) {
    Relocation relocation{
        .vaddr = entry.r_offset, .type = entry.getType(false), .addend = entry.r_addend};
    const std::uint32_t index = entry.getSymbol(false);
    if (index != 0) {
      if (index >= symbols.size()) {
        return invalid(fmt::format("A relocation names symbol {}, but there are only {}.", index,
                                   symbols.size()));
      }
      const auto& symbol = symbols[index];
      relocation.symbol_value = symbol.st_value;
      relocation.symbol_is_absolute = symbol.st_shndx == llvm::ELF::SHN_ABS;
      if (symbol.st_shndx == llvm::ELF::SHN_UNDEF) {
        relocation.symbol_value = 0;
        relocation.symbol_is_absolute = true;  // An undefined weak symbol is the null pointer.
        if (symbol.getBinding() != llvm::ELF::STB_WEAK) {
          relocation.unresolved = MARGAY_TRY(checked(symbol.getName(names), "symbol names"));
          if (relocation.unresolved.empty()) relocation.unresolved = "(without a name)";
        }
      }
    }
    image.relocations.push_back(relocation);
  }
  return {};
}

/// Static, truncating kinds never reach a linked image (LLVM, "Relocation Records"), and AMD's
/// loader does not read the packed tables either.
bool is_unsupported_relocation_table(const SectionHeader& section) {
  switch (section.sh_type) {
    case llvm::ELF::SHT_REL:
    case llvm::ELF::SHT_RELR:
    case llvm::ELF::SHT_CREL:
    case llvm::ELF::SHT_ANDROID_REL:
    case llvm::ELF::SHT_ANDROID_RELA:
    case llvm::ELF::SHT_ANDROID_RELR:
      return (section.sh_flags & llvm::ELF::SHF_ALLOC) != 0;
    default:
      return false;
  }
}

Status read_sections(const ElfFile& elf, ElfImage& image) {
  const auto sections = MARGAY_TRY(checked(elf.sections(), "section headers"));
  if (sections.empty()) {
    return fail(ErrorCode::invalid_image, "The code object has no section headers.", {},
                "Do not strip section headers (llvm-strip --strip-sections).");
  }
  const auto names = MARGAY_TRY(checked(elf.getSectionStringTable(sections), "section names"));
  // At most one table of a kind (gABI, "Sections"): repeated headers must not multiply the work.
  unsigned symbol_tables = 0, dynamic_symbol_tables = 0;
  for (const SectionHeader& section : sections) {
    const bool loaded = (section.sh_flags & llvm::ELF::SHF_ALLOC) != 0;
    if (section.sh_type == llvm::ELF::SHT_SYMTAB || section.sh_type == llvm::ELF::SHT_DYNSYM) {
      const bool dynamic = section.sh_type == llvm::ELF::SHT_DYNSYM;
      if ((dynamic ? dynamic_symbol_tables : symbol_tables)++ != 0) {
        return invalid("The code object has several symbol tables of one kind.");
      }
      MARGAY_CHECK(read_symbols(elf, sections, section, image));
    } else if (section.sh_type == llvm::ELF::SHT_RELA && loaded) {
      MARGAY_CHECK(read_relocations(elf, sections, section, image));
    } else if (is_unsupported_relocation_table(section)) {
      return fail(ErrorCode::not_implemented,
                  fmt::format("The code object holds packed relocations (section type 0x{:x}).",
                              unsigned{section.sh_type}),
                  {}, "Link it without -z pack-relative-relocs.");
    } else if (section.sh_type == llvm::ELF::SHT_PROGBITS && !loaded) {
      const auto name = MARGAY_TRY(checked(elf.getSectionName(section, names), "section names"));
      if (!name.starts_with(".debug_")) continue;
      const auto contents = MARGAY_TRY(checked(elf.getSectionContents(section), "debug sections"));
      image.debug_sections.push_back(
          {.name = {name.data(), name.size()},
           .contents = from_llvm(contents),
           .compressed = (section.sh_flags & llvm::ELF::SHF_COMPRESSED) != 0});
    }
  }
  return {};
}

}  // namespace

const Segment* ElfImage::segment_at(std::uint64_t vaddr) const {
  const auto after = std::ranges::upper_bound(segments, vaddr, {}, &Segment::vaddr);
  if (after == segments.begin()) return nullptr;
  const Segment& segment = *std::prev(after);
  return vaddr - segment.vaddr < segment.memory_bytes ? &segment : nullptr;
}

Bytes ElfImage::file_bytes_at(std::uint64_t vaddr, std::uint64_t size) const {
  const Segment* segment = segment_at(vaddr);
  return segment ? slice(segment->contents, vaddr - segment->vaddr, size) : Bytes{};
}

bool is_elf(Bytes file) { return as_text(file).starts_with(kElfMagic); }

Result<ElfIdentity> identify_elf(Bytes file) {
  if (!is_elf(file)) {
    return fail(ErrorCode::invalid_image, "This is not a code object: the ELF magic is missing.",
                {}, "Give a .hsaco file, an offload bundle, or a program with HIP kernels in it.");
  }
  if (file.size() < sizeof(llvm::object::ELF64LE::Ehdr)) {
    return invalid(fmt::format("The code object is truncated: {} bytes are not even an ELF header.",
                               file.size()));
  }
  const auto ident = [&](unsigned index) { return std::to_integer<unsigned>(file[index]); };
  if (ident(llvm::ELF::EI_CLASS) != llvm::ELF::ELFCLASS64 ||
      ident(llvm::ELF::EI_DATA) != llvm::ELF::ELFDATA2LSB) {
    return fail(ErrorCode::wrong_architecture, "The ELF file is not 64-bit little-endian.");
  }
  ByteReader reader(file, llvm::ELF::EI_NIDENT);
  const auto type = reader.read<std::uint16_t>();
  const auto machine = reader.read<std::uint16_t>();
  reader.seek(48);  // e_flags
  const auto flags = reader.read<std::uint32_t>();
  if (machine != llvm::ELF::EM_AMDGPU) {
    return fail(ErrorCode::wrong_architecture,
                fmt::format("The ELF file is for machine {}, not for an AMD GPU (224).", machine));
  }
  if (ident(llvm::ELF::EI_OSABI) != llvm::ELF::ELFOSABI_AMDGPU_HSA) {
    return fail(ErrorCode::wrong_architecture,
                fmt::format("The code object is for OS ABI {}, not for HSA (64).",
                            ident(llvm::ELF::EI_OSABI)),
                {}, "Compile for the target amdgcn-amd-amdhsa.");
  }
  const unsigned abi = ident(llvm::ELF::EI_ABIVERSION);
  if (abi < llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V4 ||
      abi > llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V6) {
    return fail(ErrorCode::invalid_image,
                fmt::format("The code object has ABI version {}; Margay reads 2 to 4 (code object "
                            "v4 to v6).",
                            abi),
                {}, "Compile with -mcode-object-version=5.");
  }
  const TargetId target = MARGAY_TRY(target_from_flags(flags));
  const Architecture* const architecture = architecture_of(target);
  if (architecture == nullptr) return wrong_target(target.text(), default_gpu().arch());
  if (type != llvm::ELF::ET_DYN) {
    return fail(ErrorCode::invalid_image,
                fmt::format("The code object is not linked (ELF type {}).", type), {},
                "Link it with ld.lld -shared.");
  }
  return ElfIdentity{.target = "amdgcn-amd-amdhsa--" + target.text(),
                     .architecture = architecture,
                     .version = static_cast<int>(abi) + 2};
}

Result<Bytes> find_elf_section(Bytes file, std::string_view name) {
  const ElfFile elf = MARGAY_TRY(checked(ElfFile::create(to_llvm(file)), "header"));
  const auto sections = MARGAY_TRY(checked(elf.sections(), "section headers"));
  if (sections.empty()) return Bytes{};
  const auto names = MARGAY_TRY(checked(elf.getSectionStringTable(sections), "section names"));
  for (const SectionHeader& section : sections) {
    const auto found = MARGAY_TRY(checked(elf.getSectionName(section, names), "section names"));
    if (std::string_view(found) != name || section.sh_type == llvm::ELF::SHT_NOBITS) continue;
    return from_llvm(MARGAY_TRY(checked(elf.getSectionContents(section), "section contents")));
  }
  return Bytes{};
}

Result<ElfImage> read_elf(Bytes file) {
  ElfImage image;
  ElfIdentity identity = MARGAY_TRY(identify_elf(file));
  image.target = std::move(identity.target);
  image.architecture = identity.architecture;
  image.version = identity.version;
  const ElfFile elf = MARGAY_TRY(checked(ElfFile::create(to_llvm(file)), "header"));
  MARGAY_CHECK(read_segments(elf, file, image));
  for (const auto& header : MARGAY_TRY(checked(elf.program_headers(), "program headers"))) {
    if (header.p_type != llvm::ELF::PT_NOTE) continue;
    read_notes(slice(file, header.p_offset, header.p_filesz), image);
  }
  MARGAY_CHECK(read_sections(elf, image));
  tidy_symbols(image);
  return image;
}

}  // namespace margay::code_object
