// All implemented instructions: the groups of rows, each filled by one source file.
#pragma once

#include <span>
#include <string_view>

#include "exec/rows/row_table.h"
#include "gpu/architecture.h"

namespace margay {

/// The rows of a processor, for one host level: "generic", "x86-64-v3" or "x86-64-v4", or empty for
/// the best this host can run (base/host_level.h). Null when the level is unknown or not supported
/// by this host, or there are no rows for the processor.
[[nodiscard]] const RowTable* row_table(std::string_view level, const Architecture& architecture);

// Compiled once: scalar ALU, program flow, scalar memory.
void add_scalar_rows(RowTable& table);
void add_flow_rows(RowTable& table);
/// Instructions that only wait, hint or leave a mode.
const Instruction* no_operation(Wave& wave, const Instruction& i);
void add_scalar_memory_rows(RowTable& table);
/// Buffer instructions that convert to and from a data format.
void add_format_rows(RowTable& table);
/// The matrix instructions of a processor (exec/instructions/matrix/matrix.cpp).
void add_matrix_rows(RowTable& table, std::span<const MatrixInstruction> instructions,
                     std::string_view level);

// Compiled once per host level.
#define MARGAY_DECLARE_LEVEL_ROWS(level)  \
  namespace level {                       \
  void add_vector_rows(RowTable& table);  \
  void add_compare_rows(RowTable& table); \
  void add_half_rows(RowTable& table);    \
  void add_packed_rows(RowTable& table);  \
  void add_lane_rows(RowTable& table);    \
  void add_vmem_rows(RowTable& table);    \
  void add_lds_rows(RowTable& table);     \
  }
MARGAY_DECLARE_LEVEL_ROWS(generic)
MARGAY_DECLARE_LEVEL_ROWS(x86_v3)
MARGAY_DECLARE_LEVEL_ROWS(x86_v4)
#undef MARGAY_DECLARE_LEVEL_ROWS

}  // namespace margay
