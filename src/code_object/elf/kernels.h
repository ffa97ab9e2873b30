// Joins the two descriptions of a kernel: the 64-byte descriptor that the hardware's command
// processor reads, and the compiler's metadata note.
#pragma once

#include <vector>

#include "base/error.h"
#include "code_object/elf/elf_image.h"
#include "code_object/elf/kernel.h"

namespace margay::code_object {

/// All kernels, sorted by name. Each has a descriptor and metadata that agree, and an entry in an
/// executable segment.
[[nodiscard]] Result<std::vector<Kernel>> read_kernels(const ElfImage& image);

}  // namespace margay::code_object
