// Abbreviation tables; see abbreviations.h.
#include "code_object/dwarf/abbreviations.h"

#include <algorithm>

#include <llvm/BinaryFormat/Dwarf.h>

namespace margay::code_object {

AbbreviationTable::AbbreviationTable(ByteReader& reader) {
  while (!reader.at_end()) {
    Abbreviation shape{.code = reader.read_uleb()};
    if (shape.code == 0) break;
    shape.tag = static_cast<std::uint16_t>(reader.read_uleb());
    shape.has_children = reader.read<std::uint8_t>() != 0;
    shape.first_attribute = static_cast<std::uint32_t>(attributes_.size());
    while (reader.ok()) {
      AbbreviationAttribute attribute;
      attribute.attribute = static_cast<std::uint16_t>(reader.read_uleb());
      attribute.form = static_cast<std::uint16_t>(reader.read_uleb());
      if (attribute.form == llvm::dwarf::DW_FORM_implicit_const) {
        attribute.implicit_value = reader.read_sleb();
      }
      if (attribute.attribute == 0 && attribute.form == 0) break;
      attributes_.push_back(attribute);
    }
    shape.attribute_count = static_cast<std::uint32_t>(attributes_.size()) - shape.first_attribute;
    if (reader.ok()) shapes_.push_back(shape);
  }
  std::ranges::sort(shapes_, {}, &Abbreviation::code);
}

const Abbreviation* AbbreviationTable::find(std::uint64_t code) const {
  const auto found = std::ranges::lower_bound(shapes_, code, {}, &Abbreviation::code);
  return found != shapes_.end() && found->code == code ? &*found : nullptr;
}

const AbbreviationTable* Abbreviations::table_at(std::uint64_t offset) {
  if (const auto known = tables_.find(offset); known != tables_.end()) return &known->second;
  if (offset >= section_.size() || budget_ == 0) return nullptr;
  ByteReader reader(section_.subspan(offset));
  const auto added = tables_.emplace(offset, AbbreviationTable(reader)).first;
  budget_ -= std::min(budget_, reader.offset() + 1);
  return &added->second;
}

}  // namespace margay::code_object
