// Units, entries and names; the address ranges of entries are in ranges.cpp. See debug_info.h.
#include "code_object/dwarf/debug_info.h"

#include <algorithm>

#include <llvm/BinaryFormat/Dwarf.h>

namespace margay::code_object {

using namespace llvm::dwarf;

namespace {

// abstract_origin and specification lead from an inlined copy over the definition to the
// declaration; more steps than this are a loop.
constexpr unsigned kMaxNameHops = 8;
constexpr std::uint8_t kAddressBytes = 8;

/// An index into a table of entries of `entry_bytes` that begins at `base` of `section`.
std::uint64_t table_entry(Bytes section, std::uint64_t base, std::uint64_t index,
                          unsigned entry_bytes) {
  if (base > section.size() || index >= (section.size() - base) / entry_bytes) return ~0ull;
  return ByteReader(section, base + index * entry_bytes).read_uint(entry_bytes);
}

bool has_scoped_name(std::uint16_t tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type;
}

}  // namespace

DebugInfo::DebugInfo(const DwarfSections& sections)
    : sections_(sections),
      abbreviations_(sections.abbrev),
      attribute_budget_(64 * sections.info.size()),
      range_budget_(sections.info.size() + sections.ranges.size() + sections.rnglists.size()) {
  ByteReader reader(sections_.info);
  while (!reader.at_end() && units_.size() < kNoScope) {
    Unit unit;
    bool holds_code = false;
    if (!read_unit_header(reader, unit, holds_code)) break;
    const std::uint64_t first_entry = reader.offset();
    if (holds_code) {
      units_.push_back(unit);
      read_unit(static_cast<std::uint32_t>(units_.size() - 1), first_entry);
    }
    reader.seek(unit.end);
  }
}

/// False when the rest of the section is invalid; `holds_code` says whether the entries can be read
/// and describe code (type units do not).
bool DebugInfo::read_unit_header(ByteReader& reader, Unit& unit, bool& holds_code) {
  unit.offset = reader.offset();
  std::uint64_t length = reader.read<std::uint32_t>();
  if (length == DW_LENGTH_DWARF64) {
    length = reader.read<std::uint64_t>();
    unit.parameters.offset_bytes = 8;
  }
  if (!reader.ok() || length > reader.remaining()) return false;
  unit.end = reader.offset() + length;
  unit.parameters.version = reader.read<std::uint16_t>();
  std::uint8_t type = DW_UT_compile;
  std::uint8_t address_bytes = 0;
  std::uint64_t abbreviations = 0;
  if (unit.parameters.version >= 5) {
    type = reader.read<std::uint8_t>();
    address_bytes = reader.read<std::uint8_t>();
    abbreviations = reader.read_uint(unit.parameters.offset_bytes);
    if (type == DW_UT_skeleton || type == DW_UT_split_compile) reader.skip(8);
  } else {
    abbreviations = reader.read_uint(unit.parameters.offset_bytes);
    address_bytes = reader.read<std::uint8_t>();
  }
  if (!reader.ok() || reader.offset() > unit.end) return false;
  holds_code = unit.parameters.version >= 2 && unit.parameters.version <= 5 &&
               address_bytes == kAddressBytes &&
               (type == DW_UT_compile || type == DW_UT_partial || type == DW_UT_skeleton);
  if (holds_code) unit.abbreviations = abbreviations_.table_at(abbreviations);
  holds_code = holds_code && unit.abbreviations != nullptr;
  return true;
}

void DebugInfo::read_unit(std::uint32_t unit_index, std::uint64_t first_entry) {
  ByteReader reader(sections_.info.first(units_[unit_index].end), first_entry);
  Entry entry;
  if (!read_entry(reader, units_[unit_index], entry, attribute_budget_) || entry.is_null()) return;
  adopt_unit_entry(units_[unit_index], entry);
  if (!entry.shape->has_children) return;

  struct Level {
    std::uint32_t scope = kNoScope;
    std::uint64_t named = 0;
  };
  std::vector<Level> enclosing = {{}};
  while (!enclosing.empty() && !reader.at_end()) {
    if (!read_entry(reader, units_[unit_index], entry, attribute_budget_)) return;
    if (entry.is_null()) {
      enclosing.pop_back();
      continue;
    }
    Level level = enclosing.back();
    const auto tag = entry.shape->tag;
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      level.scope = add_scope(unit_index, level.scope, entry);
    } else if (has_scoped_name(tag)) {
      if (level.named != 0) named_.push_back({.offset = entry.offset, .enclosing = level.named});
      level.named = entry.offset;
    }
    if (entry.shape->has_children) enclosing.push_back(level);
  }
}

bool DebugInfo::read_entry(ByteReader& reader, const Unit& unit, Entry& entry,
                           std::uint64_t& budget) {
  entry = {};
  entry.offset = reader.offset();
  const std::uint64_t code = reader.read_uleb();
  if (!reader.ok()) return false;
  if (code == 0) return true;
  entry.shape = unit.abbreviations->find(code);
  if (entry.shape == nullptr || entry.shape->attribute_count > budget) return false;
  budget -= entry.shape->attribute_count;
  for (const auto& [attribute, form, implicit] : unit.abbreviations->attributes(*entry.shape)) {
    const auto value = read_form(reader, form, implicit, unit.parameters);
    if (!value) return false;
    if (FormValue* slot = entry.slot(attribute)) *slot = *value;
  }
  return true;
}

/// The unit's own entry carries the bases that indexed forms, its own included, are relative to.
void DebugInfo::adopt_unit_entry(Unit& unit, const Entry& entry) {
  // Without the attribute the table follows the header of its section (DWARF 5, section 7.26-7.28).
  const std::uint64_t header_bytes = unit.parameters.offset_bytes == 4 ? 8 : 16;
  unit.str_offsets_base =
      entry.str_offsets_base.present() ? entry.str_offsets_base.value : header_bytes;
  unit.addr_base = entry.addr_base.present() ? entry.addr_base.value : header_bytes;
  unit.rnglists_base = entry.rnglists_base.present() ? entry.rnglists_base.value : header_bytes + 4;
  unit.directory = text(unit, entry.comp_dir);
  if (entry.low_pc.present()) unit.low_pc = address(unit, entry.low_pc);
  unit.has_line_table = entry.stmt_list.present();
  unit.line_table_offset = entry.stmt_list.value;
  if (unit.has_line_table) {
    unit_of_line_table_.emplace(unit.line_table_offset,
                                static_cast<std::uint32_t>(&unit - units_.data()));
  }
}

/// Abstract functions and declarations have no code and make no scope.
std::uint32_t DebugInfo::add_scope(std::uint32_t unit_index, std::uint32_t parent,
                                   const Entry& entry) {
  read_ranges(units_[unit_index], entry);
  if (ranges_.empty() || scopes_.size() >= kNoScope) return parent;
  const auto index = static_cast<std::uint32_t>(scopes_.size());
  scopes_.push_back({.die_offset = entry.offset,
                     .unit = unit_index,
                     .parent = parent,
                     .inlined = entry.shape->tag == DW_TAG_inlined_subroutine,
                     .call_file = entry.call_file.value,
                     .call_line = static_cast<std::uint32_t>(entry.call_line.value),
                     .call_column = static_cast<std::uint32_t>(entry.call_column.value)});
  for (const Range& range : ranges_) paint(range.begin, range.end, index);
  return index;
}

/// Entries come outermost first, so that painting over what came before leaves the innermost.
void DebugInfo::paint(std::uint64_t begin, std::uint64_t end, std::uint32_t scope) {
  auto last = scope_from_.lower_bound(end);
  if (last == scope_from_.end() || last->first != end) {
    const std::uint32_t before = last == scope_from_.begin() ? kNoScope : std::prev(last)->second;
    last = scope_from_.emplace_hint(last, end, before);
  }
  scope_from_.erase(scope_from_.lower_bound(begin), last);
  scope_from_.emplace_hint(last, begin, scope);
}

std::uint32_t DebugInfo::scope_at(std::uint64_t vaddr) const {
  const auto after = scope_from_.upper_bound(vaddr);
  return after == scope_from_.begin() ? kNoScope : std::prev(after)->second;
}

FunctionName DebugInfo::function_name(const Scope& scope) const {
  FunctionName name;
  std::uint64_t offset = scope.die_offset;
  for (unsigned hop = 0; hop < kMaxNameHops; ++hop) {
    Entry entry;
    std::uint64_t budget = sections_.abbrev.size(), children = 0;
    const Unit* const unit = entry_at(offset, entry, children, budget);
    if (unit == nullptr) break;
    if (name.linkage.empty()) name.linkage = text(*unit, entry.linkage_name);
    if (name.plain.empty()) name.plain = text(*unit, entry.name);
    const FormValue& next =
        entry.abstract_origin.present() ? entry.abstract_origin : entry.specification;
    if (!next.present() || (!name.linkage.empty() && !name.plain.empty())) break;
    offset = target(*unit, next);
  }
  return name;
}

const Unit* DebugInfo::entry_at(std::uint64_t offset, Entry& entry, std::uint64_t& children,
                                std::uint64_t& budget) const {
  const auto after = std::ranges::upper_bound(units_, offset, {}, &Unit::offset);
  if (after == units_.begin()) return nullptr;
  const Unit& unit = *std::prev(after);
  if (offset >= unit.end) return nullptr;
  ByteReader reader = reader_at(unit, offset);
  if (!read_entry(reader, unit, entry, budget) || entry.is_null()) return nullptr;
  children = reader.offset();
  return &unit;
}

/// References are relative to the unit, except the one that reaches other units. Type units and
/// supplementary files are not read.
std::uint64_t DebugInfo::target(const Unit& unit, const FormValue& reference) {
  if (reference.form == DW_FORM_ref_sig8 || reference.form == DW_FORM_ref_sup4 ||
      reference.form == DW_FORM_ref_sup8) {
    return ~std::uint64_t{0};
  }
  return reference.form == DW_FORM_ref_addr ? reference.value : unit.offset + reference.value;
}

std::uint64_t DebugInfo::enclosing(std::uint64_t offset) const {
  const auto found = std::ranges::lower_bound(named_, offset, {}, &Named::offset);
  return found != named_.end() && found->offset == offset ? found->enclosing : 0;
}

const Unit* DebugInfo::unit_of_line_table(std::uint64_t offset) const {
  const auto found = unit_of_line_table_.find(offset);
  return found == unit_of_line_table_.end() ? nullptr : &units_[found->second];
}

std::string_view DebugInfo::text(const Unit& unit, const FormValue& value) const {
  if (value.is_string_index()) {
    const std::uint64_t offset = table_entry(sections_.str_offsets, unit.str_offsets_base,
                                             value.value, unit.parameters.offset_bytes);
    return string_at(sections_.str, offset);
  }
  switch (value.form) {
    case DW_FORM_string:
      return value.text;
    case DW_FORM_strp:
      return string_at(sections_.str, value.value);
    case DW_FORM_line_strp:
      return string_at(sections_.line_str, value.value);
    default:
      return {};
  }
}

std::uint64_t DebugInfo::address(const Unit& unit, std::uint64_t index) const {
  return table_entry(sections_.addr, unit.addr_base, index, kAddressBytes);
}

std::uint64_t DebugInfo::address(const Unit& unit, const FormValue& value) const {
  return value.is_address_index() ? address(unit, value.value) : value.value;
}

}  // namespace margay::code_object
