#include "exec/row_table.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

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

#define MARGAY_TARGET_TABLE(target, level) \
  const RowTable& target##_table() {       \
    static const RowTable table = [] {     \
      RowTable t;                          \
      add_scalar_rows(t);                  \
      add_flow_rows(t);                    \
      add_scalar_memory_rows(t);           \
      add_format_rows(t);                  \
      add_matrix_rows(t, level);           \
      target::add_vector_rows(t);          \
      target::add_compare_rows(t);         \
      target::add_half_rows(t);            \
      target::add_packed_rows(t);          \
      target::add_lane_rows(t);            \
      target::add_vmem_rows(t);            \
      target::add_lds_rows(t);             \
      return t;                            \
    }();                                   \
    return table;                          \
  }
MARGAY_TARGET_TABLE(generic, "generic")
#if defined(__x86_64__)
MARGAY_TARGET_TABLE(x86_v3, "x86-64-v3")
MARGAY_TARGET_TABLE(x86_v4, "x86-64-v4")
#endif
#undef MARGAY_TARGET_TABLE

bool host_has_v3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}
bool host_has_v4() {
#if defined(__x86_64__)
  return host_has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}

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

std::string_view best_host_level() {
  if (host_has_v4()) return "x86-64-v4";
  if (host_has_v3()) return "x86-64-v3";
  return "generic";
}

const RowTable* row_table(std::string_view level) {
  if (level.empty()) level = best_host_level();
  if (level == "generic") return &generic_table();
#if defined(__x86_64__)
  if (level == "x86-64-v3" && host_has_v3()) return &x86_v3_table();
  if (level == "x86-64-v4" && host_has_v4()) return &x86_v4_table();
#endif
  return nullptr;
}

}  // namespace margay
