// The GEMM kernels, by name, and their host dispatch. All take the parameters of plan.h's
// Arguments:
//
//   a, b     bf16 matrices, row-major            m, n, k        extents
//   c        float or bf16 matrix                lda, ldb, ldc  elements from row to row
//   alpha, beta                                  C = alpha A op(B) + beta C
//
// Names: nt has B stored n x k, nn k x n; then the type of C; `unaligned` reads rows of any length
// and alignment, the others need what reads_whole_chunks() says. Grid: one workgroup of 512 per
// 256x256 block of C, in x. No dynamic LDS.
#include "../common/launch.cuh"
#include "gemm.h"
#include "kernel.cuh"

#define MARGAY_GEMM(name, transpose_b, whole_chunks, Out)                                  \
  extern "C" __global__ __launch_bounds__(margay_gemm::kThreads, 2) void name(             \
      const void* a, const void* b, void* c, int32_t m, int32_t n, int32_t k, int64_t lda, \
      int64_t ldb, int64_t ldc, float alpha, float beta) {                                 \
    margay_gemm::gemm<transpose_b, whole_chunks, Out>(                                     \
        {a, b, c, m, n, k, lda, ldb, ldc, alpha, beta});                                   \
  }

MARGAY_GEMM(gemm_bf16_nt_f32, true, true, float)
MARGAY_GEMM(gemm_bf16_nt_bf16, true, true, kittens::bf16)
MARGAY_GEMM(gemm_bf16_nn_f32, false, true, float)
MARGAY_GEMM(gemm_bf16_nn_bf16, false, true, kittens::bf16)
MARGAY_GEMM(gemm_bf16_nt_f32_unaligned, true, false, float)
MARGAY_GEMM(gemm_bf16_nt_bf16_unaligned, true, false, kittens::bf16)
MARGAY_GEMM(gemm_bf16_nn_f32_unaligned, false, false, float)
MARGAY_GEMM(gemm_bf16_nn_bf16_unaligned, false, false, kittens::bf16)
#undef MARGAY_GEMM

namespace margay_gemm {

hipError_t gemm_bf16(const Problem& problem, hipStream_t stream) {
  const Plan chosen = plan(problem);
  if (!chosen.refusal.empty()) return hipErrorInvalidValue;
  if (chosen.grid_x == 0) return hipSuccess;
  using Entry = decltype(margay_kernels::Entry{"", &gemm_bf16_nt_f32});
  static constexpr Entry kEntries[] = {
      {"gemm_bf16_nt_f32", &gemm_bf16_nt_f32},
      {"gemm_bf16_nt_bf16", &gemm_bf16_nt_bf16},
      {"gemm_bf16_nn_f32", &gemm_bf16_nn_f32},
      {"gemm_bf16_nn_bf16", &gemm_bf16_nn_bf16},
      {"gemm_bf16_nt_f32_unaligned", &gemm_bf16_nt_f32_unaligned},
      {"gemm_bf16_nt_bf16_unaligned", &gemm_bf16_nt_bf16_unaligned},
      {"gemm_bf16_nn_f32_unaligned", &gemm_bf16_nn_f32_unaligned},
      {"gemm_bf16_nn_bf16_unaligned", &gemm_bf16_nn_bf16_unaligned},
  };
  const Arguments& args = chosen.arguments;
  return margay_kernels::launch(kEntries, chosen, stream, args.a, args.b, args.c, args.m, args.n,
                                args.k, args.lda, args.ldb, args.ldc, args.alpha, args.beta);
}

}  // namespace margay_gemm
