// All instructions of gfx942, found by asking the decoder: every value of every encoding's opcode
// field is tried with operands of several kinds. What decodes is an instruction, so the list is
// LLVM's own and needs no upkeep.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "isa/encoding.h"

namespace margay::isa_page {

/// Mnemonics without encoding suffix, and the formats each has.
using InstructionList = std::map<std::string, std::set<isa::Format>>;

/// `random_tries`: how many times more to try each opcode, with operands at random. The same on
/// every run. The tests hold that these find nothing more.
[[nodiscard]] Result<InstructionList> list_instructions(int random_tries = 0);

}  // namespace margay::isa_page
