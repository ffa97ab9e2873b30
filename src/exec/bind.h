// From an encoded instruction to the executor's form: operand fields become register rows, scalar
// indices and constants.
#pragma once

#include "base/error.h"
#include "exec/instruction.h"
#include "exec/row_table.h"
#include "isa/decoder.h"

namespace margay {

/// What binding needs to know of the kernel.
struct BindContext {
  std::uint32_t accum_offset = 0;  ///< Row of AccVGPR 0.
  std::uint32_t vgpr_rows = 512;   ///< Rows the kernel owns.
};

/// Binds `encoded`, which lies at `vaddr`. Branch targets are left as byte displacements in
/// Instruction::offset for the program to resolve. not_implemented when the row has no handler for
/// what the encoding asks; illegal_instruction when it names a register the kernel does not have.
[[nodiscard]] Result<Instruction> bind(const isa::Encoded& encoded, const Row& row,
                                       const BindContext& context, std::uint64_t vaddr);

// Layout of Instruction::extra, by format.
namespace extra {
// DS: the two 8-bit offsets, as encoded.
[[nodiscard]] constexpr std::uint32_t ds_offset0(std::uint32_t e) { return e & 0xff; }
[[nodiscard]] constexpr std::uint32_t ds_offset1(std::uint32_t e) { return e >> 8 & 0xff; }
// FLAT, GLOBAL, SCRATCH, MUBUF; SMEM: kSc0, which is its GLC.
inline constexpr std::uint32_t kSc0 = 1, kSc1 = 2, kNt = 4, kToLds = 8;
inline constexpr std::uint32_t kOffen = 16, kIdxen = 32;
inline constexpr std::uint32_t kScratchVaddr = 64;
// Buffer instructions that convert to and from a data format; MTBUF: which one.
inline constexpr std::uint32_t kFormatted = 128;
[[nodiscard]] constexpr std::uint8_t data_format(std::uint32_t e) { return e >> 8 & 15; }
[[nodiscard]] constexpr std::uint8_t number_format(std::uint32_t e) { return e >> 12 & 7; }
// VOP3P: op_sel 2:0, op_sel_hi 5:3, neg 8:6, neg_hi 11:9, clamp 12.
// MFMA: cbsz 2:0, abid 6:3, blgp 9:7.
[[nodiscard]] constexpr std::uint8_t cbsz(std::uint32_t e) { return e & 7; }
[[nodiscard]] constexpr std::uint8_t abid(std::uint32_t e) { return e >> 3 & 15; }
[[nodiscard]] constexpr std::uint8_t blgp(std::uint32_t e) { return e >> 7 & 7; }
// VOP1/VOP2/VOPC with SDWA or DPP: the second dword, as encoded.
}  // namespace extra

/// Handlers for vector instructions with SDWA and DPP operands (exec/sdwa_dpp.cpp). Each prepares
/// temporary rows and runs the row's own handler on them.
const Instruction* run_sdwa(Wave& wave, const Instruction& i);
const Instruction* run_dpp(Wave& wave, const Instruction& i);
/// A vector instruction whose register numbers M0 is added to (exec/salu.cpp).
const Instruction* run_indexed(Wave& wave, const Instruction& i);

}  // namespace margay
