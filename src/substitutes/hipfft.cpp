// hipFFT. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "hipFFT"
#define MARGAY_STATUS 16  // HIPFFT_NOT_SUPPORTED
#include "substitutes/refuse.h"

#include <cstddef>

// XLA ends the process where a plan cannot be made, and reports an error where one cannot be
// executed. So plans are made, of nothing, and refused when they are executed.
namespace {
struct Plan {};
int made(Plan** plan) {
  *plan = new Plan;
  return 0;
}
}  // namespace
extern "C" {
MARGAY_EXPORT int hipfftCreate(Plan** plan) { return made(plan); }
MARGAY_EXPORT int hipfftPlan1d(Plan** plan) { return made(plan); }
MARGAY_EXPORT int hipfftPlan2d(Plan** plan) { return made(plan); }
MARGAY_EXPORT int hipfftPlan3d(Plan** plan) { return made(plan); }
MARGAY_EXPORT int hipfftPlanMany(Plan** plan) { return made(plan); }
MARGAY_EXPORT int hipfftDestroy(Plan* plan) {
  delete plan;
  return 0;
}
MARGAY_EXPORT int hipfftSetAutoAllocation(Plan* /*plan*/, int /*on*/) { return 0; }
MARGAY_EXPORT int hipfftSetStream(Plan* /*plan*/, void* /*stream*/) { return 0; }
MARGAY_EXPORT int hipfftSetWorkArea(Plan* /*plan*/, void* /*area*/) { return 0; }
MARGAY_EXPORT int hipfftMakePlan1d(Plan* /*plan*/, int, int, int, std::size_t* bytes) {
  *bytes = 0;
  return 0;
}
MARGAY_EXPORT int hipfftMakePlan2d(Plan* /*plan*/, int, int, int, std::size_t* bytes) {
  *bytes = 0;
  return 0;
}
MARGAY_EXPORT int hipfftMakePlan3d(Plan* /*plan*/, int, int, int, int, std::size_t* bytes) {
  *bytes = 0;
  return 0;
}
MARGAY_EXPORT int hipfftMakePlanMany(Plan* /*plan*/, int, int*, int*, int, int, int*, int, int, int,
                                     int, std::size_t* bytes) {
  *bytes = 0;
  return 0;
}
}

MARGAY_REFUSE(hipfftExecC2C)
MARGAY_REFUSE(hipfftExecC2R)
MARGAY_REFUSE(hipfftExecD2Z)
MARGAY_REFUSE(hipfftExecR2C)
MARGAY_REFUSE(hipfftExecZ2D)
MARGAY_REFUSE(hipfftExecZ2Z)
