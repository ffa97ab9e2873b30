// Runs during the build: fills the table of instructions, which aborts if two rows have the same
// mnemonic. So a duplicate fails the build, regardless of the files its rows are in and of how
// their names are composed.
#include <cstdlib>

#include "exec/instructions/all_rows.h"
#include "gpu/gpu.h"

int main() {
  for (const margay::Architecture* const one : margay::all_architectures()) {
    const margay::RowTable* const table = margay::row_table({}, *one);
    if (table == nullptr || table->size() == 0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
