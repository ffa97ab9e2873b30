// One debugging information entry: the attributes that source positions and kernel parameters need,
// still encoded.
#pragma once

#include <cstdint>

#include <llvm/BinaryFormat/Dwarf.h>

#include "code_object/dwarf/abbreviations.h"
#include "code_object/dwarf/forms.h"

namespace margay::code_object {

struct Entry {
  std::uint64_t offset = 0;
  const Abbreviation* shape = nullptr;  ///< Null for the entry that ends a list of children.
  FormValue name, linkage_name, abstract_origin, specification;
  FormValue low_pc, high_pc, ranges;
  FormValue call_file, call_line, call_column;
  FormValue comp_dir, stmt_list, str_offsets_base, addr_base, rnglists_base;
  FormValue type, byte_size, encoding, member_location, count, upper_bound;

  [[nodiscard]] bool is_null() const { return shape == nullptr; }

  /// The member for a DW_AT_*, or null for an attribute that is not needed.
  [[nodiscard]] FormValue* slot(std::uint16_t attribute) {
    using namespace llvm::dwarf;
    switch (attribute) {
      case DW_AT_name:
        return &name;
      case DW_AT_linkage_name:
      case DW_AT_MIPS_linkage_name:
        return &linkage_name;
      case DW_AT_abstract_origin:
        return &abstract_origin;
      case DW_AT_specification:
        return &specification;
      case DW_AT_low_pc:
        return &low_pc;
      case DW_AT_high_pc:
        return &high_pc;
      case DW_AT_ranges:
        return &ranges;
      case DW_AT_call_file:
        return &call_file;
      case DW_AT_call_line:
        return &call_line;
      case DW_AT_call_column:
        return &call_column;
      case DW_AT_comp_dir:
        return &comp_dir;
      case DW_AT_stmt_list:
        return &stmt_list;
      case DW_AT_str_offsets_base:
        return &str_offsets_base;
      case DW_AT_addr_base:
        return &addr_base;
      case DW_AT_rnglists_base:
        return &rnglists_base;
      case DW_AT_type:
        return &type;
      case DW_AT_byte_size:
        return &byte_size;
      case DW_AT_encoding:
        return &encoding;
      case DW_AT_data_member_location:
        return &member_location;
      case DW_AT_count:
        return &count;
      case DW_AT_upper_bound:
        return &upper_bound;
      default:
        return nullptr;
    }
  }
};

}  // namespace margay::code_object
