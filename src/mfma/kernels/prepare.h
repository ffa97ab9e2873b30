// Preparation before a kernel runs: operands with lane modifiers, and C rows that D rows overlap at
// another place, are copied so that the kernels need not handle either case.
#pragma once

#include "gpu/matrix_shapes.h"
#include "mfma/instructions/operands.h"

namespace margay {

/// Runs `kernel` on a copy of the operands with modifiers applied and C out of D's way.
void run_mfma_prepared(MfmaFunction kernel, const MfmaShape& shape, const MfmaOperands& operands);

/// The kernels of one host level, by index into kMfmaShapes and kSmfmacShapes.
struct MfmaTable {
  MfmaKernel kernels[kMfmaShapeCount];
  SmfmacFunction sparse[kSmfmacShapeCount] = {};
};

}  // namespace margay
