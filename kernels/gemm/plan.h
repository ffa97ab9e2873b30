// Which GEMM kernel runs a problem, and with which grid and arguments. Plain C++: for programs that
// launch through HIP's C++ interface (gemm.h) and for those that load the code object themselves.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// A plan is a launch, or a refusal that says why. Nothing is launched when grid_x is 0: the result
/// has no elements.
struct Plan {
  const char* refusal = nullptr;
  const char* kernel = nullptr;
  unsigned grid_x = 0;
  unsigned block_x = kThreads;
  unsigned dynamic_lds = 0;
  Arguments arguments = {};
};

namespace plan_detail {
constexpr std::int64_t kMaxExtent = 0x7fffffff - kBlockM;
/// A block's panel of 256 rows is addressed with 31-bit byte offsets.
constexpr std::int64_t kMaxLeadingDimension = (std::int64_t{1} << 31) / (2 * kBlockM) - kStepK;

inline bool aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

inline const char* refusal(const Problem& p) {
  if (p.m < 0 || p.n < 0 || p.k < 0) return "m, n and k must not be negative";
  if (p.m > kMaxExtent || p.n > kMaxExtent || p.k > kMaxExtent) {
    return "m, n and k must be below 2^31 - 256";
  }
  if (p.m == 0 || p.n == 0) return nullptr;
  if (p.c == nullptr) return "C is a null pointer";
  if (p.k > 0 && (p.a == nullptr || p.b == nullptr)) return "A or B is a null pointer";
  if (p.lda < p.k) return "lda must be at least k";
  if (p.ldb < (p.transpose_b ? p.k : p.n)) {
    return p.transpose_b ? "ldb must be at least k" : "ldb must be at least n";
  }
  if (p.ldc < p.n) return "ldc must be at least n";
  if (p.lda > kMaxLeadingDimension || p.ldb > kMaxLeadingDimension ||
      p.ldc > kMaxLeadingDimension) {
    return "leading dimensions must not exceed 4194240 elements";
  }
  if (!aligned(p.a, 2) || !aligned(p.b, 2) || !aligned(p.c, p.output == Output::kFloat ? 4 : 2)) {
    return "a matrix is not aligned to its elements";
  }
  const std::int64_t blocks = ((p.m + kBlockM - 1) / kBlockM) * ((p.n + kBlockN - 1) / kBlockN);
  // A launch has at most 2^32 - 1 work-items per dimension (HIP programming guide).
  if (blocks * kThreads > 0xffffffffLL) return "C has too many 256x256 blocks for one launch";
  return nullptr;
}
}  // namespace plan_detail

/// Whether rows can be read in 16-byte chunks none of which straddles the end of a row.
inline bool reads_whole_chunks(const Problem& p) {
  const std::int64_t b_row = p.transpose_b ? p.k : p.n;
  return plan_detail::aligned(p.a, 16) && plan_detail::aligned(p.b, 16) && p.lda % 8 == 0 &&
         p.ldb % 8 == 0 && p.k % 8 == 0 && b_row % 8 == 0;
}

inline Plan plan(const Problem& p) {
  Plan result;
  result.refusal = plan_detail::refusal(p);
  if (result.refusal != nullptr || p.m == 0 || p.n == 0) return result;
  static constexpr const char* kNames[2][2][2] = {
      {{"gemm_bf16_nn_f32", "gemm_bf16_nn_f32_unaligned"},
       {"gemm_bf16_nn_bf16", "gemm_bf16_nn_bf16_unaligned"}},
      {{"gemm_bf16_nt_f32", "gemm_bf16_nt_f32_unaligned"},
       {"gemm_bf16_nt_bf16", "gemm_bf16_nt_bf16_unaligned"}}};
  result.kernel = kNames[p.transpose_b][p.output == Output::kBf16][!reads_whole_chunks(p)];
  result.grid_x =
      static_cast<unsigned>(((p.m + kBlockM - 1) / kBlockM) * ((p.n + kBlockN - 1) / kBlockN));
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
