// The length of a bundle or an ELF file from its headers; see bundle_size.h.
#include "code_object/bundle/bundle_size.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>

#include "code_object/bundle/offload_bundle.h"
#include "code_object/elf/elf_image.h"

namespace margay {
namespace {

using namespace code_object;

// No fat binary comes near it (they have to fit host programs); keeps a corrupted offset from being
// followed.
constexpr std::uint64_t kMaxBundleBytes = std::uint64_t{16} << 30;

std::unexpected<Error> cut_off(std::string_view what, std::uint64_t needs, Bytes readable) {
  return fail(ErrorCode::invalid_image,
              fmt::format("{} in memory needs {} bytes, but only {} can be read there.", what,
                          needs, readable.size()),
              {}, "The image is damaged or cut off: pass the whole file.");
}

/// The size of the ELF file at the start of `readable`: behind its last table or section.
Result<std::size_t> elf_size(Bytes readable) {
  namespace elf = llvm::ELF;
  constexpr std::string_view kWhat = "The code object";
  if (readable.size() < sizeof(elf::Elf64_Ehdr))
    return cut_off(kWhat, sizeof(elf::Elf64_Ehdr), readable);
  const Bytes header = readable.first(sizeof(elf::Elf64_Ehdr));
  MARGAY_CHECK(identify_elf(header));
  ByteReader reader(header, 32);
  const auto program_headers = reader.read<std::uint64_t>();
  const auto section_headers = reader.read<std::uint64_t>();
  reader.skip(6);  // e_flags, e_ehsize
  reader.skip(2);  // e_phentsize
  const std::uint64_t program_header_count = reader.read<std::uint16_t>();
  reader.skip(2);  // e_shentsize
  const std::uint64_t section_count = reader.read<std::uint16_t>();
  // A linked code object is laid out by the linker: headers, contents, section headers. The bound
  // keeps a corrupted offset from being followed.
  if (program_headers > kMaxBundleBytes || section_headers > kMaxBundleBytes ||
      section_count == 0) {
    return fail(ErrorCode::invalid_image,
                "The code object in memory has impossible section headers.");
  }
  const std::uint64_t table_end = section_headers + section_count * sizeof(elf::Elf64_Shdr);
  std::uint64_t end = std::max<std::uint64_t>(
      table_end, program_headers + program_header_count * sizeof(elf::Elf64_Phdr));
  if (end > readable.size()) return cut_off(kWhat, end, readable);
  ByteReader sections(readable.first(table_end), section_headers);
  for (std::uint64_t i = 0; i < section_count; ++i) {
    sections.skip(4);
    const auto type = sections.read<std::uint32_t>();
    sections.skip(16);  // sh_flags, sh_addr
    const auto offset = sections.read<std::uint64_t>();
    const auto size = sections.read<std::uint64_t>();
    sections.skip(24);
    if (type == elf::SHT_NULL || type == elf::SHT_NOBITS) continue;
    if (offset > kMaxBundleBytes || size > kMaxBundleBytes - offset) {
      return fail(
          ErrorCode::invalid_image,
          fmt::format("Section {} of the code object in memory has an impossible size.", i));
    }
    end = std::max(end, offset + size);
  }
  if (end > readable.size()) return cut_off(kWhat, end, readable);
  return end;
}

/// Walks the table of an uncompressed bundle entry by entry, because its length is not written
/// down.
Result<std::size_t> table_size(Bytes readable) {
  constexpr std::uint64_t kEntryBytes = 24;
  constexpr std::string_view kWhat = "The offload bundle";
  std::uint64_t table_bytes = kBundleMagic.size() + 8;
  if (readable.size() < table_bytes) return cut_off(kWhat, table_bytes, readable);
  const auto count = ByteReader(readable, kBundleMagic.size()).read<std::uint64_t>();
  if (count > kMaxBundleEntries) {
    return fail(ErrorCode::invalid_image,
                fmt::format("The offload bundle in memory claims to have {} entries.", count));
  }
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (readable.size() < table_bytes + kEntryBytes)
      return cut_off(kWhat, table_bytes + kEntryBytes, readable);
    ByteReader entry(readable.subspan(table_bytes, kEntryBytes));
    const auto offset = entry.read<std::uint64_t>();
    const auto size = entry.read<std::uint64_t>();
    const auto id_chars = entry.read<std::uint64_t>();
    if (offset > kMaxBundleBytes || size > kMaxBundleBytes - offset ||
        id_chars > kMaxBundleIdChars) {
      return fail(
          ErrorCode::invalid_image,
          fmt::format("Entry {} of the offload bundle in memory has an impossible size.", i));
    }
    table_bytes += kEntryBytes + id_chars;
    end = std::max(end, offset + size);
  }
  end = std::max(end, table_bytes);
  if (end > readable.size()) return cut_off(kWhat, end, readable);
  return end;
}

Result<std::size_t> compressed_size(Bytes readable) {
  const CompressedHeader header = MARGAY_TRY(read_compressed_header(readable));
  if (header.total_bytes == 0) {
    return fail(ErrorCode::not_implemented,
                "A compressed offload bundle of version 1 does not say how long it is.", {},
                "Build with clang 19 or later, or without --offload-compress.");
  }
  if (header.total_bytes > kMaxBundleBytes) {
    return fail(ErrorCode::invalid_image, "The compressed offload bundle has an impossible size.");
  }
  if (header.total_bytes > readable.size())
    return cut_off("The compressed offload bundle", header.total_bytes, readable);
  return header.total_bytes;
}

}  // namespace

Result<std::size_t> bundle_size(std::span<const std::byte> readable) {
  const std::string_view text = as_text(readable);
  if (text.starts_with(kElfMagic)) return elf_size(readable);
  if (text.starts_with(kCompressedBundleMagic)) return compressed_size(readable);
  if (text.starts_with(kBundleMagic)) return table_size(readable);
  return fail(ErrorCode::invalid_image,
              "The fat binary in memory is neither an offload bundle nor a code object.");
}

}  // namespace margay
