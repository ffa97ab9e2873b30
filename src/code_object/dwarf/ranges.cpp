// The code addresses an entry covers: one range, or a list of them (DWARF 5, section 2.17.3; DWARF
// 4, the same).
#include <llvm/BinaryFormat/Dwarf.h>

#include "code_object/dwarf/debug_info.h"

namespace margay::code_object {

using namespace llvm::dwarf;

/// Leaves the ranges of `entry` that are in this image's code in ranges_.
void DebugInfo::read_ranges(const Unit& unit, const Entry& entry) {
  ranges_.clear();
  if (entry.ranges.present()) {
    std::uint64_t offset = entry.ranges.value;
    if (unit.parameters.version < 5) return read_range_list_v4(unit, offset);
    if (entry.ranges.form == DW_FORM_rnglistx) {
      const unsigned entry_bytes = unit.parameters.offset_bytes;
      const Bytes section = sections_.rnglists;
      if (unit.rnglists_base > section.size() ||
          offset >= (section.size() - unit.rnglists_base) / entry_bytes) {
        return;
      }
      ByteReader reader(section, unit.rnglists_base + offset * entry_bytes);
      offset = unit.rnglists_base + reader.read_uint(entry_bytes);
    }
    return read_range_list(unit, offset);
  }
  if (!entry.low_pc.present() || !entry.high_pc.present()) return;
  const std::uint64_t begin = address(unit, entry.low_pc);
  const std::uint64_t end =
      entry.high_pc.is_address() ? address(unit, entry.high_pc) : begin + entry.high_pc.value;
  add_range(begin, end);
}

void DebugInfo::add_range(std::uint64_t begin, std::uint64_t end) {
  const auto [first, last] = sections_.clip_to_code(begin, end);
  if (first < last) ranges_.push_back({.begin = first, .end = last});
}

void DebugInfo::read_range_list(const Unit& unit, std::uint64_t offset) {
  std::uint64_t base = unit.low_pc;
  ByteReader reader(sections_.rnglists, offset);
  while (!reader.at_end() && range_budget_ > 0) {
    --range_budget_;
    std::uint64_t begin = 0, end = 0;
    switch (reader.read<std::uint8_t>()) {
      case DW_RLE_base_addressx:
        base = address(unit, reader.read_uleb());
        continue;
      case DW_RLE_base_address:
        base = reader.read<std::uint64_t>();
        continue;
      case DW_RLE_startx_endx:
        begin = address(unit, reader.read_uleb());
        end = address(unit, reader.read_uleb());
        break;
      case DW_RLE_startx_length:
        begin = address(unit, reader.read_uleb());
        end = begin + reader.read_uleb();
        break;
      case DW_RLE_offset_pair:
        begin = base + reader.read_uleb();
        end = base + reader.read_uleb();
        break;
      case DW_RLE_start_end:
        begin = reader.read<std::uint64_t>();
        end = reader.read<std::uint64_t>();
        break;
      case DW_RLE_start_length:
        begin = reader.read<std::uint64_t>();
        end = begin + reader.read_uleb();
        break;
      default:
        return;  // DW_RLE_end_of_list, or a kind that does not exist.
    }
    if (reader.ok()) add_range(begin, end);
  }
}

void DebugInfo::read_range_list_v4(const Unit& unit, std::uint64_t offset) {
  std::uint64_t base = unit.low_pc;
  ByteReader reader(sections_.ranges, offset);
  while (!reader.at_end() && range_budget_ > 0) {
    --range_budget_;
    const auto begin = reader.read<std::uint64_t>();
    const auto end = reader.read<std::uint64_t>();
    if (!reader.ok() || (begin == 0 && end == 0)) return;
    if (begin == ~std::uint64_t{0}) {
      base = end;
    } else {
      add_range(base + begin, base + end);
    }
  }
}

}  // namespace margay::code_object
