#include "exec/instructions/all_rows.h"

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "base/host_level.h"
#include "exec/instructions/broken_row.h"

namespace margay {
namespace {

/// The rows that are compiled once per host level. CMake's MARGAY_HOST_LEVELS says for which.
struct Level {
  std::string_view name;
  void (*add_gfx942_rows)(RowTable& table);
};

#define MARGAY_LEVEL_ROWS(level)    \
  [](RowTable& table) {             \
    level::add_vector_rows(table);  \
    level::add_compare_rows(table); \
    level::add_half_rows(table);    \
    level::add_packed_rows(table);  \
    level::add_lane_rows(table);    \
    level::add_vmem_rows(table);    \
    level::add_lds_rows(table);     \
  }
constexpr Level kLevels[] = {
#if defined(MARGAY_LEVEL_GENERIC)
    {"generic", MARGAY_LEVEL_ROWS(generic)},
#endif
#if defined(MARGAY_LEVEL_X86_V3)
    {"x86-64-v3", MARGAY_LEVEL_ROWS(x86_v3)},
#endif
#if defined(MARGAY_LEVEL_X86_V4)
    {"x86-64-v4", MARGAY_LEVEL_ROWS(x86_v4)},
#endif
};
#undef MARGAY_LEVEL_ROWS

std::unique_ptr<const RowTable> make_table(const Level& level, const Architecture& architecture) {
  auto table = std::make_unique<RowTable>();
  switch (architecture.rows) {
    case RowSet::gfx942:
      add_scalar_rows(*table);
      add_flow_rows(*table);
      add_scalar_memory_rows(*table);
      add_format_rows(*table);
      level.add_gfx942_rows(*table);
      break;
    case RowSet::none:
      return nullptr;
  }
  add_matrix_rows(*table, architecture.matrix, level.name);
  break_rows_if_asked(*table);
  return table;
}

}  // namespace

const RowTable* row_table(std::string_view level, const Architecture& architecture) {
  if (level.empty()) level = best_host_level();
  if (!host_has(level)) return nullptr;
  for (std::size_t n = 0; n < std::size(kLevels); ++n) {
    if (kLevels[n].name != level) continue;
    // By what a table is made from: processors that share it share the table.
    using Key = std::tuple<std::size_t, RowSet, const MatrixInstruction*, std::size_t>;
    static std::mutex mutex;
    static std::map<Key, std::unique_ptr<const RowTable>> tables;
    const std::lock_guard lock(mutex);
    const Key key{n, architecture.rows, architecture.matrix.data(), architecture.matrix.size()};
    const auto [at, is_new] = tables.try_emplace(key);
    if (is_new) at->second = make_table(kLevels[n], architecture);
    return at->second.get();
  }
  return nullptr;
}

}  // namespace margay
