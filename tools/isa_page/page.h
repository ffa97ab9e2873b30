// docs/isa-coverage.md: every instruction of gfx942, whether the executor has it, how exactly, and
// where.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "enumerate.h"
#include "exec/rows/row_table.h"

namespace margay::isa_page {

/// How closely an implemented instruction matches the hardware.
[[nodiscard]] std::string_view exactness(const Row& row, const RowTable& rows);

/// Whether the executor has the instruction, and runs it rather than saying why it does not.
[[nodiscard]] bool is_there(std::string_view mnemonic);

/// The page as Markdown. `source_root` is the checkout, in which the files are looked up.
[[nodiscard]] Result<std::string> page_text(const InstructionList& instructions,
                                            const std::filesystem::path& source_root);

}  // namespace margay::isa_page
