// The cycles of LDS for one instruction: the groups of lanes that it serves together, and their
// bank conflicts.
//
// LDS has 32 banks of one dword. It serves the lanes of an instruction in groups; in a group, each
// bank gives one dword per cycle, and one dword to any number of lanes. The groups of b32, of
// 64-bit and 128-bit reads and of 128-bit writes are measured (AMD's composable_kernel
// documentation; PYHIP microbenchmarks on MI300). For the others none are published; they are
// assumed to be those of the nearest measured width: 64-bit writes in four groups of 16 lanes, 96
// bits as 128 bits, read2 and write2 as one access of twice the width, 8 and 16 bits as 32.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/gfx942/gfx942.h"

namespace margay::profile {

inline constexpr unsigned kLdsBanks = kGfx942.cu.lds_banks;

/// One LDS instruction of one wave.
struct LdsAccess {
  /// Byte address of each lane; a second one for read2 and write2, of the same width.
  const std::uint64_t* at[2] = {nullptr, nullptr};
  std::uint64_t active = 0;  ///< Lanes.
  std::uint16_t bytes = 0;   ///< Per lane and address.
  bool is_write = false;
  bool is_atomic = false;  ///< Lanes on the same dword are serialised.
};

struct LdsCost {
  std::uint32_t cycles = 0;             ///< All.
  std::uint32_t bank_conflicts = 0;     ///< Those due to distinct dwords in one bank.
  std::uint32_t address_conflicts = 0;  ///< Those due to atomics on the same dword.
  std::uint32_t worst_ways = 1;         ///< Most distinct dwords of one bank in one group.
  std::uint32_t worst_bank = 0;
  std::uint64_t worst_lanes = 0;                       ///< A lane for each of these dwords.
  std::array<std::uint16_t, kLdsBanks> bank_dwords{};  ///< Dwords that each bank served.
};

[[nodiscard]] LdsCost lds_cost(const LdsAccess& access);

/// The groups of lanes that are served together, for an access of the given bytes per lane.
[[nodiscard]] std::span<const std::uint64_t> lane_groups(unsigned bytes, bool is_write);

}  // namespace margay::profile
