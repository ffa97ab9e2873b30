// The kernels of the ladder together: one code object, and the host side that launches them.
#include "ladder.h"

#include <cstddef>

#include "../common/launch.cuh"
#include "level01_one_wave/kernel.hip"
#include "level02_four_waves/kernel.hip"
#include "level03_b_transposed/kernel.hip"
#include "level04_double_buffer/kernel.hip"
#include "level05_producers/kernel.hip"
#include "level06_register_double_buffer/kernel.hip"
#include "level07_eight_waves/kernel.hip"
#include "level08_register_prefetch/kernel.hip"
#include "level09_small_accumulators/kernel.hip"
#include "level10_wide_k/kernel.hip"
#include "level11_block_order/kernel.hip"
#include "level12_ping_pong/kernel.hip"

namespace margay_gemm::ladder {
namespace {

// Plain C++ builds the kernels' parameter without kittens::gl: the two must have the same layout.
using Globals = ::ladder::Globals;
static_assert(sizeof(Globals) == sizeof(Arguments) && sizeof(Globals::a) == sizeof(Tensor) &&
              sizeof(Globals::b) == sizeof(Tensor) && sizeof(Globals::c) == sizeof(Tensor));

using Entry = margay_kernels::Entry<Globals>;
/// A kernel's sizes are in its file, the table's in ladder.h: they must agree.
template <int number, int block_m, int block_n, int step_k, int threads>
constexpr Entry entry(void (*kernel)(Globals)) {
  constexpr const Level* level = find(number);
  static_assert(level->block_m == block_m && level->block_n == block_n && level->step_k == step_k &&
                level->threads == threads);
  return {level->kernel, kernel};
}
#define LADDER_LEVEL(number, name) \
  entry<number, name::kBlockM, name::kBlockN, name::kStepK, name::kThreads>(&name::gemm_##name)
constexpr Entry kEntries[] = {
    LADDER_LEVEL(1, level01),  LADDER_LEVEL(2, level02),  LADDER_LEVEL(3, level03),
    LADDER_LEVEL(4, level04),  LADDER_LEVEL(5, level05),  LADDER_LEVEL(6, level06),
    LADDER_LEVEL(7, level07),  LADDER_LEVEL(8, level08),  LADDER_LEVEL(9, level09),
    LADDER_LEVEL(10, level10), LADDER_LEVEL(11, level11), LADDER_LEVEL(12, level12),
};
#undef LADDER_LEVEL
static_assert(std::size(kEntries) == std::size(kLevels));

}  // namespace

std::string launch(const Level& level, const Problem& problem, ihipStream_t* stream) {
  const Plan chosen = plan(level, problem);
  if (!chosen.refusal.empty()) return chosen.refusal;
  using margay_kernels::matrix;
  const Globals globals{matrix<kittens::bf16>(chosen.arguments.a),
                        matrix<kittens::bf16>(chosen.arguments.b),
                        matrix<float>(chosen.arguments.c)};
  const hipError_t status = margay_kernels::launch(kEntries, chosen, stream, globals);
  return status == hipSuccess ? "" : hipGetErrorString(status);
}

}  // namespace margay_gemm::ladder

extern "C" const char* margay_gemm_level(int number, const void* a, const void* b, void* c,
                                         std::int64_t m, std::int64_t n, std::int64_t k) {
  using namespace margay_gemm::ladder;
  static thread_local std::string said;
  const Level* const level = find(number);
  said = level == nullptr ? "no such level" : launch(*level, {a, b, c, m, n, k});
  return said.empty() ? nullptr : said.c_str();
}
