// Runs during the build: fills the table of instructions, which aborts if two rows have the same
// mnemonic. So a duplicate fails the build, regardless of the files its rows are in and of how
// their names are composed.
#include <cstdlib>

#include "exec/instructions/all_rows.h"

int main() { return margay::row_table("generic")->size() == 0 ? EXIT_FAILURE : EXIT_SUCCESS; }
