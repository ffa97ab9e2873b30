#include "exec/rows/row_table.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace margay {

std::string_view interned(std::string text) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return *names.insert(std::move(text)).first;
}

void RowTable::add(Row row) {
  if (row.memory.path != MemoryPath::none && row.memory.accesses == nullptr) {
    fmt::print(stderr, "margay: nothing computes the addresses of {}\n", row.mnemonic);
    std::abort();
  }
  const auto [at, is_new] = rows_.try_emplace(row.mnemonic, nullptr);
  if (!is_new) {
    fmt::print(stderr, "margay: two rows for the instruction {}\n", row.mnemonic);
    std::abort();
  }
  at->second = std::make_unique<Row>(std::move(row));
}

}  // namespace margay
