// Why a wave does not issue: the names are those of AMD's PC sampling (rocprofiler-sdk,
// "not-issued reasons").
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace margay::timing {

enum class Stall : std::uint8_t {
  no_instruction,  ///< The instruction is not fetched yet.
  alu_dependency,  ///< A result of the ALU is not ready.
  waitcnt,
  internal,  ///< s_nop and s_setprio keep the wave itself busy.
  barrier,
  not_win,   ///< Another wave of the SIMD was chosen.
  ex_stall,  ///< The unit that executes it is busy.
  sleep,
};
inline constexpr unsigned kStalls = 8;

inline constexpr std::array<std::string_view, kStalls> kStallNames = {
    "NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY", "WAITCNT",
    "INTERNAL_INSTRUCTION",     "BARRIER_WAIT",   "ARBITER_NOT_WIN",
    "ARBITER_WIN_EX_STALL",     "SLEEP_WAIT"};
[[nodiscard]] constexpr std::string_view stall_name(Stall stall) {
  return kStallNames[static_cast<unsigned>(stall)];
}

}  // namespace margay::timing
