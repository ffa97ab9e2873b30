// How the waves of a workgroup take turns, so that they advance together as on the hardware.
//
// A turn is kTurn instructions. It ends early before LDS is rewritten: kernels read a tile, compute
// and store the next one in its place, and some omit the barrier in between because their waves run
// in step. Where such a store can be is known when a function is decoded; other instructions have
// no overhead.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/state/instruction.h"

namespace margay {

/// The longest turn of a wave that shares its workgroup with others. A run of matrix instructions
/// counts as one.
inline constexpr std::uint64_t kTurn = 64;
/// The longest turn of a wave that is alone in its workgroup.
inline constexpr std::uint64_t kTurnAlone = 1 << 12;

/// Makes each store to LDS (by a DS instruction or a direct load) that may follow a read of LDS,
/// without a barrier or another such store in between, the end of a turn. Branch targets must have
/// been resolved. `is_entry`: the first instruction is where a kernel begins.
void end_turns_before_rewrites(std::vector<Instruction>& instructions, bool is_entry);

/// Whether `i` is such a store.
[[nodiscard]] bool ends_turn(const Instruction& i);

}  // namespace margay
