// The whole reference matrix: oneDNN's matrix multiplication on the same host, of bf16 numbers if
// that has instructions for it, otherwise of the same numbers in f32.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "apps/gemm/problem.h"
#include "base/error.h"

namespace margay::gemm {

/// "bf16" or "f32": what oneDNN multiplies on this host.
[[nodiscard]] std::string_view reference_type();

/// product = A op(B) in f32. Returns the wall time of the multiplication alone, in seconds (the
/// primitive is made and the result's pages are touched before).
[[nodiscard]] Result<double> multiply_with_onednn(const Options& options,
                                                  std::span<const std::uint16_t> a,
                                                  std::span<const std::uint16_t> b,
                                                  std::span<float> product, unsigned threads);

}  // namespace margay::gemm
