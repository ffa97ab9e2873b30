// What an instruction is to the model of time.
#pragma once

#include <cstdint>

#include "exec/program/instruction_facts.h"
#include "timing/recording.h"

namespace margay::profile {

/// `bytes`: of code.
[[nodiscard]] timing::Instruction timed_instruction(const Instruction& instruction,
                                                    const margay::InstructionFacts& facts,
                                                    std::uint8_t bytes);

}  // namespace margay::profile
