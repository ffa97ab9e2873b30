#include "timing/launch/sustained.h"

#include <algorithm>
#include <cmath>

namespace margay::timing {
namespace {

/// What a kernel does per second at a clock of 1 GHz, except memory traffic, whose rate does not
/// depend on the clock.
struct Load {
  double compute_units = 0;
  double memory_tb = 0;              ///< TB/s of HBM traffic, at the clock of the compute units.
  double vector_tflops_per_ghz = 0;  ///< f32 equivalents.
  double f16_tflops_per_ghz = 0, bf16_tflops_per_ghz = 0, fp8_tflops_per_ghz = 0;  ///< Matrix.
  double matrix = 0;  ///< Part of the cycles in which a matrix unit works.
};

/// The fit is of an MI300X (RRZE gpu-roofline); what its clock alone takes goes with the compute
/// units: the 80 of an MI308X hold 1.59 GHz with a stream of HBM at 650 W (pyhip,
/// gpu-frequency-probe), which takes 640 W here where it is of 4 TB/s.
double watts(const Load& load, const Parameters& parameters, double ghz) {
  constexpr double kFittedUnits = 304;
  const double volts = std::max(0.65, 0.65 + 0.15 * (ghz - 0.8));
  const double v2 = volts * volts;
  const double matrix = parameters.f16_watts * load.f16_tflops_per_ghz +
                        parameters.bf16_watts * load.bf16_tflops_per_ghz +
                        parameters.fp8_watts * load.fp8_tflops_per_ghz;
  return 150 + 109 * load.memory_tb + 222 * load.compute_units / kFittedUnits * ghz * v2 +
         (8.2 * load.vector_tflops_per_ghz + matrix) * ghz * v2;
}

constexpr double kLeastGhz = 0.5;

/// In GHz.
double sustained_ghz(const Load& load, const Parameters& parameters) {
  constexpr double kStep = 0.005;
  double ghz = parameters.boost_ghz;
  while (ghz > kLeastGhz && watts(load, parameters, ghz) > parameters.sustained_watts) ghz -= kStep;
  if (parameters.matrix_ghz > 0 && load.matrix * ghz > parameters.matrix_ghz)
    ghz = std::max(kLeastGhz, parameters.matrix_ghz / load.matrix);
  return ghz;
}

/// How much of the launch's time a matrix unit works.
double matrix_work(const ReplayedLaunch& replayed, const Gpu& gpu, double us_of_cycles, double us) {
  const double of_units =
      replayed.busy.matrix / (gpu.arch().cu.simds * std::max(replayed.cu_cycles, 1.0));
  return of_units * replayed.active / gpu.compute_units() * us_of_cycles / us;
}

}  // namespace

double us_of(double cycles, double ghz, const LaunchRecording& launch,
             const Parameters& parameters) {
  const double outside =
      parameters.launch_ns + launch.dirty_bytes / parameters.fabric_write_bytes_per_ns;
  return cycles / ghz / 1e3 + outside / 1e3;
}

AtClock sustained(const LaunchReplay& replay, const LaunchRecording& launch,
                  const Parameters& parameters, double boost_ghz, double cycles,
                  const ReplayedLaunch& few) {
  AtClock out{boost_ghz, us_of(cycles, boost_ghz, launch, parameters)};
  if (few.cycles == 0) return out;
  // A lower clock takes longer, needs less power for it, and so allows a higher clock: the one that
  // is looked for is between one that is too low and one that is too high.
  constexpr int kRounds = 8;
  constexpr double kCloseGhz = 0.01;
  double low = kLeastGhz, high = boost_ghz;
  ReplayedLaunch now = few;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = out.us * 1e-6;
    const double per_ghz = 1e-12 / seconds / out.ghz;
    const double clock = sustained_ghz(
        {static_cast<double>(replay.gpu().compute_units()), launch.memory_bytes * 1e-12 / seconds,
         launch.vector_flops * per_ghz, launch.f16_flops * per_ghz, launch.bf16_flops * per_ghz,
         launch.fp8_flops * per_ghz,
         matrix_work(now, replay.gpu(), cycles * now.cycles / few.cycles / out.ghz / 1e3, out.us)},
        parameters);
    if (std::abs(clock - out.ghz) < kCloseGhz) break;
    (clock < out.ghz ? high : low) = out.ghz;
    if (high - low < kCloseGhz) break;
    out.ghz = low < clock && clock < high ? clock : (low + high) / 2;
    now = replay.few(out.ghz);
    out.us = us_of(cycles * now.cycles / few.cycles, out.ghz, launch, parameters);
  }
  return out;
}

}  // namespace margay::timing
