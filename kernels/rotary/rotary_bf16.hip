// The rotary kernels, by name, and their host dispatch. Both take the Arguments of plan.h, by
// value. Names: the dim of a head. Grid: workgroups of 256, one for every 64 positions in x, every
// 8 heads in y, every batch in z. No LDS.
#include "../common/launch.cuh"
#include "kernel.cuh"
#include "rotary.h"

extern "C" __global__ __launch_bounds__(margay_rotary::kThreads) void rotary_bf16_d64(
    const margay_rotary::Globals g) {
  margay_rotary::rotary<64>(g);
}
extern "C" __global__ __launch_bounds__(margay_rotary::kThreads) void rotary_bf16_d128(
    const margay_rotary::Globals g) {
  margay_rotary::rotary<128>(g);
}

namespace margay_rotary {

hipError_t rotary_bf16(const Problem& problem, hipStream_t stream) {
  const Plan chosen = plan(problem);
  if (!chosen.refusal.empty()) return hipErrorInvalidValue;
  if (chosen.grid_x == 0) return hipSuccess;
  const auto matrix = [](const Tensor& t) { return margay_kernels::matrix<kittens::bf16>(t); };
  const Arguments& args = chosen.arguments;
  const Globals globals{matrix(args.x), matrix(args.cos), matrix(args.sin), matrix(args.y)};
  static constexpr margay_kernels::Entry<Globals> kEntries[] = {
      {"rotary_bf16_d64", &rotary_bf16_d64}, {"rotary_bf16_d128", &rotary_bf16_d128}};
  return margay_kernels::launch(kEntries, chosen, stream, globals);
}

}  // namespace margay_rotary
