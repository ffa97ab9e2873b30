// Matrix instructions: the executor's side of the mfma library.
#include "exec/program.h"
#include "exec/rows.h"

namespace margay {

void add_matrix_rows(RowTable&) {}
void group_matrix_instructions(std::vector<Instruction>&, const std::vector<bool>&, MfmaMode) {}

}  // namespace margay
