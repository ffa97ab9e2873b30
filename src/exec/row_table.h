// The table of instructions the executor knows: mnemonic to semantics. Filled once per host level
// from the row lists; decoding looks mnemonics up here and nowhere else.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exec/row.h"
#include "gpu/architecture.h"

namespace margay {

/// Rows by mnemonic.
class RowTable {
 public:
  /// Ends the process when the mnemonic is in the table: a mistake of ours, which any use shows.
  void add(Row row);
  [[nodiscard]] const Row* find(std::string_view mnemonic) const {
    const auto found = rows_.find(mnemonic);
    return found == rows_.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  template <typename F>
  void for_each(F&& visit) const {
    for (const auto& [name, row] : rows_) visit(*row);
  }

 private:
  std::unordered_map<std::string_view, std::unique_ptr<Row>> rows_;
};

/// A view of `text` that lives as long as the program; for mnemonics put together from parts.
[[nodiscard]] std::string_view interned(std::string text);

/// The rows of one host level. `level` is "generic", "x86-64-v3" or "x86-64-v4", or empty for the
/// best this host can run (base/host_level.h); null when the level is unknown or beyond this host,
/// or there are no such rows.
[[nodiscard]] const RowTable* row_table(std::string_view level, RowSet rows = RowSet::gfx942);

}  // namespace margay
