// Correctly rounded results of the instructions that the hardware approximates, computed on the
// host in long double: for the tests of all inputs (transcendental_test.hip).
#pragma once

#include <cstdint>

namespace exhaustive {

/// exp and log are to base 2; sin and cos take an angle in revolutions.
enum class Function { rcp, rsq, sqrt, exp, log, sin, cos };

/// What the MI300 ISA guide says of an instruction's denormals; see transcendental.h.
enum class Denormals { kept, flushed };

struct Verdict {
  std::uint64_t correct = 0;  ///< The bits that the instruction has to give.
  double error = 0;  ///< Of what it gave against the true value, in units of the last place.
  /// The true value is so near the midpoint of two numbers that the reference cannot decide which
  /// of the two is nearer.
  bool undecided = false;
};

/// Checks `got`, the instruction's result for `input`. NaN: an input's comes out quiet, with its
/// payload; an invalid operation gives the negative quiet NaN without one, as the guide's examples
/// have it.
[[nodiscard]] Verdict judge_f16(Function function, std::uint16_t input, std::uint16_t got);
[[nodiscard]] Verdict judge_f32(Function function, Denormals denormals, std::uint32_t input,
                                std::uint32_t got);
[[nodiscard]] Verdict judge_f64(Function function, std::uint64_t input, std::uint64_t got);

}  // namespace exhaustive
