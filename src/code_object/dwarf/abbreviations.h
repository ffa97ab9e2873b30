// Abbreviation tables: the shapes of debugging information entries (DWARF 5, section 7.5.3).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "code_object/elf/byte_reader.h"

namespace margay::code_object {

struct AbbreviationAttribute {
  std::uint16_t attribute = 0;      ///< DW_AT_*
  std::uint16_t form = 0;           ///< DW_FORM_*
  std::int64_t implicit_value = 0;  ///< Of DW_FORM_implicit_const.
};

struct Abbreviation {
  std::uint64_t code = 0;
  std::uint16_t tag = 0;  ///< DW_TAG_*
  bool has_children = false;
  std::uint32_t first_attribute = 0;
  std::uint32_t attribute_count = 0;
};

/// The table at one offset of .debug_abbrev.
class AbbreviationTable {
 public:
  explicit AbbreviationTable(ByteReader& reader);

  [[nodiscard]] const Abbreviation* find(std::uint64_t code) const;
  [[nodiscard]] std::span<const AbbreviationAttribute> attributes(const Abbreviation& shape) const {
    return std::span(attributes_).subspan(shape.first_attribute, shape.attribute_count);
  }

 private:
  std::vector<Abbreviation> shapes_;  ///< Sorted by code.
  std::vector<AbbreviationAttribute> attributes_;
};

/// All tables, read on first use.
class Abbreviations {
 public:
  Abbreviations() = default;
  explicit Abbreviations(Bytes section) : section_(section), budget_(2 * section.size()) {}

  /// The table at `offset`, or null when there is none. The pointer stays valid.
  [[nodiscard]] const AbbreviationTable* table_at(std::uint64_t offset);

 private:
  Bytes section_;
  // Tables do not overlap in valid files, so reading much more than the section indicates a
  // corrupted one, whose overlapping tables could take hours to read.
  std::uint64_t budget_ = 0;
  std::map<std::uint64_t, AbbreviationTable> tables_;
};

}  // namespace margay::code_object
