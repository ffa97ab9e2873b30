// Line tables: which source line each instruction comes from (DWARF 2 to 5, section 6.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "code_object/dwarf/sections.h"

namespace margay::code_object {

struct LineRow {
  std::uint64_t vaddr = 0;
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct LineFile {
  std::string_view name;
  std::uint64_t directory = 0;
};

/// The file names of one compilation unit.
struct LineTable {
  std::uint64_t offset = 0;  ///< In .debug_line; units refer to their table by it.
  std::uint16_t version = 0;
  std::vector<std::string_view> directories;
  std::vector<LineFile> files;

  /// The path of a file by the index that rows and call sites use. Relative ones are joined to
  /// their directory and `unit_directory`. Empty when there is no such file.
  [[nodiscard]] std::string path(std::uint64_t file, std::string_view unit_directory) const;
};

/// All line tables of a code object.
class LineTables {
 public:
  LineTables() = default;
  /// Reads as far as the sections are valid.
  explicit LineTables(const DwarfSections& sections);

  /// The last row at or before `vaddr` in the sequence that holds it, with its table.
  struct Position {
    const LineRow* row = nullptr;
    const LineTable* table = nullptr;
  };
  [[nodiscard]] Position find(std::uint64_t vaddr) const;
  [[nodiscard]] const LineTable* table_at(std::uint64_t offset) const;

 private:
  /// Rows of contiguous code, addresses ascending.
  struct Sequence {
    std::uint64_t begin = 0, end = 0;
    std::size_t table = 0, first_row = 0, row_count = 0;
  };
  struct Program;

  bool read_unit(const DwarfSections& sections, ByteReader& reader);
  void run(const DwarfSections& sections, const Program& program);
  void finish_sequence(const DwarfSections& sections, std::size_t first_row, std::uint64_t end);

  std::vector<LineTable> tables_;
  std::vector<Sequence> sequences_;
  std::vector<LineRow> rows_;
};

}  // namespace margay::code_object
