// The parameters of the ladder's kernels: three matrices, row-major. A is m x k and C m x n; B is
// stored k x n (levels 1 and 2, C = A B) or n x k (from level 3 on, C = A B^T).
#pragma once

#include "kittens.cuh"

namespace ladder {

struct Globals {
  kittens::gl<kittens::bf16, -1, -1, -1, -1> a, b;
  kittens::gl<float, -1, -1, -1, -1> c;
};

}  // namespace ladder
