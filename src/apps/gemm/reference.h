// The whole reference matrix: oneDNN's bf16 matrix multiplication on the same host.
#pragma once

#include <cstdint>
#include <span>

#include "apps/gemm/problem.h"
#include "base/error.h"

namespace margay::gemm {

/// product = A op(B) in f32. Returns the wall time of the multiplication alone, in seconds (the
/// primitive is made and the result's pages are touched before).
[[nodiscard]] Result<double> multiply_with_onednn(const Options& options,
                                                  std::span<const std::uint16_t> a,
                                                  std::span<const std::uint16_t> b,
                                                  std::span<float> product, unsigned threads);

}  // namespace margay::gemm
