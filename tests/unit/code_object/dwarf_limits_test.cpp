// Debug information that no compiler writes: sections made by hand to cost far more than their
// size. Each test hangs, overflows the stack or exhausts the memory when its bound is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/BinaryFormat/Dwarf.h>

#include <string>

#include "code_object/dwarf/debug_info.h"
#include "code_object/dwarf/line_table.h"
#include "code_object/dwarf/parameters.h"

namespace margay::code_object {
namespace {

using namespace llvm::dwarf;

class Section {
 public:
  template <typename T>
  Section& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Section& u8(unsigned value) { return put(static_cast<std::uint8_t>(value)); }
  Section& u16(unsigned value) { return put(static_cast<std::uint16_t>(value)); }
  Section& u32(std::uint64_t value) { return put(static_cast<std::uint32_t>(value)); }
  Section& u64(std::uint64_t value) { return put(value); }
  Section& uleb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(0x80 | (value & 0x7f));
    return u8(static_cast<unsigned>(value));
  }
  Section& text(std::string_view value) {
    text_.append(value).push_back('\0');
    return *this;
  }
  Section& raw(std::string_view value) {
    text_.append(value);
    return *this;
  }
  /// The same with its length in front, as units have it.
  [[nodiscard]] Section unit() const { return Section().u32(text_.size()).raw(text_); }
  [[nodiscard]] Bytes bytes() const { return std::as_bytes(std::span(text_)); }

 private:
  std::string text_;
};

constexpr std::uint64_t kCodeBegin = 0x1000, kCodeEnd = 0x2000;

/// .debug_abbrev: code 1 is the unit, 2 a function with a range and children, 3 one without.
Section abbreviations() {
  return Section()
      .uleb(1)
      .uleb(DW_TAG_compile_unit)
      .u8(1)
      .u16(0)
      .uleb(2)
      .uleb(DW_TAG_subprogram)
      .u8(1)
      .uleb(DW_AT_low_pc)
      .uleb(DW_FORM_addr)
      .uleb(DW_AT_high_pc)
      .uleb(DW_FORM_data4)
      .u16(0)
      .uleb(3)
      .uleb(DW_TAG_inlined_subroutine)
      .u8(1)
      .u16(0);
}

/// A version 5 unit with 32-bit offsets around `entries`.
Section unit(const Section& entries, std::uint32_t abbreviation_offset = 0) {
  return Section()
      .u16(5)
      .u8(DW_UT_compile)
      .u8(8)
      .u32(abbreviation_offset)
      .raw(as_text(entries.bytes()))
      .unit();
}

DwarfSections sections(const Section& abbrev, const Section& info) {
  return {.abbrev = abbrev.bytes(),
          .info = info.bytes(),
          .line = {},
          .line_str = {},
          .str = {},
          .str_offsets = {},
          .addr = {},
          .ranges = {},
          .rnglists = {},
          .code = {{kCodeBegin, kCodeEnd}}};
}

TEST(DwarfLimits, FindAFunction) {
  const Section abbrev = abbreviations();
  const Section info = unit(Section().uleb(1).uleb(2).u64(kCodeBegin).u32(0x100).u8(0).u8(0));
  const DebugInfo debug_info(sections(abbrev, info));
  EXPECT_NE(debug_info.scope_at(kCodeBegin), kNoScope);
  EXPECT_NE(debug_info.scope_at(kCodeBegin + 0xff), kNoScope);
  EXPECT_EQ(debug_info.scope_at(kCodeBegin + 0x100), kNoScope);
}

TEST(DwarfLimits, DiscardedFunctionsCoverNothing) {
  // The linker leaves them at address 0; this one would reach into the code.
  const Section abbrev = abbreviations();
  const Section info = unit(Section().uleb(1).uleb(2).u64(0).u32(kCodeBegin + 0x100).u8(0).u8(0));
  const DebugInfo debug_info(sections(abbrev, info));
  EXPECT_EQ(debug_info.scope_at(kCodeBegin), kNoScope);
}

TEST(DwarfLimits, FunctionsBehindTheCodeAreLeftOut) {
  const Section abbrev = abbreviations();
  const Section info = unit(Section().uleb(1).uleb(2).u64(kCodeEnd).u32(0x100).u8(0).u8(0));
  const DebugInfo debug_info(sections(abbrev, info));
  EXPECT_EQ(debug_info.scope_at(kCodeEnd), kNoScope);
}

TEST(DwarfLimits, DeepNestingTakesNoStack) {
  const Section abbrev = abbreviations();
  const Section info = unit(Section().uleb(1).raw(std::string(2'000'000, 3)));
  const DebugInfo debug_info(sections(abbrev, info));
  EXPECT_EQ(debug_info.scope_at(kCodeBegin), kNoScope);
}

TEST(DwarfLimits, OverlappingAbbreviationTablesAreNotReadForEver) {
  // Each unit begins to read the same million bytes one shape, 7 bytes, later.
  Section abbrev;
  for (int i = 0; i < 150'000; ++i) {
    abbrev.uleb(1).uleb(DW_TAG_compile_unit).u8(0).uleb(DW_AT_sibling).uleb(DW_FORM_addr).u16(0);
  }
  Section info;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    info.raw(as_text(unit(Section().uleb(1), i * 7).bytes()));
  }
  const DebugInfo debug_info(sections(abbrev, info));
  EXPECT_EQ(debug_info.scope_at(kCodeBegin), kNoScope);
}

TEST(DwarfLimits, EntriesOfOneByteCannotHaveManyAttributes) {
  Section abbrev;
  abbrev.uleb(1).uleb(DW_TAG_compile_unit).u8(1).u16(0).uleb(2).uleb(DW_TAG_variable).u8(0);
  for (int i = 0; i < 1'000'000; ++i) abbrev.uleb(DW_AT_external).uleb(DW_FORM_flag_present);
  abbrev.u16(0).u8(0);
  const Section info = unit(Section().uleb(1).raw(std::string(1'000'000, 2)));
  const DebugInfo debug_info(sections(abbrev, info));
  EXPECT_EQ(debug_info.scope_at(kCodeBegin), kNoScope);
}

TEST(DwarfLimits, SharedRangeListsAreNotReadForEver) {
  Section abbrev;
  abbrev.uleb(1).uleb(DW_TAG_compile_unit).u8(1).u16(0);
  abbrev.uleb(2).uleb(DW_TAG_subprogram).u8(0).uleb(DW_AT_ranges).uleb(DW_FORM_sec_offset).u16(0);
  Section entries;
  entries.uleb(1);
  for (int i = 0; i < 200'000; ++i) entries.uleb(2).u32(0);
  const Section info = unit(entries);
  Section lists;
  for (int i = 0; i < 300'000; ++i) {
    lists.u8(DW_RLE_offset_pair)
        .uleb(kCodeBegin + (i % 1000) * 2)
        .uleb(kCodeBegin + (i % 1000) * 2 + 1);
  }
  DwarfSections all = sections(abbrev, info);
  all.rnglists = lists.bytes();
  const DebugInfo debug_info(all);
  EXPECT_NE(debug_info.scope_at(kCodeBegin), kNoScope);
}

TEST(DwarfLimits, NamesThatReferToThemselvesEnd) {
  Section abbrev;
  abbrev.uleb(1).uleb(DW_TAG_compile_unit).u8(1).u16(0);
  abbrev.uleb(2)
      .uleb(DW_TAG_subprogram)
      .u8(0)
      .uleb(DW_AT_low_pc)
      .uleb(DW_FORM_addr)
      .uleb(DW_AT_high_pc)
      .uleb(DW_FORM_data4)
      .uleb(DW_AT_abstract_origin)
      .uleb(DW_FORM_ref4)
      .u16(0);
  // The unit's entry is at offset 12 of the unit, the function's at 13.
  const Section info = unit(Section().uleb(1).uleb(2).u64(kCodeBegin).u32(4).u32(13).u8(0));
  const DebugInfo debug_info(sections(abbrev, info));
  const std::uint32_t scope = debug_info.scope_at(kCodeBegin);
  ASSERT_NE(scope, kNoScope);
  EXPECT_EQ(debug_info.function_name(debug_info.scope(scope)).plain, "");
}

/// 1 unit, 2 function, 3 parameter, 4 struct, 5 array, 6 a member or base in place, 7 a dimension,
/// 8 an entry without anything.
Section type_abbreviations() {
  Section abbrev;
  abbrev.uleb(1).uleb(DW_TAG_compile_unit).u8(1).u16(0);
  abbrev.uleb(2).uleb(DW_TAG_subprogram).u8(1).uleb(DW_AT_low_pc).uleb(DW_FORM_addr);
  abbrev.uleb(DW_AT_high_pc).uleb(DW_FORM_data4).u16(0);
  abbrev.uleb(3).uleb(DW_TAG_formal_parameter).u8(0).uleb(DW_AT_type).uleb(DW_FORM_ref4).u16(0);
  abbrev.uleb(4).uleb(DW_TAG_structure_type).u8(1).uleb(DW_AT_byte_size).uleb(DW_FORM_data1);
  abbrev.u16(0);
  abbrev.uleb(5).uleb(DW_TAG_array_type).u8(1).uleb(DW_AT_type).uleb(DW_FORM_ref4).u16(0);
  abbrev.uleb(6).uleb(DW_TAG_inheritance).u8(0).uleb(DW_AT_type).uleb(DW_FORM_ref4);
  abbrev.uleb(DW_AT_data_member_location).uleb(DW_FORM_data8).u16(0);
  abbrev.uleb(7).uleb(DW_TAG_subrange_type).u8(0).uleb(DW_AT_count).uleb(DW_FORM_data8).u16(0);
  abbrev.uleb(8).uleb(DW_TAG_pointer_type).u8(0).u16(0);
  return abbrev.u8(0);
}

/// Where the first entry behind the parameter of parameter_of() begins.
constexpr std::uint32_t kFirstType = 32;

/// A function whose parameter's type is at `type`, then `types`, and what is read of it.
std::vector<ArgumentField> parameter_of(std::uint32_t type, const Section& types) {
  const Section abbrev = type_abbreviations();
  const Section info = unit(Section()
                                .uleb(1)
                                .uleb(2)
                                .u64(kCodeBegin)
                                .u32(4)
                                .uleb(3)
                                .u32(type)
                                .u8(0)
                                .raw(as_text(types.bytes()))
                                .u8(0));
  Kernel kernel;
  kernel.entry_vaddr = kCodeBegin;
  KernelArgument& argument = kernel.arguments.emplace_back();
  argument.kind = ArgumentKind::by_value;
  argument.offset_bytes = 16;
  argument.size_bytes = 64;
  std::uint64_t budget = 64 * info.bytes().size();
  return read_argument_fields(DebugInfo(sections(abbrev, info)), kernel, budget);
}

TEST(DwarfLimits, FindAPointerInAStruct) {
  // The struct is 1 + 1 bytes and holds one base of 13 bytes and an end; the pointer follows.
  const Section types = Section().uleb(4).u8(8).uleb(6).u32(kFirstType + 16).u64(56).u8(0).uleb(8);
  const auto fields = parameter_of(kFirstType, types);
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].offset_bytes, 16u + 56);
}

TEST(DwarfLimits, PointersOutsideOfTheParameterAreLeftOut) {
  for (const std::uint64_t location : {57ull, 64ull, ~0ull, ~0ull - 15}) {
    const Section types =
        Section().uleb(4).u8(8).uleb(6).u32(kFirstType + 16).u64(location).u8(0).uleb(8);
    EXPECT_TRUE(parameter_of(kFirstType, types).empty()) << location;
  }
}

TEST(DwarfLimits, StructsOfThemselvesAreNotReadForEver) {
  Section types = Section().uleb(4).u8(8);
  for (int i = 0; i < 100; ++i) types.uleb(6).u32(kFirstType).u64(0);
  EXPECT_TRUE(parameter_of(kFirstType, types.u8(0)).empty());
}

TEST(DwarfLimits, ArraysOfThemselvesAreNotReadForEver) {
  const Section types = Section()
                            .uleb(5)
                            .u32(kFirstType + 15)
                            .uleb(7)
                            .u64(~0ull)
                            .u8(0)
                            .uleb(4)
                            .u8(1)
                            .uleb(6)
                            .u32(kFirstType)
                            .u64(0)
                            .u8(0);
  EXPECT_TRUE(parameter_of(kFirstType, types).empty());
}

TEST(DwarfLimits, TypesThatReferToThemselvesEnd) {
  const Section types = Section().uleb(5).u32(kFirstType).uleb(7).u64(2).u8(0);
  EXPECT_TRUE(parameter_of(kFirstType, types).empty());
  EXPECT_TRUE(parameter_of(~0u, types).empty());
}

/// .debug_line, version 5, one opcode byte more than the standard ones, around tables and program.
Section line_unit(const Section& tables, const Section& program) {
  const Section rest = Section()
                           .u8(4)
                           .u8(1)
                           .u8(1)
                           .u8(0xfb)
                           .u8(14)
                           .u8(13)  // 4-byte instructions, line base -5, range 14
                           .raw(std::string("\0\1\1\1\1\0\0\0\1\0\0\1", 12))
                           .raw(as_text(tables.bytes()));
  return Section()
      .u16(5)
      .u8(8)
      .u8(0)
      .u32(rest.bytes().size())
      .raw(as_text(rest.bytes()))
      .raw(as_text(program.bytes()))
      .unit();
}

/// One directory and one file, their names in place.
Section line_files() {
  return Section()
      .u8(1)
      .uleb(DW_LNCT_path)
      .uleb(DW_FORM_string)
      .uleb(1)
      .text("/src")
      .u8(1)
      .uleb(DW_LNCT_path)
      .uleb(DW_FORM_string)
      .uleb(1)
      .text("a.hip");
}

/// Two instructions from `begin` on, of line 7.
Section line_program(std::uint64_t begin) {
  return Section()
      .u8(0)
      .uleb(9)
      .u8(DW_LNE_set_address)
      .u64(begin)
      .u8(DW_LNS_set_file)
      .uleb(0)
      .u8(DW_LNS_advance_line)
      .uleb(6)
      .u8(DW_LNS_copy)
      .u8(DW_LNS_advance_pc)
      .uleb(2)
      .u8(0)
      .uleb(1)
      .u8(DW_LNE_end_sequence);
}

LineTables line_tables(const Section& line) {
  const Section none;
  DwarfSections all = sections(none, none);
  all.line = line.bytes();
  return LineTables(all);
}

TEST(DwarfLimits, ReadAHandMadeLineTable) {
  const Section line = line_unit(line_files(), line_program(kCodeBegin));
  const LineTables lines = line_tables(line);
  const auto [row, table] = lines.find(kCodeBegin + 4);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->line, 7u);
  EXPECT_EQ(table->path(row->file, ""), "/src/a.hip");
  EXPECT_EQ(lines.find(kCodeBegin + 8).row, nullptr);
  EXPECT_EQ(lines.find(kCodeBegin - 1).row, nullptr);
}

TEST(DwarfLimits, LinesOfDiscardedFunctionsCoverNothing) {
  const Section far = Section()
                          .u8(0)
                          .uleb(9)
                          .u8(DW_LNE_set_address)
                          .u64(0)
                          .u8(DW_LNS_copy)
                          .u8(DW_LNS_advance_pc)
                          .uleb(kCodeEnd / 4)
                          .u8(0)
                          .uleb(1)
                          .u8(DW_LNE_end_sequence);
  const Section line = line_unit(line_files(), far);
  EXPECT_EQ(line_tables(line).find(kCodeBegin).row, nullptr);
}

TEST(DwarfLimits, LinesThatGoBackwardsAreLeftOut) {
  const Section back = Section()
                           .u8(0)
                           .uleb(9)
                           .u8(DW_LNE_set_address)
                           .u64(kCodeBegin + 64)
                           .u8(DW_LNS_copy)
                           .u8(0)
                           .uleb(9)
                           .u8(DW_LNE_set_address)
                           .u64(kCodeBegin)
                           .u8(DW_LNS_copy)
                           .u8(DW_LNS_advance_pc)
                           .uleb(64)
                           .u8(0)
                           .uleb(1)
                           .u8(DW_LNE_end_sequence);
  const Section line = line_unit(line_files(), back);
  EXPECT_EQ(line_tables(line).find(kCodeBegin + 64).row, nullptr);
}

TEST(DwarfLimits, FilesThatTakeNoBytesAreRefused) {
  const Section endless = Section().u8(0).uleb(0).u8(0).uleb(std::uint64_t{1} << 40);
  const Section flags =
      Section().u8(1).uleb(DW_LNCT_path).uleb(DW_FORM_flag_present).uleb(std::uint64_t{1} << 40);
  for (const Section& tables : {endless, flags}) {
    const Section line = line_unit(tables, line_program(kCodeBegin));
    EXPECT_EQ(line_tables(line).find(kCodeBegin).row, nullptr);
  }
}

TEST(DwarfLimits, ALineTableThatCannotBeReadDoesNotHideTheNext) {
  const Section endless = Section().u8(0).uleb(0).u8(0).uleb(std::uint64_t{1} << 40);
  const Section line = Section()
                           .raw(as_text(line_unit(endless, line_program(kCodeBegin)).bytes()))
                           .raw(as_text(line_unit(line_files(), line_program(kCodeBegin)).bytes()));
  EXPECT_NE(line_tables(line).find(kCodeBegin).row, nullptr);
}

}  // namespace
}  // namespace margay::code_object
