// The host's own bf16 matrix arithmetic, where it has some: AMX, or AVX-512 BF16.
#pragma once

#include "mfma/mfma.h"

namespace margay {

/// The kernel for kMfmaShapes[index]; null when the host has nothing faster than mode `fma`.
[[nodiscard]] MfmaKernel fast_mfma_kernel(std::size_t index);
[[nodiscard]] std::string_view fast_mfma_method(std::size_t index);

}  // namespace margay
