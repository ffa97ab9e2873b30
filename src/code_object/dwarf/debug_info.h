// Debugging information entries, as far as source positions and kernel parameters need them: which
// function, inlined or not, an instruction belongs to, from where an inlined one was called, and
// the types of a function's parameters (DWARF 4 and 5, sections 2.17, 3.3, 5 and 7.5).
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "code_object/dwarf/abbreviations.h"
#include "code_object/dwarf/entry.h"
#include "code_object/dwarf/forms.h"
#include "code_object/dwarf/sections.h"

namespace margay::code_object {

/// A compilation unit.
struct Unit {
  std::uint64_t offset = 0;  ///< In .debug_info.
  std::uint64_t end = 0;
  FormParameters parameters;
  const AbbreviationTable* abbreviations = nullptr;
  std::string_view directory;
  std::uint64_t line_table_offset = 0;
  bool has_line_table = false;
  std::uint64_t low_pc = 0;
  std::uint64_t str_offsets_base = 0;
  std::uint64_t addr_base = 0;
  std::uint64_t rnglists_base = 0;
};

/// A function, or the inlined copy of one.
struct Scope {
  std::uint64_t die_offset = 0;
  std::uint32_t unit = 0;
  std::uint32_t parent = 0;  ///< Index of the enclosing scope, or kNoScope.
  bool inlined = false;
  std::uint64_t call_file = 0;
  std::uint32_t call_line = 0;
  std::uint32_t call_column = 0;
};

inline constexpr std::uint32_t kNoScope = ~std::uint32_t{0};

struct FunctionName {
  std::string_view linkage;  ///< Mangled; empty when the compiler did not record it.
  std::string_view plain;
};

class DebugInfo {
 public:
  DebugInfo() = default;
  /// Reads as far as the sections are valid.
  explicit DebugInfo(const DwarfSections& sections);

  /// Index of the innermost scope at `vaddr`, or kNoScope.
  [[nodiscard]] std::uint32_t scope_at(std::uint64_t vaddr) const;
  [[nodiscard]] const Scope& scope(std::uint32_t index) const { return scopes_[index]; }
  [[nodiscard]] const Unit& unit(const Scope& scope) const { return units_[scope.unit]; }
  [[nodiscard]] FunctionName function_name(const Scope& scope) const;
  /// The unit that uses the line table at `offset`, or null.
  [[nodiscard]] const Unit* unit_of_line_table(std::uint64_t offset) const;

  // For readers of single entries; see parameters.h. A budget is how many more attributes may be
  // read.
  /// The entry at `offset` of .debug_info and its unit; null when there is none. Its children
  /// begin at `children`.
  [[nodiscard]] const Unit* entry_at(std::uint64_t offset, Entry& entry, std::uint64_t& children,
                                     std::uint64_t& budget) const;
  /// Reads the entry at the cursor of a reader made by reader_at() and advances past it. False when
  /// it is invalid.
  static bool read_entry(ByteReader& reader, const Unit& unit, Entry& entry, std::uint64_t& budget);
  [[nodiscard]] ByteReader reader_at(const Unit& unit, std::uint64_t offset) const {
    return ByteReader(sections_.info.first(unit.end), offset);
  }
  /// Where in .debug_info a reference leads.
  [[nodiscard]] static std::uint64_t target(const Unit& unit, const FormValue& reference);
  [[nodiscard]] std::string_view text(const Unit& unit, const FormValue& value) const;
  /// The namespace or type that encloses the namespace or type at `offset`, or 0.
  [[nodiscard]] std::uint64_t enclosing(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t info_bytes() const { return sections_.info.size(); }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };

  /// A namespace or a type with members.
  struct Named {
    std::uint64_t offset = 0;
    std::uint64_t enclosing = 0;  ///< Offset of the one around it, or 0.
  };

  bool read_unit_header(ByteReader& reader, Unit& unit, bool& holds_code);
  void read_unit(std::uint32_t unit_index, std::uint64_t first_entry);
  void adopt_unit_entry(Unit& unit, const Entry& entry);
  std::uint32_t add_scope(std::uint32_t unit_index, std::uint32_t parent, const Entry& entry);
  void read_ranges(const Unit& unit, const Entry& entry);
  void add_range(std::uint64_t begin, std::uint64_t end);
  void read_range_list(const Unit& unit, std::uint64_t offset);
  void read_range_list_v4(const Unit& unit, std::uint64_t offset);
  void paint(std::uint64_t begin, std::uint64_t end, std::uint32_t scope);
  [[nodiscard]] std::uint64_t address(const Unit& unit, std::uint64_t index) const;
  [[nodiscard]] std::uint64_t address(const Unit& unit, const FormValue& value) const;

  DwarfSections sections_;
  Abbreviations abbreviations_;
  std::vector<Unit> units_;  ///< In file order.
  std::vector<Scope> scopes_;
  std::vector<Named> named_;                           ///< In file order.
  std::map<std::uint64_t, std::uint32_t> scope_from_;  ///< Innermost scope from an address on.
  std::map<std::uint64_t, std::uint32_t> unit_of_line_table_;
  std::vector<Range> ranges_;  ///< Of the entry being read; a member to avoid allocations.
  // Valid files stay far below these; corrupted ones, in which entries of one byte share a huge
  // shape or range list, would take hours.
  std::uint64_t attribute_budget_ = 0;
  std::uint64_t range_budget_ = 0;
};

}  // namespace margay::code_object
