// What matrix.cpp and groups.cpp share.
#pragma once

#include "exec/state/instruction.h"
#include "exec/state/wave.h"
#include "mfma/mfma.h"

namespace margay {

[[nodiscard]] MfmaStep step_of(const Instruction& i);
[[nodiscard]] const MfmaKernel& matrix_kernel(MfmaMode mode, const Instruction& i);

/// The handler of one dense matrix instruction by itself.
const Instruction* run_matrix(Wave& wave, const Instruction& i);

}  // namespace margay
