// Counts of instructions, summed by the user's source lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/profile/profile.h"

namespace margay::profile {

/// Counts of one source line (or of one line of inlined library code): its instructions together.
struct LineTotals {
  std::string file;
  std::uint32_t line = 0;
  std::string function;
  std::uint64_t instructions = 0;  ///< Executions by waves.
  std::uint64_t issue_cycles = 0;  ///< Cycles they hold their wave or unit; an order of cost.
  std::uint64_t flops = 0;
  std::uint64_t lds_cycles = 0, lds_conflict_cycles = 0;
  MemoryTraffic memory;
  std::vector<std::size_t> sites;  ///< Indices into KernelProfile::sites.
};
/// By issue_cycles, the highest first. Instructions without a source line have an empty file.
[[nodiscard]] std::vector<LineTotals> lines_of(const KernelProfile& kernel);

/// Where to look in a kernel: its lines, or each instruction if none has a source line, as in
/// prebuilt kernels.
[[nodiscard]] std::vector<LineTotals> places_of(const KernelProfile& kernel);

/// "0x162c s_nop 11", with the address that llvm-objdump prints, if `sites` is one instruction.
[[nodiscard]] std::string instruction_at(const KernelProfile& kernel,
                                         const std::vector<std::size_t>& sites);

}  // namespace margay::profile
