// The softmax kernels, by name, and their host dispatch. All take the Arguments of plan.h, by
// value. Names: the element type, then the length up to which rows stay in registers, or `long`.
// Grid, in x: a workgroup of 256 for every four rows (1024) or every row (4096), one of 512 for
// every row (long). No dynamic LDS.
#include "../common/launch.cuh"
#include "kernel.cuh"
#include "softmax.h"

#define MARGAY_SOFTMAX(name, T, threads, call)                                \
  extern "C" __global__ __launch_bounds__(margay_softmax::threads) void name( \
      const margay_softmax::Globals<T> g) {                                   \
    using namespace margay_softmax;                                           \
    call(g);                                                                  \
  }

using kittens::bf16;
MARGAY_SOFTMAX(softmax_bf16_1024, bf16, kThreads, softmax_in_one_wave)
MARGAY_SOFTMAX(softmax_bf16_4096, bf16, kThreads, softmax_in_four_waves)
MARGAY_SOFTMAX(softmax_bf16_long, bf16, kLongThreads, softmax_of_long_row)
MARGAY_SOFTMAX(softmax_f32_1024, float, kThreads, softmax_in_one_wave)
MARGAY_SOFTMAX(softmax_f32_4096, float, kThreads, softmax_in_four_waves)
MARGAY_SOFTMAX(softmax_f32_long, float, kLongThreads, softmax_of_long_row)
#undef MARGAY_SOFTMAX

namespace margay_softmax {
namespace {

template <typename T>
using Entry = margay_kernels::Entry<Globals<T>>;

template <typename T>
hipError_t launch(const Entry<T> (&entries)[3], const Plan& chosen, hipStream_t stream) {
  using margay_kernels::matrix;
  return margay_kernels::launch(
      entries, chosen, stream,
      Globals<T>{matrix<T>(chosen.arguments.x), matrix<T>(chosen.arguments.y)});
}

constexpr Entry<bf16> kBf16Kernels[] = {{"softmax_bf16_1024", &softmax_bf16_1024},
                                        {"softmax_bf16_4096", &softmax_bf16_4096},
                                        {"softmax_bf16_long", &softmax_bf16_long}};
constexpr Entry<float> kFloatKernels[] = {{"softmax_f32_1024", &softmax_f32_1024},
                                          {"softmax_f32_4096", &softmax_f32_4096},
                                          {"softmax_f32_long", &softmax_f32_long}};

}  // namespace

hipError_t softmax(const Problem& problem, hipStream_t stream) {
  const Plan chosen = plan(problem);
  if (!chosen.refusal.empty()) return hipErrorInvalidValue;
  if (chosen.grid_x == 0) return hipSuccess;
  return problem.type == Type::kFloat ? launch(kFloatKernels, chosen, stream)
                                      : launch(kBf16Kernels, chosen, stream);
}

}  // namespace margay_softmax
