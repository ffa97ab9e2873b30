// The contents of debug information: source positions of instructions, from line tables and inlined
// call chains, and the members of kernel parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "code_object/dwarf/argument_field.h"
#include "code_object/dwarf/debug_info.h"
#include "code_object/dwarf/line_table.h"
#include "code_object/elf/elf_image.h"
#include "code_object/elf/kernel.h"
#include "code_object/elf/source_frame.h"

namespace margay::code_object {

class SourceLines {
 public:
  /// Reads the debug sections of `image`, whose file must outlive this. Invalid parts are left out:
  /// wrong debug information never keeps a kernel from running.
  explicit SourceLines(const ElfImage& image);

  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  /// Innermost frame first. With line tables alone the compiler records short names only
  /// ("tile<4>", without namespace); the symbol table has the full name of the outermost function.
  [[nodiscard]] std::vector<SourceFrame> frames_at(std::uint64_t vaddr) const;

  /// Call once per kernel: the work for all kernels together is bounded.
  [[nodiscard]] std::vector<ArgumentField> argument_fields(const Kernel& kernel);

 private:
  std::vector<std::vector<std::byte>> decompressed_;  ///< Backs `sections_` where needed.
  DwarfSections sections_;
  LineTables lines_;
  DebugInfo info_;
  std::uint64_t parameter_budget_ = 0;
};

}  // namespace margay::code_object
