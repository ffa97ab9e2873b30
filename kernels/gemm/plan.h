// Which GEMM kernel runs a problem, and with which grid and arguments. Plain C++: for programs that
// launch through HIP's C++ interface (gemm.h) and for those that load the code object themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../common/plan.h"

namespace margay_gemm {

enum class Output { kFloat, kBf16 };

/// C = alpha A op(B) + beta C. A is m x k; op(B) is k x n. All matrices are row-major, with their
/// leading dimensions in elements. A and B hold bf16.
struct Problem {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  bool transpose_b = true;  // true: B is stored n x k, false: k x n
  Output output = Output::kFloat;
  float alpha = 1;
  float beta = 0;  // 0: C is not read
};

/// The kernels' parameters, in order and layout.
struct Arguments {
  const void* a;
  const void* b;
  void* c;
  std::int32_t m, n, k;
  std::int64_t lda, ldb, ldc;
  float alpha, beta;
};
static_assert(sizeof(Arguments) == 72 && offsetof(Arguments, lda) == 40);

constexpr int kBlockM = 256;
constexpr int kBlockN = 256;
constexpr int kStepK = 64;
constexpr int kThreads = 512;

using Plan = margay_kernels::Plan<Arguments>;

/// By transpose_b, the type of C, and whether rows cannot be read in whole chunks.
inline constexpr margay_kernels::Kernel kKernels[2][2][2] = {
    {{{"gemm_bf16_nn_f32", kThreads}, {"gemm_bf16_nn_f32_unaligned", kThreads}},
     {{"gemm_bf16_nn_bf16", kThreads}, {"gemm_bf16_nn_bf16_unaligned", kThreads}}},
    {{{"gemm_bf16_nt_f32", kThreads}, {"gemm_bf16_nt_f32_unaligned", kThreads}},
     {{"gemm_bf16_nt_bf16", kThreads}, {"gemm_bf16_nt_bf16_unaligned", kThreads}}}};

/// Blocks of C.
inline std::int64_t blocks(const Problem& p) {
  return margay_kernels::ceil_div(p.m, kBlockM) * margay_kernels::ceil_div(p.n, kBlockN);
}

/// Why no kernel runs a problem of these extents, wherever its matrices are; empty if one does.
inline std::string refuse_extents(const Problem& p) {
  using margay_kernels::text;
  if (p.m < 0 || p.n < 0 || p.k < 0) return "m, n and k must not be negative";
  constexpr std::int64_t kMaxExtent = 0x7fffffff - kBlockM;
  if (p.m > kMaxExtent || p.n > kMaxExtent || p.k > kMaxExtent)
    return text("m, n and k must not exceed ", kMaxExtent);
  if (blocks(p) > margay_kernels::kMaxWorkItems / kThreads)
    return text("the result has too many ", kBlockM, "x", kBlockN, " blocks for one launch");
  return {};
}

inline std::string refuse_memory(const Problem& p) {
  using margay_kernels::text;
  if (p.c == nullptr) return "C is a null pointer";
  if (p.k > 0 && (p.a == nullptr || p.b == nullptr)) return "A or B is a null pointer";
  // A block's panel of 256 rows is addressed with 31-bit byte offsets.
  constexpr std::int64_t kMaxLeading = (std::int64_t{1} << 31) / (2 * kBlockM) - kStepK;
  struct Matrix {
    const char* name;
    const void* data;
    std::int64_t row, leading;
    std::size_t element;
  };
  for (const Matrix& matrix :
       {Matrix{"a", p.a, p.k, p.lda, 2}, Matrix{"b", p.b, p.transpose_b ? p.k : p.n, p.ldb, 2},
        Matrix{"c", p.c, p.n, p.ldc, std::size_t{p.output == Output::kFloat ? 4u : 2u}}}) {
    if (matrix.leading < matrix.row)
      return text(matrix.name, ": its rows of ", matrix.row, " elements are only ", matrix.leading,
                  " apart");
    if (matrix.leading > kMaxLeading)
      return text(matrix.name, ": its rows are ", matrix.leading,
                  " elements apart; the kernel's limit is ", kMaxLeading);
    if (!margay_kernels::aligned(matrix.data, matrix.element))
      return text(matrix.name, ": its memory is not aligned to its elements");
  }
  return {};
}

/// Whether rows can be read in 16-byte chunks, none of which straddles the end of a row.
inline bool reads_whole_chunks(const Problem& p) {
  const std::int64_t b_row = p.transpose_b ? p.k : p.n;
  return margay_kernels::aligned(p.a, 16) && margay_kernels::aligned(p.b, 16) && p.lda % 8 == 0 &&
         p.ldb % 8 == 0 && p.k % 8 == 0 && b_row % 8 == 0;
}

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = refuse_extents(p);
  if (!result.refusal.empty() || p.m == 0 || p.n == 0) return result;
  result.refusal = refuse_memory(p);
  if (!result.refusal.empty()) return result;
  result.use(kKernels[p.transpose_b][p.output == Output::kBf16][!reads_whole_chunks(p)]);
  result.grid_x = static_cast<unsigned>(blocks(p));
  result.arguments = {p.a,
                      p.b,
                      p.c,
                      static_cast<std::int32_t>(p.m),
                      static_cast<std::int32_t>(p.n),
                      static_cast<std::int32_t>(p.k),
                      p.lda,
                      p.ldb,
                      p.ldc,
                      p.alpha,
                      p.beta};
  return result;
}

}  // namespace margay_gemm
