#include "timing/power.h"

#include <algorithm>

namespace margay::timing {
namespace {

double watts(const Load& load, double ghz) {
  const double volts = std::max(0.65, 0.65 + 0.15 * (ghz - 0.8));
  const double v2 = volts * volts;
  const double matrix = 1.34 * load.f16_tflops_per_ghz + 1.15 * load.bf16_tflops_per_ghz +
                        0.63 * load.fp8_tflops_per_ghz;
  return 150 + 109 * load.memory_tb + 222 * ghz * v2 +
         (8.2 * load.vector_tflops_per_ghz + matrix) * ghz * v2;
}

}  // namespace

double sustained_ghz(const Load& load, const Parameters& parameters) {
  constexpr double kStep = 0.005, kLeast = 0.5;
  double ghz = parameters.boost_ghz;
  while (ghz > kLeast && watts(load, ghz) > parameters.sustained_watts) ghz -= kStep;
  return ghz;
}

}  // namespace margay::timing
