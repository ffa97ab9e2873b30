// Static facts about an instruction that several observers use.
#pragma once

#include <cstdint>

#include "exec/program/lane_access.h"
#include "exec/program/register_use.h"
#include "exec/state/instruction.h"

namespace margay {

/// The counts of an s_waitcnt; all ones means that a counter is not waited for.
/// Source: MI300 ISA guide, 4.4 and 12.4 (s_waitcnt).
struct WaitCounts {
  std::uint8_t vm = 63, exp = 7, lgkm = 15;
};
inline constexpr unsigned kVmCapacity = 63, kLgkmCapacity = 15;
[[nodiscard]] constexpr WaitCounts wait_counts(std::uint32_t immediate) {
  return {static_cast<std::uint8_t>((immediate & 15) | (immediate >> 14 & 3) << 4),
          static_cast<std::uint8_t>(immediate >> 4 & 7),
          static_cast<std::uint8_t>(immediate >> 8 & 15)};
}

/// Which counters an instruction in flight is counted by.
struct CountedBy {
  bool vm = false, lgkm = false;
  bool in_order = true;  ///< Completes in the order of issue among its kind.
};

struct InstructionFacts {
  InstructionFacts() = default;
  InstructionFacts(const Instruction& i, std::uint32_t number);

  const Instruction* instruction = nullptr;  ///< In one of the copies of the code.
  std::uint32_t number = 0;                  ///< In the table that holds it.
  std::uint32_t vaddr = 0;
  MemoryForm form;
  CountedBy counted;
  WaitCounts wait;  ///< For an s_waitcnt.
  RegisterUse use;
};

}  // namespace margay
