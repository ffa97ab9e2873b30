#include "exec/row_table.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "base/host_level.h"
#include "exec/broken_row.h"
#include "exec/rows.h"

namespace margay {

std::string_view interned(std::string text) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return *names.insert(std::move(text)).first;
}

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

void RowTable::add(Row row) {
  const auto [at, is_new] = rows_.try_emplace(row.mnemonic, nullptr);
  if (!is_new) {
    fmt::print(stderr, "margay: two rows for the instruction {}\n", row.mnemonic);
    std::abort();
  }
  at->second = std::make_unique<Row>(std::move(row));
  break_row_if_asked(*at->second);
}

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
