// Breaks the results of one row on purpose, so that it can be seen which tests notice
// (tools/isa_page/row_kills.py). Rows are broken while their table is made; where nothing is asked
// for, a row's handlers are its own.
//
//   MARGAY_BREAK_ROW=MNEMONIC:PART   breaks one part of what the instruction leaves; says so on
//   stderr MARGAY_BREAK_ROW=*               breaks nothing, but sees which parts each instruction
//   leaves MARGAY_BREAK_ROW_REPORT=FILE     "MNEMONIC PART TIMES" lines are appended when the
//   process ends
#pragma once

#include "exec/rows/row_table.h"

namespace margay {

/// Puts handlers around those of the rows of `table` that the environment asks for.
void break_rows_if_asked(RowTable& table);

}  // namespace margay
