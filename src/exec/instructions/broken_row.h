// Breaks the results of one row on purpose, to show which tests detect it
// (tools/isa_page/row_kills.py). Rows are broken while their table is built; without a request, a
// row keeps its handlers.
//
// clang-format off
//   MARGAY_BREAK_ROW=MNEMONIC:PART   breaks one part of the instruction's result; reports it on stderr
//   MARGAY_BREAK_ROW=*               breaks nothing, but records which parts each instruction has
//   MARGAY_BREAK_ROW_REPORT=FILE     "MNEMONIC PART TIMES" lines are appended when the process ends
// clang-format on
#pragma once

#include "exec/rows/row_table.h"

namespace margay {

/// Wraps the handlers of the rows of `table` that the environment names.
void break_rows_if_asked(RowTable& table);

}  // namespace margay
