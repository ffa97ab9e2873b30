// The clock that a device can hold within its power, and a launch at it.
#pragma once

#include "timing/launch/launch_replay.h"

namespace margay::timing {

/// A kernel's time, of what its compute units take at a clock: with launch and write-back.
[[nodiscard]] double us_of(double cycles, double ghz, const LaunchRecording& launch,
                           const Parameters& parameters);

struct AtClock {
  double ghz = 0, us = 0;
};

/// The highest clock that the device holds for seconds: within its power, and with no more matrix
/// work at a time than some can hold (Parameters::matrix_ghz). Power is a fit to 55 measured
/// points on an MI300X (RRZE gpu-benches, gpu-roofline; mean error of the clock 3.9 %, the largest
/// 16 %) and to AMD's MAF points of matrix instructions; random data. `replay`: of `launch` on the
/// device of `parameters`. `cycles`: what all compute units take at `boost_ghz`; `few`: some of
/// them, from which other clocks follow.
[[nodiscard]] AtClock sustained(const LaunchReplay& replay, const LaunchRecording& launch,
                                const Parameters& parameters, double boost_ghz, double cycles,
                                const ReplayedLaunch& few);

}  // namespace margay::timing
