#include "substitutes/gemm.h"

#include <array>

#include "substitutes/kernels.h"

namespace margay::substitutes {
namespace {

constexpr long kTile = 64;
constexpr unsigned kThreads = 256;

struct Kind {
  Element a, c;
  std::string_view kernel;
};
constexpr std::array kKinds = {
    Kind{Element::f32, Element::f32, "margay_gemm_f32"},
    Kind{Element::f64, Element::f64, "margay_gemm_f64"},
    Kind{Element::c64, Element::c64, "margay_gemm_c64"},
    Kind{Element::c128, Element::c128, "margay_gemm_c128"},
    Kind{Element::bf16, Element::bf16, "margay_gemm_bf16"},
    Kind{Element::bf16, Element::f32, "margay_gemm_bf16_f32"},
    Kind{Element::f16, Element::f16, "margay_gemm_f16"},
    Kind{Element::f16, Element::f32, "margay_gemm_f16_f32"},
    Kind{Element::i8, Element::i32, "margay_gemm_i8_i32"},
};

}  // namespace

std::string_view gemm_kernel(Element a, Element b, Element c, Element d) {
  if (a != b || c != d) return {};
  for (const Kind& kind : kKinds)
    if (kind.a == a && kind.c == c) return kind.kernel;
  return {};
}

bool launch_gemm(std::string_view kernel, blas::GemmArguments arguments, long batch, void* stream) {
  if (arguments.m == 0 || arguments.n == 0 || batch == 0) return true;
  const auto tiles = [](long n) { return static_cast<unsigned>((n + kTile - 1) / kTile); };
  const Grid grid{tiles(arguments.m), tiles(arguments.n), static_cast<unsigned>(batch), kThreads};
  return launch_kernel("gemm_any", kernel, grid, &arguments, stream);
}

}  // namespace margay::substitutes
