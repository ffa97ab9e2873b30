#include "apps/gemm/choose.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/gemm/ladder.h"
#include "kernels/gemm/plan.h"

namespace margay::gemm {
namespace {

namespace ladder = margay_gemm::ladder;

template <typename Arguments>
std::vector<std::byte> bytes_of(const Arguments& arguments) {
  const auto bytes = std::as_bytes(std::span(&arguments, 1));
  return {bytes.begin(), bytes.end()};
}

Result<Choice> choose_fast(const Options& o, const Matrices& matrices) {
  margay_gemm::Problem problem;
  problem.a = matrices.a;
  problem.b = matrices.b;
  problem.c = matrices.c;
  problem.m = o.m;
  problem.n = o.n;
  problem.k = o.k;
  problem.lda = o.k;
  problem.ldb = o.transpose_b ? o.k : o.n;
  problem.ldc = o.n;
  problem.transpose_b = o.transpose_b;
  problem.output =
      o.output == OutputType::f32 ? margay_gemm::Output::kFloat : margay_gemm::Output::kBf16;
  problem.alpha = o.alpha;
  problem.beta = o.beta;
  const margay_gemm::Plan plan = margay_gemm::plan(problem);
  if (plan.refusal != nullptr)
    return fail(ErrorCode::invalid_argument, plan.refusal, "margay gemm");
  return Choice{.code_object = "gemm_bf16.hsaco",
                .kernel = plan.kernel,
                .grid_x = plan.grid_x,
                .block_x = plan.block_x,
                .dynamic_lds = plan.dynamic_lds,
                .arguments = bytes_of(plan.arguments)};
}

Result<const ladder::Level*> level_of(int number) {
  if (const ladder::Level* const level = ladder::find(number); level != nullptr) return level;
  return fail(ErrorCode::invalid_argument, fmt::format("there is no level {}", number), "--level",
              fmt::format("1 to {}; margay gemm --list-levels", ladder::kFastLevel));
}

}  // namespace

Result<Choice> choose(const Options& o, const Matrices& matrices) {
  if (o.level == 0 || o.level == ladder::kFastLevel) return choose_fast(o, matrices);
  const ladder::Level* const level = MARGAY_TRY(level_of(o.level));
  const ladder::Plan plan =
      ladder::plan(*level, {matrices.a, matrices.b, matrices.c, o.m, o.n, o.k});
  if (!plan.refusal.empty())
    return fail(ErrorCode::invalid_argument, plan.refusal, "margay gemm --level");
  return Choice{.code_object = "gemm_ladder.hsaco",
                .kernel = level->kernel,
                .grid_x = plan.grid_x,
                .grid_y = plan.grid_y,
                .block_x = level->threads,
                .arguments = bytes_of(plan.arguments)};
}

Status apply_level(Options& o, bool transpose_given) {
  if (o.level == ladder::kFastLevel) return {};
  const ladder::Level* const level = MARGAY_TRY(level_of(o.level));
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, fmt::format("level {} {}", o.level, what),
                "margay gemm --level",
                fmt::format("leave it out, or use --level {}", ladder::kFastLevel));
  };
  if (transpose_given && o.transpose_b != level->transpose_b)
    return refuse(level->transpose_b ? "computes A B^T only" : "computes A B only");
  if (o.output != OutputType::f32) return refuse("has float output only");
  if (o.alpha != 1 || o.beta != 0) return refuse("knows neither alpha nor beta");
  o.transpose_b = level->transpose_b;
  return {};
}

std::string level_title(int number) {
  const ladder::Level* const level = ladder::find(number);
  if (level == nullptr) return fmt::format("level {}, fast: the kernel of `margay gemm`", number);
  return fmt::format("level {}, {}: {}", number, level->name, level->idea);
}

std::string level_table() {
  constexpr std::string_view kLine = "{:>5}  {:<22}  {:<9}  {:>3}  {:>7}  {:<6}  {}\n";
  std::string text = fmt::format(kLine, "level", "name", "block", "k", "threads", "C", "idea");
  for (const ladder::Level& level : ladder::kLevels)
    text += fmt::format(kLine, level.number, level.name,
                        fmt::format("{}x{}", level.block_m, level.block_n), level.step_k,
                        level.threads, level.transpose_b ? "A B^T" : "A B", level.idea);
  text += fmt::format(kLine, ladder::kFastLevel, "fast",
                      fmt::format("{}x{}", margay_gemm::kBlockM, margay_gemm::kBlockN),
                      margay_gemm::kStepK, margay_gemm::kThreads, "both",
                      "the kernel of `margay gemm`: any size");
  return text +
         "\nm, n and k in multiples of the block and of k. kernels/gemm/levelNN_name explains "
         "each.\n";
}

}  // namespace margay::gemm
