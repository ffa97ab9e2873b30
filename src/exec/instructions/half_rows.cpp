// Instantiates the 16-bit rows, and those built on them. Compiled once per host level.
#include "exec/instructions/all_rows.h"
#include "exec/instructions/valu.h"
#include "isa/gfx942/fp8.h"
#include "isa/gfx942/half.h"
#include "isa/gfx942/media.h"

namespace margay::MARGAY_HOST_LEVEL {

void add_half_rows(RowTable& table) {
  add_vector_rows(table, HalfRows{});
  add_vector_rows(table, Fp8Rows{});
  add_vector_rows(table, MediaRows{});
}

}  // namespace margay::MARGAY_HOST_LEVEL
