// The parameters of a kernel, down to the pointers and integers in nested structs (DWARF 5,
// sections 4.1 and 5).
#pragma once

#include <cstdint>
#include <vector>

#include "code_object/dwarf/argument_field.h"
#include "code_object/dwarf/debug_info.h"
#include "code_object/elf/kernel.h"

namespace margay::code_object {

/// See CodeObject::argument_fields. `budget` is how many more attributes may be read.
[[nodiscard]] std::vector<ArgumentField> read_argument_fields(const DebugInfo& info,
                                                              const Kernel& kernel,
                                                              std::uint64_t& budget);

}  // namespace margay::code_object
