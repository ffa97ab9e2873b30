// Grouped GEMM, bf16, for a mixture of experts: the parameters of its kernel, and its launch.
#pragma once

#include "kittens.cuh"

namespace margay_grouped_gemm {

constexpr int kBlockM = 128, kBlockN = 128, kThreads = 256;

struct Globals {
  kittens::gl<kittens::bf16, 1, 1, -1, -1> x;   // rows x k, the groups one after another
  kittens::gl<kittens::bf16, 1, -1, -1, -1> w;  // groups x n x k
  kittens::gl<kittens::bf16, 1, 1, -1, -1> y;   // rows x n
  const int* offsets;                           // groups + 1, ascending, the last is the rows of x
};

/// k is a multiple of 8. Neither the offsets nor the sizes of the groups are read on the host.
hipError_t launch(const Globals& globals, hipStream_t stream = nullptr);

}  // namespace margay_grouped_gemm
