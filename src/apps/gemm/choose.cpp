#include "apps/gemm/choose.h"

#include <fmt/format.h>

#include "include/margay/kernels.h"

namespace margay::gemm {
namespace {

std::span<const margay_kernels_level> levels() {
  std::size_t count = 0;
  const margay_kernels_level* const first = margay_kernels_levels(&count);
  return {first, count};
}

/// The last: the fast kernel.
const margay_kernels_level& fast() { return levels().back(); }

const margay_kernels_level* find(int number) {
  for (const margay_kernels_level& level : levels())
    if (level.number == number) return &level;
  return nullptr;
}

/// The problem without its matrices, as margay_kernels_plan() takes it.
std::string problem(const Options& o) {
  return fmt::format(
      "m={} n={} k={} lda={} ldb={} ldc={} transpose_b={:d} output={} alpha={} beta={} level={}",
      o.m, o.n, o.k, o.k, o.transpose_b ? o.k : o.n, o.n, o.transpose_b,
      o.output == OutputType::f32 ? "f32" : "bf16", o.alpha, o.beta,
      o.level == 0 ? fast().number : o.level);
}

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

Result<Choice> choose(const Options& o, const Matrices& matrices) {
  const std::string text = fmt::format("{} a={} b={} c={}", problem(o), address(matrices.a),
                                       address(matrices.b), address(matrices.c));
  margay_kernels_launch launch;
  if (const char* const refusal = margay_kernels_plan("gemm", text.c_str(), &launch);
      refusal != nullptr)
    return fail(ErrorCode::invalid_argument, refusal, "margay gemm");
  const auto arguments = std::as_bytes(std::span(launch.arguments).first(launch.arguments_size));
  return Choice{.code_object = launch.code_object,
                .kernel = launch.kernel,
                .grid_x = launch.grid[0],
                .grid_y = launch.grid[1],
                .block_x = launch.block[0],
                .dynamic_lds = launch.dynamic_lds,
                .arguments = {arguments.begin(), arguments.end()}};
}

Status apply_level(Options& o, bool transpose_given) {
  const margay_kernels_level* const level = find(o.level);
  if (level == nullptr)
    return fail(ErrorCode::invalid_argument, fmt::format("there is no level {}", o.level),
                "--level", fmt::format("1 to {}; margay gemm --list-levels", fast().number));
  if (!transpose_given && level != &fast()) o.transpose_b = level->multiplies_abt != 0;
  if (const char* const refusal = margay_kernels_check("gemm", problem(o).c_str());
      refusal != nullptr)
    return fail(ErrorCode::invalid_argument, refusal, "margay gemm --level",
                fmt::format("--level {} takes every problem", fast().number));
  return {};
}

std::string level_title(int number) {
  const margay_kernels_level* const level = find(number);
  return level == nullptr ? "" : fmt::format("level {}, {}: {}", number, level->name, level->idea);
}

std::string level_table() {
  constexpr std::string_view kLine = "{:>5}  {:<22}  {:<9}  {:>3}  {:>7}  {:<6}  {}\n";
  std::string text = fmt::format(kLine, "level", "name", "block", "k", "threads", "C", "idea");
  for (const margay_kernels_level& level : levels())
    text +=
        fmt::format(kLine, level.number, level.name,
                    fmt::format("{}x{}", level.block_m, level.block_n), level.step_k, level.threads,
                    level.multiplies_ab == 0    ? "A B^T"
                    : level.multiplies_abt == 0 ? "A B"
                                                : "both",
                    level.idea);
  return text +
         "\nm, n and k in multiples of the block and of k. kernels/gemm/levelNN_name explains "
         "each.\n";
}

}  // namespace margay::gemm
