// From an encoded instruction to the executor's form: operand fields become register rows, scalar
// indices and constants.
#pragma once

#include "base/error.h"
#include "exec/rows/row_table.h"
#include "exec/state/instruction.h"
#include "isa/decoder.h"

namespace margay {

/// The properties of the kernel that binding needs.
struct BindContext {
  std::uint32_t accum_offset = 0;  ///< Row of AccVGPR 0.
  std::uint32_t vgpr_rows = 512;   ///< Rows the kernel owns.
};

/// Binds `encoded`, which is at `vaddr`. Branch targets are left as byte displacements in
/// Instruction::offset for the program to resolve. not_implemented when the row has no handler for
/// the encoded form; illegal_instruction when it names a register the kernel does not have.
[[nodiscard]] Result<Instruction> bind(const isa::Encoded& encoded, const Row& row,
                                       const BindContext& context, std::uint64_t vaddr);

/// Handlers for vector instructions with SDWA and DPP operands (exec/instructions/sdwa_dpp.cpp).
/// Each prepares temporary rows and runs the row's own handler on them.
const Instruction* run_sdwa(Wave& wave, const Instruction& i);
const Instruction* run_dpp(Wave& wave, const Instruction& i);
/// A vector instruction that adds M0 to its register numbers (exec/instructions/salu.cpp).
const Instruction* run_indexed(Wave& wave, const Instruction& i);

}  // namespace margay
