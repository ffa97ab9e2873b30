// The clock that a device can hold within its power.
#pragma once

#include "timing/parameters.h"

namespace margay::timing {

/// What a kernel does per second at a clock of 1 GHz, except memory traffic, whose rate does not
/// depend on the clock.
struct Load {
  double memory_tb = 0;              ///< TB/s of HBM traffic, at the clock of the compute units.
  double vector_tflops_per_ghz = 0;  ///< f32 equivalents.
  double f16_tflops_per_ghz = 0, bf16_tflops_per_ghz = 0, fp8_tflops_per_ghz = 0;  ///< Matrix.
};

/// The highest clock, in GHz, at which the device stays within its power for seconds. A fit to 55
/// measured points on an MI300X (RRZE gpu-benches, gpu-roofline; mean error of the clock 3.9 %, the
/// largest 16 %) and to AMD's MAF points of matrix instructions; random data.
[[nodiscard]] double sustained_ghz(const Load& load, const Parameters& parameters);

}  // namespace margay::timing
