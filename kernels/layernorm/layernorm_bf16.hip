// The layernorm kernels, by name, and their host dispatch. All take the Arguments of plan.h, by
// value. Names: the most columns that a row may have. Grid: a workgroup for every row, in x, of 64
// threads for each 1024 of those columns. No dynamic LDS.
#include "../common/launch.cuh"
#include "kernel.cuh"
#include "layernorm.h"

#define MARGAY_LAYERNORM(name, waves)                                                       \
  extern "C" __global__ __launch_bounds__(margay_layernorm::kWaveThreads* waves) void name( \
      const margay_layernorm::Globals g) {                                                  \
    margay_layernorm::layernorm<waves>(g);                                                  \
  }

MARGAY_LAYERNORM(layernorm_bf16_1024, 1)
MARGAY_LAYERNORM(layernorm_bf16_2048, 2)
MARGAY_LAYERNORM(layernorm_bf16_4096, 4)
MARGAY_LAYERNORM(layernorm_bf16_8192, 8)
#undef MARGAY_LAYERNORM

namespace margay_layernorm {

hipError_t layernorm_bf16(const Problem& problem, hipStream_t stream) {
  const Plan chosen = plan(problem);
  if (!chosen.refusal.empty()) return hipErrorInvalidValue;
  if (chosen.grid_x == 0) return hipSuccess;
  const auto matrix = [](const Tensor& t) { return margay_kernels::matrix<kittens::bf16>(t); };
  const Arguments& args = chosen.arguments;
  const Globals globals{matrix(args.x),    matrix(args.residual), matrix(args.weight),
                        matrix(args.bias), matrix(args.y),        matrix(args.sum),
                        args.eps};
  static constexpr margay_kernels::Entry<Globals> kEntries[] = {
      {"layernorm_bf16_1024", &layernorm_bf16_1024},
      {"layernorm_bf16_2048", &layernorm_bf16_2048},
      {"layernorm_bf16_4096", &layernorm_bf16_4096},
      {"layernorm_bf16_8192", &layernorm_bf16_8192}};
  return margay_kernels::launch(kEntries, chosen, stream, globals);
}

}  // namespace margay_layernorm
