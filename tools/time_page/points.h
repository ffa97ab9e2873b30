// Points of validation that need no program: sequences of instructions and strides of LDS that were
// measured on gfx942, replayed on the model of time.
#pragma once

#include <string>
#include <vector>

namespace margay::time_page {

struct Point {
  const char* group;  ///< "co-issue", "co-issue of two waves" or "LDS stride".
  std::string what;
  double measured, modelled;  ///< Cycles.
  const char* source;
};

[[nodiscard]] std::vector<Point> points();

}  // namespace margay::time_page
