// Source positions; see source_lines.h.
#include "code_object/source_lines.h"

#include <llvm/BinaryFormat/ELF.h>

#include "code_object/bundle/decompress.h"
#include "code_object/demangle.h"
#include "code_object/dwarf/parameters.h"

namespace margay::code_object {
namespace {

// Inlining deeper than this only occurs in corrupted files.
constexpr std::size_t kMaxFrames = 256;
// Debug information compresses by 3 to 10 times; far beyond that it is corrupted.
constexpr std::uint64_t kMaxDebugExpansion = 32;
// Attributes to read for all kernels' parameters, per byte of .debug_info. Types are read again for
// each kernel that uses them.
constexpr std::uint64_t kParameterAttributes = 32;

/// A section with SHF_COMPRESSED begins with a header (gABI, "Section Compression").
std::vector<std::byte> decompressed_section(Bytes contents) {
  ByteReader reader(contents);
  const auto type = reader.read<std::uint32_t>();
  reader.skip(4);
  const auto size = reader.read<std::uint64_t>();
  reader.skip(8);  // alignment
  const bool known = type == llvm::ELF::ELFCOMPRESS_ZLIB || type == llvm::ELF::ELFCOMPRESS_ZSTD;
  if (!reader.ok() || !known || size / kMaxDebugExpansion > contents.size()) return {};
  auto out = decompress(type == llvm::ELF::ELFCOMPRESS_ZLIB ? Compression::zlib : Compression::zstd,
                        reader.take(reader.remaining()), size);
  return out ? std::move(*out) : std::vector<std::byte>{};
}

struct NamedSection {
  std::string_view name;
  Bytes DwarfSections::* member;
};
constexpr NamedSection kSections[] = {
    {".debug_abbrev", &DwarfSections::abbrev},
    {".debug_info", &DwarfSections::info},
    {".debug_line", &DwarfSections::line},
    {".debug_line_str", &DwarfSections::line_str},
    {".debug_str", &DwarfSections::str},
    {".debug_addr", &DwarfSections::addr},
    {".debug_ranges", &DwarfSections::ranges},
    {".debug_rnglists", &DwarfSections::rnglists},
    {".debug_str_offsets", &DwarfSections::str_offsets},
};

}  // namespace

SourceLines::SourceLines(const ElfImage& image) {
  for (const Segment& segment : image.segments) {
    if (!segment.executable) continue;
    sections_.code.emplace_back(segment.vaddr, segment.vaddr + segment.memory_bytes);
  }
  for (const DebugSection& section : image.debug_sections) {
    for (const auto& [name, member] : kSections) {
      // One section of each name: repeated ones could decompress the same data any number of times.
      if (section.name != name || !(sections_.*member).empty()) continue;
      sections_.*member = section.contents;
      if (!section.compressed) continue;
      decompressed_.push_back(decompressed_section(section.contents));
      sections_.*member = decompressed_.back();
    }
  }
  lines_ = LineTables(sections_);
  info_ = DebugInfo(sections_);
  parameter_budget_ = kParameterAttributes * sections_.info.size();
}

std::vector<ArgumentField> SourceLines::argument_fields(const Kernel& kernel) {
  return read_argument_fields(info_, kernel, parameter_budget_);
}

std::vector<SourceFrame> SourceLines::frames_at(std::uint64_t vaddr) const {
  const auto [row, table] = lines_.find(vaddr);
  if (row == nullptr) return {};
  const Unit* unit = info_.unit_of_line_table(table->offset);
  SourceFrame frame{.function = {},
                    .file = table->path(row->file, unit ? unit->directory : ""),
                    .line = row->line,
                    .column = row->column};
  std::vector<SourceFrame> frames;
  for (std::uint32_t index = info_.scope_at(vaddr);
       index != kNoScope && frames.size() + 1 < kMaxFrames;) {
    const Scope& scope = info_.scope(index);
    const FunctionName name = info_.function_name(scope);
    frame.function = name.linkage.empty() ? std::string(name.plain) : demangled(name.linkage);
    if (!scope.inlined) break;
    frames.push_back(std::move(frame));

    const Unit& caller = info_.unit(scope);
    const LineTable* files =
        caller.has_line_table ? lines_.table_at(caller.line_table_offset) : nullptr;
    frame = {.function = {},
             .file = files ? files->path(scope.call_file, caller.directory) : std::string{},
             .line = scope.call_line,
             .column = scope.call_column};
    index = scope.parent;
  }
  frames.push_back(std::move(frame));
  return frames;
}

}  // namespace margay::code_object
