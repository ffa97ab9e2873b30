// The line-number program and its header; see line_table.h.
#include "code_object/dwarf/line_table.h"

#include <algorithm>
#include <array>

#include <llvm/BinaryFormat/Dwarf.h>

#include "code_object/dwarf/forms.h"

namespace margay::code_object {

using namespace llvm::dwarf;

struct LineTables::Program {
  Bytes code;
  std::uint8_t min_instruction_bytes = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::array<std::uint8_t, 256> operand_counts{};  ///< By standard opcode.
};

namespace {

/// One of the two tables of a version 5 header: a description of its columns, then the rows.
bool read_entries(ByteReader& reader, const DwarfSections& sections, FormParameters parameters,
                  std::vector<LineFile>& entries) {
  struct Column {
    std::uint64_t content;
    std::uint16_t form;
  };
  std::vector<Column> columns(reader.read<std::uint8_t>());
  for (Column& column : columns) {
    column.content = reader.read_uleb();
    column.form = static_cast<std::uint16_t>(reader.read_uleb());
  }
  const std::uint64_t count = reader.read_uleb();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::uint64_t start = reader.offset();
    LineFile entry;
    for (const Column& column : columns) {
      const auto value = read_form(reader, column.form, 0, parameters);
      if (!value) return false;
      if (column.content == DW_LNCT_directory_index) entry.directory = value->value;
      if (column.content != DW_LNCT_path) continue;
      switch (value->form) {
        case DW_FORM_string:
          entry.name = value->text;
          break;
        case DW_FORM_strp:
          entry.name = string_at(sections.str, value->value);
          break;
        case DW_FORM_line_strp:
          entry.name = string_at(sections.line_str, value->value);
          break;
        default:
          break;
      }
    }
    // Rows that take no bytes could be claimed without limit.
    if (reader.offset() == start) return false;
    entries.push_back(entry);
  }
  return reader.ok();
}

/// The tables of versions 2 to 4: strings, each list ended by an empty one. Directory 0, the
/// compilation directory, is implied; so is file 0, which does not exist.
bool read_entries_v4(ByteReader& reader, LineTable& table) {
  table.directories.emplace_back();
  for (std::string_view name = reader.read_c_string(); !name.empty();
       name = reader.read_c_string()) {
    table.directories.push_back(name);
  }
  table.files.emplace_back();
  for (std::string_view name = reader.read_c_string(); !name.empty();
       name = reader.read_c_string()) {
    table.files.push_back({.name = name, .directory = reader.read_uleb()});
    static_cast<void>(reader.read_uleb());  // time of last change
    static_cast<void>(reader.read_uleb());  // length in bytes
  }
  return reader.ok();
}

bool is_absolute(std::string_view path) { return path.starts_with('/'); }

std::string join(std::string_view directory, std::string_view name) {
  if (directory.empty() || is_absolute(name)) return std::string(name);
  std::string out(directory);
  if (!out.ends_with('/')) out += '/';
  return out.append(name);
}

}  // namespace

std::string LineTable::path(std::uint64_t file, std::string_view unit_directory) const {
  if (file >= files.size() || files[file].name.empty()) return {};
  const LineFile& entry = files[file];
  const bool known = entry.directory < directories.size();
  const std::string_view directory = known ? directories[entry.directory] : std::string_view{};
  return join(join(unit_directory, directory), entry.name);
}

LineTables::LineTables(const DwarfSections& sections) {
  ByteReader reader(sections.line);
  while (!reader.at_end() && read_unit(sections, reader)) {
  }
  std::ranges::sort(sequences_, {}, [](const Sequence& sequence) {
    return std::pair(sequence.begin, sequence.first_row);
  });
}

/// Reads one unit and advances `reader` past it. False when the start of the next one is unknown.
bool LineTables::read_unit(const DwarfSections& sections, ByteReader& reader) {
  LineTable table;
  table.offset = reader.offset();
  FormParameters parameters;
  std::uint64_t length = reader.read<std::uint32_t>();
  if (length == DW_LENGTH_DWARF64) {
    length = reader.read<std::uint64_t>();
    parameters.offset_bytes = 8;
  }
  const Bytes unit = reader.take(length);
  if (!reader.ok()) return false;

  ByteReader header(unit);
  table.version = parameters.version = header.read<std::uint16_t>();
  if (table.version < 2 || table.version > 5) return true;
  if (table.version >= 5) header.skip(2);  // address and segment selector size
  const std::uint64_t header_length = header.read_uint(parameters.offset_bytes);
  const std::uint64_t header_start = header.offset();

  Program program;
  program.min_instruction_bytes = header.read<std::uint8_t>();
  if (table.version >= 4) header.skip(1);  // operations per instruction: VLIW only
  header.skip(1);                          // default of is_stmt
  program.line_base = header.read<std::int8_t>();
  program.line_range = header.read<std::uint8_t>();
  program.opcode_base = header.read<std::uint8_t>();
  for (unsigned opcode = 1; opcode < program.opcode_base; ++opcode) {
    program.operand_counts[opcode] = header.read<std::uint8_t>();
  }
  if (!header.ok() || program.line_range == 0) return true;

  if (table.version >= 5) {
    std::vector<LineFile> directories;
    if (!read_entries(header, sections, parameters, directories)) return true;
    for (const LineFile& directory : directories) table.directories.push_back(directory.name);
    if (!read_entries(header, sections, parameters, table.files)) return true;
  } else if (!read_entries_v4(header, table)) {
    return true;
  }
  if (header_length > unit.size() - header_start) return true;
  program.code = unit.subspan(header_start + header_length);
  tables_.push_back(std::move(table));
  run(sections, program);
  return true;
}

/// The state machine of DWARF 5, section 6.2.5.
void LineTables::run(const DwarfSections& sections, const Program& program) {
  constexpr LineRow kStart{.vaddr = 0, .file = 1, .line = 1, .column = 0};
  LineRow state = kStart;
  std::size_t first_row = rows_.size();
  ByteReader reader(program.code);
  const auto advance = [&](std::uint64_t operations) {
    state.vaddr += operations * program.min_instruction_bytes;
  };
  while (!reader.at_end()) {
    const auto opcode = reader.read<std::uint8_t>();
    if (opcode >= program.opcode_base) {
      const unsigned adjusted = opcode - program.opcode_base;
      advance(adjusted / program.line_range);
      state.line += static_cast<std::uint32_t>(program.line_base +
                                               static_cast<int>(adjusted % program.line_range));
      rows_.push_back(state);
      continue;
    }
    switch (opcode) {
      case DW_LNS_extended_op: {
        const std::uint64_t length = reader.read_uleb();
        ByteReader operand(reader.take(length));
        switch (operand.read<std::uint8_t>()) {
          case DW_LNE_end_sequence:
            if (!reader.ok()) break;
            finish_sequence(sections, first_row, state.vaddr);
            first_row = rows_.size();
            state = kStart;
            break;
          case DW_LNE_set_address:
            state.vaddr =
                operand.read_uint(static_cast<unsigned>(std::min<std::uint64_t>(length - 1, 8)));
            break;
          default:
            break;  // Discriminators and file definitions do not change the position.
        }
        break;
      }
      case DW_LNS_copy:
        rows_.push_back(state);
        break;
      case DW_LNS_advance_pc:
        advance(reader.read_uleb());
        break;
      case DW_LNS_advance_line:
        state.line += static_cast<std::uint32_t>(reader.read_sleb());
        break;
      case DW_LNS_set_file:
        state.file = static_cast<std::uint32_t>(reader.read_uleb());
        break;
      case DW_LNS_set_column:
        state.column = static_cast<std::uint32_t>(reader.read_uleb());
        break;
      case DW_LNS_const_add_pc:
        advance((255u - program.opcode_base) / program.line_range);
        break;
      case DW_LNS_fixed_advance_pc:
        state.vaddr += reader.read<std::uint16_t>();
        break;
      case DW_LNS_negate_stmt:
      case DW_LNS_set_basic_block:
      case DW_LNS_set_prologue_end:
      case DW_LNS_set_epilogue_begin:
        break;
      default:  // The header says how many operands to pass over.
        for (unsigned i = 0; i < program.operand_counts[opcode]; ++i) {
          static_cast<void>(reader.read_uleb());
        }
    }
  }
  rows_.resize(first_row);  // A sequence without an end is dropped.
}

/// Keeps the rows since `first_row` when they describe code of this image in ascending order.
void LineTables::finish_sequence(const DwarfSections& sections, std::size_t first_row,
                                 std::uint64_t end) {
  const std::size_t row_count = rows_.size() - first_row;
  const std::span<const LineRow> rows = std::span(rows_).subspan(first_row);
  if (row_count != 0 && std::ranges::is_sorted(rows, {}, &LineRow::vaddr)) {
    const auto [begin, last] = sections.clip_to_code(rows.front().vaddr, end);
    if (begin < last) {
      sequences_.push_back({.begin = begin,
                            .end = last,
                            .table = tables_.size() - 1,
                            .first_row = first_row,
                            .row_count = row_count});
      return;
    }
  }
  rows_.resize(first_row);
}

LineTables::Position LineTables::find(std::uint64_t vaddr) const {
  const auto after = std::ranges::upper_bound(sequences_, vaddr, {}, &Sequence::begin);
  if (after == sequences_.begin()) return {};
  const Sequence& sequence = *std::prev(after);
  if (vaddr >= sequence.end) return {};
  const auto rows = std::span(rows_).subspan(sequence.first_row, sequence.row_count);
  const auto row = std::prev(std::ranges::upper_bound(rows, vaddr, {}, &LineRow::vaddr));
  return {.row = &*row, .table = &tables_[sequence.table]};
}

const LineTable* LineTables::table_at(std::uint64_t offset) const {
  const auto found = std::ranges::lower_bound(tables_, offset, {}, &LineTable::offset);
  return found != tables_.end() && found->offset == offset ? &*found : nullptr;
}

}  // namespace margay::code_object
