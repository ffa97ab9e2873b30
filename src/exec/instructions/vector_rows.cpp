// Instantiates the integer, float, conversion and transcendental rows. Compiled once per host
// level.
#include "exec/instructions/all_rows.h"
#include "exec/instructions/valu.h"
#include "isa/gfx942/convert.h"
#include "isa/gfx942/transcendental.h"

namespace margay::MARGAY_HOST_LEVEL {

void add_vector_rows(RowTable& table) {
  add_vector_rows(table, IntegerRows{});
  add_vector_rows(table, FloatRows{});
  add_vector_rows(table, ConvertRows{});
  add_vector_rows(table, TranscendentalRows{});
}

}  // namespace margay::MARGAY_HOST_LEVEL
