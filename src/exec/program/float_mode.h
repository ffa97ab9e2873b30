// The MODE register: rounding, denormals, DX10_CLAMP, IEEE, FP16_OVFL and VSKIP.
//
// Handlers compute as HIP kernels start: to nearest even, denormals kept, NaN clamped to 0, IEEE
// on. A program holds three copies of its code, with the same layout: unchanged, with the
// instructions that depend on MODE wrapped in run_in_float_mode, and with the vector instructions
// skipped. A wave runs the copy for its MODE, so the usual MODE costs nothing. s_setreg and
// s_setvskip switch from one copy to another; jumps to an address check MODE. Source: MI300 ISA
// guide, section 3.5 (MODE) and 6.4 (rounding and denormals).
#pragma once

#include <cstdint>

#include "exec/rows/float_use.h"
#include "exec/state/instruction.h"

namespace margay {

namespace mode {
inline constexpr std::uint32_t kRound = 0xf, kDenormal = 0xf0;
inline constexpr std::uint32_t kDx10Clamp = 1u << 8, kIeee = 1u << 9;
inline constexpr std::uint32_t kDebug = 1u << 11, kExceptions = 0x7fu << 12;
inline constexpr std::uint32_t kFp16Overflow = 1u << 23;
inline constexpr std::uint32_t kRegisterIndex = 1u << 27, kSkip = 1u << 28;
/// The fields that arithmetic depends on, and their initial values in a HIP kernel.
inline constexpr std::uint32_t kFloat = kRound | kDenormal | kDx10Clamp | kIeee | kFp16Overflow;
inline constexpr std::uint32_t kUsual = kDenormal | kDx10Clamp | kIeee;
}  // namespace mode

/// The copies of a program's code, in their order in memory.
enum class CodeCopy : std::uint8_t { usual, float_mode, skip };
inline constexpr unsigned kCodeCopies = 3;
[[nodiscard]] constexpr CodeCopy code_copy(std::uint32_t mode) {
  if (mode & mode::kSkip) return CodeCopy::skip;
  return (mode & mode::kFloat) == mode::kUsual ? CodeCopy::usual : CodeCopy::float_mode;
}

/// Whether the instruction's handler needs run_in_float_mode.
[[nodiscard]] bool depends_on_mode(const Instruction& i);
/// The handler of instructions in the second copy: prepares the sources, sets the host's rounding,
/// runs the instruction's own handler and finishes the result.
const Instruction* run_in_float_mode(Wave& wave, const Instruction& i);
/// The same where the operands have been prepared already (SDWA, DPP, indexed registers): runs the
/// row's handler on them.
const Instruction* run_row_in_float_mode(Wave& wave, const Instruction& i);
/// The handler of vector instructions in the third copy.
const Instruction* run_skipped(Wave& wave, const Instruction& i);

/// MODE's denormal bits for f32, or for f16 and f64.
[[nodiscard]] constexpr bool keeps_denormal_inputs(std::uint32_t mode, bool single) {
  return mode >> (single ? 4 : 6) & 1;
}
[[nodiscard]] constexpr bool keeps_denormal_results(std::uint32_t mode, bool single) {
  return mode >> (single ? 5 : 7) & 1;
}

}  // namespace margay
