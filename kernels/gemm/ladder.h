// The ladder: GEMM kernels from one wave to the fast one, each a folder with one kernel, and the
// table by which programs find them. Plain C++, as plan.h: `margay gemm --level N` launches from
// the plan; HIP programs link ladder.hip and call launch().
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#include "../common/plan.h"
#include "plan.h"

struct ihipStream_t;  // what HIP's hipStream_t points to

namespace margay_gemm::ladder {

/// One kernel. It works for m, n and k in multiples of its block and step, all greater than 0.
struct Level {
  int number;
  const char* name;  // of the folder: levelNN_name
  const char* idea;
  const char* kernel;
  int block_m, block_n, step_k;
  unsigned threads;
  bool transpose_b;  // true: B is stored n x k and C = A B^T; false: k x n and C = A B
  bool grid_1d;      // false: the grid is (n / block_n, m / block_m)
};

inline constexpr Level kLevels[] = {
    // clang-format off
    {1, "one_wave", "one wave makes a block of C = A B", "gemm_level01", 64, 64, 64, 64, false, false},
    {2, "four_waves", "four waves share the block", "gemm_level02", 128, 128, 64, 256, false, false},
    {3, "b_transposed", "C = A B^T: both operands have k along their rows", "gemm_level03", 128, 128, 64, 256, true, false},
    {4, "double_buffer", "two buffers in LDS, one barrier per step", "gemm_level04", 128, 128, 32, 256, true, false},
    {5, "producers", "four waves load, four compute", "gemm_level05", 128, 128, 32, 512, true, false},
    {6, "register_double_buffer", "LDS reads fly while MFMA run", "gemm_level06", 128, 128, 32, 256, true, false},
    {7, "eight_waves", "eight waves in two halves, two to a SIMD", "gemm_level07", 128, 128, 32, 512, true, false},
    {8, "register_prefetch", "256x256; the next tiles fly in registers", "gemm_level08", 256, 256, 32, 512, true, false},
    {9, "small_accumulators", "eight accumulators of 32x32 per wave", "gemm_level09", 256, 256, 32, 512, true, false},
    {10, "wide_k", "steps of 64 along k: whole cache lines", "gemm_level10", 256, 256, 64, 512, true, false},
    {11, "block_order", "blocks ordered for dies and their L2", "gemm_level11", 256, 256, 64, 512, true, true},
    {12, "ping_pong", "wave halves take turns, with priorities", "gemm_level12", 256, 256, 64, 512, true, true},
    // clang-format on
};

/// The number of the last step, the kernel of gemm_bf16.hip, which plan.h plans.
constexpr int kFastLevel = 13;

constexpr const Level* find(int number) {
  for (const Level& level : kLevels) {
    if (level.number == number) return &level;
  }
  return nullptr;
}

/// C = A op(B): row-major matrices without gaps between rows; A and B hold bf16, C float.
struct Problem {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::int64_t m = 0, n = 0, k = 0;
};

using margay_kernels::Tensor;

/// The kernels' parameter in memory: three kittens::gl. ladder.hip asserts that they agree.
struct Arguments {
  Tensor a, b, c;
};

using Plan = margay_kernels::Plan<Arguments>;

namespace detail {
constexpr std::int64_t kMaxExtent = 1 << 20;

inline std::string refuse_extent(const Level& level, char name, std::int64_t extent, int block) {
  if (extent > 0 && extent % block == 0 && extent <= kMaxExtent) return {};
  const char letter[] = {name, '\0'};
  return margay_kernels::text("level ", level.number, " needs ", letter, " in multiples of ", block,
                              ", up to ", kMaxExtent, "; ", letter, " is ", extent);
}
}  // namespace detail

/// Why a level cannot run a problem of these extents, wherever its matrices are; empty if it can.
inline std::string refuse_extents(const Level& level, const Problem& p) {
  for (const auto& message : {detail::refuse_extent(level, 'm', p.m, level.block_m),
                              detail::refuse_extent(level, 'n', p.n, level.block_n),
                              detail::refuse_extent(level, 'k', p.k, level.step_k)}) {
    if (!message.empty()) return message;
  }
  const std::int64_t blocks = p.m / level.block_m * (p.n / level.block_n);
  if (level.grid_1d && blocks > margay_kernels::kMaxWorkItems / level.threads)
    return "the result has too many blocks for one launch";
  return {};
}

inline std::string refuse_memory(const Problem& p) {
  if (p.a == nullptr || p.b == nullptr || p.c == nullptr) return "a matrix is a null pointer";
  for (const void* pointer : {p.a, p.b, static_cast<const void*>(p.c)}) {
    if (!margay_kernels::aligned(pointer, 16))
      return "the ladder needs matrices aligned to 16 bytes";
  }
  return {};
}

/// The launch of a level for a problem, or why it cannot run.
inline Plan plan(const Level& level, const Problem& p) {
  Plan result;
  result.refusal = refuse_extents(level, p);
  if (result.refusal.empty()) result.refusal = refuse_memory(p);
  if (!result.refusal.empty()) return result;
  const auto across = static_cast<unsigned>(p.n / level.block_n);
  const auto down = static_cast<unsigned>(p.m / level.block_m);
  result.use({level.kernel, level.threads});
  result.grid_x = level.grid_1d ? across * down : across;
  result.grid_y = level.grid_1d ? 1 : down;
  const auto m = static_cast<std::int32_t>(p.m), n = static_cast<std::int32_t>(p.n),
             k = static_cast<std::int32_t>(p.k);
  result.arguments = {{1, 1, m, k, p.a},
                      {1, 1, level.transpose_b ? n : k, level.transpose_b ? k : n, p.b},
                      {1, 1, m, n, p.c}};
  return result;
}

/// The same for a problem of the fast kernel, most of whose abilities the levels lack.
inline std::string refuse_general_extents(const Level& level, const margay_gemm::Problem& p) {
  using margay_kernels::text;
  if (auto refusal = refuse_extents(level, Problem{p.a, p.b, p.c, p.m, p.n, p.k}); !refusal.empty())
    return refusal;
  if (p.transpose_b != level.transpose_b)
    return text("level ", level.number, " computes ", level.transpose_b ? "A B^T" : "A B", " only");
  if (p.output != Output::kFloat || p.alpha != 1 || p.beta != 0)
    return text("level ", level.number, " makes float32 results, without alpha and beta; level ",
                kFastLevel, " has them");
  return {};
}
inline Plan plan_general(const Level& level, const margay_gemm::Problem& p) {
  Plan result;
  result.refusal = refuse_general_extents(level, p);
  if (!result.refusal.empty()) return result;
  struct Matrix {
    const char* name;
    const void* data;
    std::int64_t row, leading;
  };
  for (const Matrix& matrix :
       {Matrix{"a", p.a, p.k, p.lda}, Matrix{"b", p.b, level.transpose_b ? p.k : p.n, p.ldb},
        Matrix{"c", p.c, p.n, p.ldc}}) {
    if (matrix.leading == matrix.row && margay_kernels::aligned(matrix.data, 16)) continue;
    result.refusal = margay_kernels::text(matrix.name, ": level ", level.number,
                                          " needs it without gaps and on 16 bytes");
    return result;
  }
  return plan(level, Problem{p.a, p.b, p.c, p.m, p.n, p.k});
}

/// Enqueues the level's kernel. Empty on success, otherwise the reason.
std::string launch(const Level& level, const Problem& problem, ihipStream_t* stream = nullptr);

}  // namespace margay_gemm::ladder

/// The same for other languages, on the null stream: null on success, otherwise the reason (valid
/// until the thread's next call).
extern "C" const char* margay_gemm_level(int number, const void* a, const void* b, void* c,
                                         std::int64_t m, std::int64_t n, std::int64_t k);
