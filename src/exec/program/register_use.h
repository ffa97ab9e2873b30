// The registers that an instruction reads and writes, for observers that follow values through a
// wave's registers without knowledge of encodings.
#pragma once

#include <array>
#include <cstdint>

#include "exec/state/instruction.h"

namespace margay {

/// Rows of the unified VGPR file (AccVGPRs behind the ordinary ones), or scalar indices.
struct RegisterRange {
  std::uint16_t first = 0;
  std::uint16_t count = 0;
};

/// One bit for each of the 512 rows of the unified VGPR file.
using VgprMask = std::array<std::uint64_t, 8>;

/// The registers of one instruction. Reads are the registers its result depends on: if op_sel
/// selects half of a pair (v_pk_fma_f32) only that half, since compilers leave the other one
/// undefined.
///
/// EXEC as the implicit mask of a vector instruction is not among the scalar reads; VCC, M0 and
/// EXEC are included if an instruction uses them as operands or by definition (s_and_saveexec_b64).
struct RegisterUse {
  /// VGPRs read, by operand: source 0, 1, 2 of the vector ALU; address, data, second data of
  /// memory; A, B, C and the sparse indices of a matrix instruction. count 0: that operand is not a
  /// VGPR.
  RegisterRange sources[4];
  RegisterRange destination;  ///< VGPRs written; v_swap_b32 also writes sources[0].
  VgprMask reads{}, writes{};
  /// Indices into Wave::s: SGPRs, VCC 106 and 107, M0 124, EXEC 126 and 127.
  std::array<std::uint64_t, 2> scalar_reads{}, scalar_writes{};
  bool reads_scc = false, writes_scc = false;
  /// Part of the destination keeps its old value in lanes that are written (SDWA and op_sel
  /// writes of a part), or active lanes may not be written at all (v_writelane_b32, DPP
  /// without bound_ctrl or with a mask). The old value is not among the reads.
  bool merges_destination = false;
  /// The result of a lane depends on other lanes' registers.
  bool crosses_lanes = false;
  /// Reads and writes do not depend on EXEC.
  bool ignores_exec = false;
};

/// Of one instruction, also where it is the first of a group that is executed together. In
/// s_set_gpr_idx mode the registers are those that the encoding names; M0, which is added to them,
/// is among the scalar reads.
[[nodiscard]] RegisterUse register_use(const Instruction& instruction);

[[nodiscard]] constexpr bool contains(const VgprMask& mask, unsigned row) {
  return row < 512 && (mask[row / 64] >> (row % 64) & 1) != 0;
}
[[nodiscard]] constexpr bool contains(const std::array<std::uint64_t, 2>& mask, unsigned index) {
  return index < 128 && (mask[index / 64] >> (index % 64) & 1) != 0;
}

}  // namespace margay
