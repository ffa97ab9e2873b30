// Instantiates the 16-bit rows. Compiled once per target.
#include "exec/rows.h"
#include "exec/valu.h"
#include "isa/gfx942/half.h"

namespace margay::MARGAY_TARGET {

void add_half_rows(RowTable& table) { add_vector_rows(table, HalfRows{}); }

}  // namespace margay::MARGAY_TARGET
