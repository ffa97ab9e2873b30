#include "exec/instructions/all_rows.h"

#include "base/host_level.h"
#include "exec/instructions/broken_row.h"

namespace margay {
namespace {

#define MARGAY_LEVEL_TABLE(space, level) \
  const RowTable& space##_table() {      \
    static const RowTable table = [] {   \
      RowTable t;                        \
      add_scalar_rows(t);                \
      add_flow_rows(t);                  \
      add_scalar_memory_rows(t);         \
      add_format_rows(t);                \
      add_matrix_rows(t, level);         \
      space::add_vector_rows(t);         \
      space::add_compare_rows(t);        \
      space::add_half_rows(t);           \
      space::add_packed_rows(t);         \
      space::add_lane_rows(t);           \
      space::add_vmem_rows(t);           \
      space::add_lds_rows(t);            \
      break_rows_if_asked(t);            \
      return t;                          \
    }();                                 \
    return table;                        \
  }
MARGAY_LEVEL_TABLE(generic, "generic")
#if defined(__x86_64__)
MARGAY_LEVEL_TABLE(x86_v3, "x86-64-v3")
MARGAY_LEVEL_TABLE(x86_v4, "x86-64-v4")
#endif
#undef MARGAY_LEVEL_TABLE

}  // namespace

const RowTable* row_table(std::string_view level, RowSet rows) {
  if (rows != RowSet::gfx942) return nullptr;
  if (level.empty()) level = best_host_level();
  if (!host_has(level)) return nullptr;
  if (level == "generic") return &generic_table();
#if defined(__x86_64__)
  if (level == "x86-64-v3") return &x86_v3_table();
  if (level == "x86-64-v4") return &x86_v4_table();
#endif
  return nullptr;
}

}  // namespace margay
