// Runs when it is built: fills the table of instructions, which ends the process where two rows
// have one mnemonic. So a duplicate does not build, whichever files its rows are in and however
// their names are put together.
#include <cstdlib>

#include "exec/instructions/all_rows.h"

int main() { return margay::row_table("generic")->size() == 0 ? EXIT_FAILURE : EXIT_SUCCESS; }
