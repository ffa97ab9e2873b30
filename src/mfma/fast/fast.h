// The host's own matrix arithmetic, if any: AMX, AVX-512 BF16, AVX-512 VNNI.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "mfma/instructions/mode.h"
#include "mfma/instructions/operands.h"

namespace margay {

/// One way to do an instruction in mode `fast`.
struct FastMethod {
  std::string_view name;
  MfmaKernel kernel;
};

/// The methods of this host for kMfmaShapes[index], best first; "as fma" has no kernel, and is
/// always the last entry. One that pays only in runs of instructions has no function for one.
[[nodiscard]] std::vector<FastMethod> fast_mfma_methods(std::size_t index);

/// kMfmaShapes[index] by AMX or AVX-512 VNNI: i8 in every mode, since integers are exact, and bf16
/// in mode `exact`. Null if this host has none, and for other instructions.
[[nodiscard]] MfmaKernel vnni_kernel(std::size_t index, MfmaMode mode);

/// See mfma_thread_begin and mfma_thread_end.
void fast_mfma_thread_begin();
void fast_mfma_thread_end();

}  // namespace margay
