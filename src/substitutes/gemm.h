// Matrix products on the device, for the substitutes that have them: the kernels of
// kernels/blas/gemm_any.hip, launched through HIP on the program's stream.
#pragma once

#include <string_view>

#include "kernels/blas/gemm_arguments.h"

namespace margay::substitutes {

enum class Element { f32, f64, c64, c128, bf16, f16, i8, i32, other };

/// The kernel for these elements of A and B, and of C and D; empty: there is none.
[[nodiscard]] std::string_view gemm_kernel(Element a, Element b, Element c, Element d);

/// Of `batch` products; false: HIP refused, and said why. A product without elements is done.
[[nodiscard]] bool launch_gemm(std::string_view kernel, blas::GemmArguments arguments, long batch,
                               void* stream);

}  // namespace margay::substitutes
