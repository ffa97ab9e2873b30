// What an instruction's executions took.
#pragma once

#include <array>
#include <cstdint>

#include "timing/stall.h"

namespace margay::timing {

/// Cycles of all executions of one instruction, over all waves.
struct SiteTime {
  std::uint64_t hits = 0;
  double latency = 0;  ///< From when it could have issued to when the wave goes on.
  std::array<double, kStalls> stalls{};
  // With Watch::latencies.
  double exposed = 0;   ///< Of the stalls, while its SIMD did nothing; the others are hidden.
  double lost = 0;      ///< Of the SIMDs' idle cycles, this one's part: see latencies.h.
  double flight = 0;    ///< Memory: from its issue until it is done.
  double unhidden = 0;  ///< Memory: exposed cycles of the waits for it, wherever they are.
  [[nodiscard]] double stall() const {
    double sum = 0;
    for (const double s : stalls) sum += s;
    return sum;
  }
  /// Of the stalls, those that AMD's thread traces have as idle time, before an instruction: it is
  /// not there yet, or a register is not.
  [[nodiscard]] double idle() const {
    return stalls[static_cast<unsigned>(Stall::no_instruction)] +
           stalls[static_cast<unsigned>(Stall::alu_dependency)];
  }
};

}  // namespace margay::timing
