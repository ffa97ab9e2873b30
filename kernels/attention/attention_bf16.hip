// The attention kernels, by name, and their host dispatch. All take the Arguments of plan.h, by
// value. Names: the dim of a head, then whether queries see later keys. Grid: one workgroup of 256
// for each 128 queries of each head and batch, in x. No dynamic LDS.
#include "../common/launch.cuh"
#include "attention.h"
#include "kernel.cuh"

#define MARGAY_ATTENTION(name, dim, causal)                                             \
  extern "C" __global__ __launch_bounds__(                                              \
      margay_attention::kThreads,                                                       \
      margay_attention::kOccupancy<dim>) void name(const margay_attention::Globals g) { \
    margay_attention::attention<dim, causal>(g);                                        \
  }

MARGAY_ATTENTION(attention_bf16_d64, 64, false)
MARGAY_ATTENTION(attention_bf16_d64_causal, 64, true)
MARGAY_ATTENTION(attention_bf16_d128, 128, false)
MARGAY_ATTENTION(attention_bf16_d128_causal, 128, true)
#undef MARGAY_ATTENTION

namespace margay_attention {

hipError_t attention_bf16(const Problem& problem, hipStream_t stream) {
  const Plan chosen = plan(problem);
  if (!chosen.refusal.empty()) return hipErrorInvalidValue;
  if (chosen.grid_x == 0) return hipSuccess;
  using kittens::bf16;
  using margay_kernels::matrix;
  const Arguments& args = chosen.arguments;
  const Globals globals{matrix<bf16>(args.q), matrix<bf16>(args.k),    matrix<bf16>(args.v),
                        matrix<bf16>(args.o), matrix<float>(args.lse), args.scale};
  static constexpr margay_kernels::Entry<Globals> kEntries[] = {
      {"attention_bf16_d64", &attention_bf16_d64},
      {"attention_bf16_d64_causal", &attention_bf16_d64_causal},
      {"attention_bf16_d128", &attention_bf16_d128},
      {"attention_bf16_d128_causal", &attention_bf16_d128_causal},
  };
  return margay_kernels::launch(kEntries, chosen, stream, globals);
}

}  // namespace margay_attention
