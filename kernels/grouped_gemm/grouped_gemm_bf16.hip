// The kernel of grouped GEMM and its launch.
#include "kernel.cuh"

namespace margay_grouped_gemm {

extern "C" __global__ __launch_bounds__(kThreads) void grouped_gemm_bf16(const Globals g) {
  grouped_gemm(g);
}

hipError_t launch(const Globals& g, hipStream_t stream) {
  const bool fits = g.x.cols() == g.w.cols() && g.y.cols() == g.w.rows() &&
                    g.x.rows() == g.y.rows() && g.x.cols() % 8 == 0;
  if (!fits) return hipErrorInvalidValue;
  // Every group may end in a block that is not full.
  const int blocks = kittens::ceil_div(g.x.rows(), kBlockM) + g.w.depth();
  const dim3 grid(kittens::ceil_div(g.w.rows(), kBlockN), blocks);
  grouped_gemm_bf16<<<grid, kThreads, 0, stream>>>(g);
  return hipGetLastError();
}

}  // namespace margay_grouped_gemm
