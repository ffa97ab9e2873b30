// How long a fat binary is of which only the start is known: clang registers it by pointer.
#include <algorithm>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>

#include "code_object/code_object.h"
#include "code_object/elf_image.h"
#include "code_object/offload_bundle.h"

namespace margay {
namespace {

using namespace code_object;

// No fat binary comes near it (they have to fit host programs); keeps a corrupted offset from being
// followed.
constexpr std::uint64_t kMaxBundleBytes = std::uint64_t{16} << 30;

/// The size of the ELF file at `data`: behind its last table or section.
Result<std::size_t> elf_size(const std::byte* data) {
  namespace elf = llvm::ELF;
  const Bytes header(data, sizeof(elf::Elf64_Ehdr));
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
  std::uint64_t end = std::max<std::uint64_t>(
      sizeof(elf::Elf64_Ehdr), program_headers + program_header_count * sizeof(elf::Elf64_Phdr));
  const std::uint64_t table_end = section_headers + section_count * sizeof(elf::Elf64_Shdr);
  if (program_headers > kMaxBundleBytes || section_headers > kMaxBundleBytes ||
      section_count == 0) {
    return fail(ErrorCode::invalid_image,
                "The code object in memory has impossible section headers.");
  }
  end = std::max(end, table_end);
  ByteReader sections(Bytes(data, table_end), section_headers);
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
  return end;
}

/// Walks the table of an uncompressed bundle entry by entry, because its length is not written
/// down.
Result<std::size_t> table_size(const std::byte* data) {
  constexpr std::uint64_t kEntryBytes = 24;
  std::uint64_t table_bytes = kBundleMagic.size() + 8;
  const auto count =
      ByteReader(Bytes(data, table_bytes), kBundleMagic.size()).read<std::uint64_t>();
  if (count > kMaxBundleEntries) {
    return fail(ErrorCode::invalid_image,
                fmt::format("The offload bundle in memory claims to have {} entries.", count));
  }
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ByteReader entry(Bytes(data + table_bytes, kEntryBytes));
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
  return std::max(end, table_bytes);
}

Result<std::size_t> compressed_size(const std::byte* data) {
  constexpr std::uint64_t kVersionBytes = 8, kVersion1Bytes = 20, kVersion2Bytes = 24,
                          kVersion3Bytes = 32;
  const auto version = ByteReader(Bytes(data, kVersionBytes), 4).read<std::uint16_t>();
  const std::uint64_t header_bytes = version == 1   ? kVersion1Bytes
                                     : version == 2 ? kVersion2Bytes
                                                    : kVersion3Bytes;
  const CompressedHeader header = MARGAY_TRY(read_compressed_header(Bytes(data, header_bytes)));
  if (header.total_bytes == 0) {
    return fail(ErrorCode::not_implemented,
                "A compressed offload bundle of version 1 does not say how long it is.", {},
                "Build with clang 19 or later, or without --offload-compress.");
  }
  if (header.total_bytes > kMaxBundleBytes) {
    return fail(ErrorCode::invalid_image, "The compressed offload bundle has an impossible size.");
  }
  return header.total_bytes;
}

/// Compares byte by byte, so that nothing behind the first difference is touched.
bool starts_with(const std::byte* data, std::string_view magic) {
  for (std::size_t i = 0; i < magic.size(); ++i) {
    if (std::to_integer<char>(data[i]) != magic[i]) return false;
  }
  return true;
}

}  // namespace

Result<std::size_t> bundle_size(const std::byte* data) {
  if (data == nullptr)
    return fail(ErrorCode::invalid_argument, "The fat binary is a null pointer.");
  if (starts_with(data, kElfMagic)) return elf_size(data);
  if (starts_with(data, kCompressedBundleMagic)) return compressed_size(data);
  if (starts_with(data, kBundleMagic)) return table_size(data);
  return fail(ErrorCode::invalid_image,
              "The fat binary in memory is neither an offload bundle nor a code object.");
}

}  // namespace margay
