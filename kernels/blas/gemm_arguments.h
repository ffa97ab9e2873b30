// What the kernels of gemm_any.hip are given, for the device and for the host that launches them.
#pragma once

namespace margay::blas {

struct GemmArguments {
  enum Operation { kAsIs = 0, kTransposed = 1, kConjugate = 2 };  // kConjugate: and transposed
  const void* a;
  const void* b;
  const void* c;
  void* d;
  const void* bias;  // one for each row, in D's type; null: none
  long m, n, k;
  long lda, ldb, ldc, ldd;
  long stride_a, stride_b, stride_c, stride_d;  // from matrix to matrix of a batch, in elements
  double alpha[2], beta[2];                     // real and imaginary part
  int op_a, op_b;
  int relu;
};

}  // namespace margay::blas
