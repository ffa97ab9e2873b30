// The table of implemented instructions: mnemonic to semantics. Filled once per host level from the
// row lists (instructions/all_rows.h); decoding looks up mnemonics only here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exec/rows/row.h"

namespace margay {

/// Rows by mnemonic.
class RowTable {
 public:
  /// Aborts if the mnemonic is in the table, or the row has a memory path without the function for
  /// its addresses: internal errors that any use reveals.
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

  template <typename F>
  void change_each(F&& change) {
    for (const auto& [name, row] : rows_) change(*row);
  }

 private:
  std::unordered_map<std::string_view, std::unique_ptr<Row>> rows_;
};

/// A view of `text` that lives as long as the program; for mnemonics composed of parts.
[[nodiscard]] std::string_view interned(std::string text);

}  // namespace margay
