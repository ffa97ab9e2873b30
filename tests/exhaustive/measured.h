// What tools/isa_page/measured.txt records of the instructions that the hardware approximates.
#pragma once

#include <cstdint>
#include <string>

namespace exhaustive {

struct Measured {
  std::string inputs;       ///< Which ones were run.
  double error = -1;        ///< The largest, in units of the last place; negative: not recorded.
  std::uint64_t wrong = 0;  ///< Results that are not the correctly rounded ones.
};

/// The line of one instruction.
[[nodiscard]] Measured recorded(const std::string& mnemonic);

/// The expected line.
[[nodiscard]] std::string line_of(const std::string& mnemonic, const Measured& measured);

}  // namespace exhaustive
