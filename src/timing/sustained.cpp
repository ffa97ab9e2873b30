#include "timing/sustained.h"

#include <cmath>

#include "timing/power.h"

namespace margay::timing {

double us_of(double cycles, double ghz, const LaunchRecording& launch,
             const Parameters& parameters) {
  const double outside = parameters.launch_ns + launch.dirty_bytes / parameters.fabric_bytes_per_ns;
  return cycles / ghz / 1e3 + outside / 1e3;
}

AtClock sustained(const LaunchReplay& replay, const LaunchRecording& launch,
                  const Parameters& parameters, double boost_ghz, double cycles,
                  const ReplayedLaunch& few) {
  AtClock out{boost_ghz, us_of(cycles, boost_ghz, launch, parameters)};
  if (few.cycles == 0) return out;
  // A lower clock takes longer, needs less power for it, and so allows a higher clock.
  constexpr int kRounds = 4;
  constexpr double kCloseGhz = 0.01;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = out.us * 1e-6;
    const double per_ghz = 1e-12 / seconds / out.ghz;
    const double clock = sustained_ghz(
        {launch.memory_bytes * 1e-12 / seconds, launch.vector_flops * per_ghz,
         launch.f16_flops * per_ghz, launch.bf16_flops * per_ghz, launch.fp8_flops * per_ghz},
        parameters);
    if (std::abs(clock - out.ghz) < kCloseGhz) break;
    out.ghz = clock;
    out.us = us_of(cycles * replay.few(clock).cycles / few.cycles, clock, launch, parameters);
  }
  return out;
}

}  // namespace margay::timing
