// Every matrix instruction as plain scalar loops over the published element layout: the
// definition the fast kernels are tested against, and what the exact kernels call when an operand
// is too extreme for their vector arithmetic.
#pragma once

#include "gpu/matrix_shapes.h"
#include "mfma/instructions/mode.h"
#include "mfma/instructions/operands.h"

namespace margay {

/// Runs one dense instruction; `fast` is treated as `fma`. Any overlap of the operands is allowed.
void mfma_reference(const MfmaShape& shape, MfmaMode mode, const MfmaOperands& operands);

/// `exact` of one instruction whose operands are out of `vectors`' range, without modifiers. Where
/// that is for infinities, NaNs or denormals in A or B, only their rows and columns are computed
/// here, and `vectors` sees zeros in their places; else all is computed here.
void mfma_around_extremes(const MfmaShape& shape, const MfmaOperands& operands,
                          MfmaFunction vectors);

/// mfma_reference for a sparse instruction.
void smfmac_reference(const MfmaShape& shape, MfmaMode mode, const SmfmacOperands& operands);

/// The k of B that kept value `p` of row i of A is multiplied by.
[[nodiscard]] int smfmac_index(const MfmaShape& shape, const SmfmacOperands& operands, int i,
                               int p);

/// Where element (row or column i, k, block) of A or B is in the operand's register rows.
struct MfmaElement {
  int lane, reg, bit;  ///< `reg` is the register number in the operand; for f64, of the lower half.
};
[[nodiscard]] MfmaElement mfma_source_element(const MfmaShape& shape, MfmaType type, int i, int k,
                                              int block);
/// Where element (i, j, block) of C and D is.
[[nodiscard]] MfmaElement mfma_result_element(const MfmaShape& shape, int i, int j, int block);

/// The lane whose B value lane `lane` receives under BLGP (not for f64).
[[nodiscard]] int mfma_blgp_lane(unsigned blgp, int lane);

}  // namespace margay
