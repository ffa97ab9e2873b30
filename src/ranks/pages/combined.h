// Words that atomics of several processes change in one launch (exec/state/combine.h): a worker
// notes them, and what it did to each is applied to what the leader's memory has by then.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "exec/state/combine.h"
#include "ranks/pages/page.h"

namespace margay::ranks {

/// One word, and what it was and became in the worker.
struct CombinedWord {
  std::uint64_t address = 0;
  std::uint64_t before = 0, after = 0;
  Combine how = Combine::none;
  std::uint8_t bytes = 0;  ///< 4 or 8; the address is a multiple of it.
  std::uint16_t unused16 = 0;
  std::uint32_t unused32 = 0;
};

/// Whether the fields are possible ones; the address is not looked at otherwise.
[[nodiscard]] bool is_valid(const CombinedWord& word);
/// Does to memory at the word's address what the worker did to its copy, atomically for the threads
/// of this process. Where memory is still what the worker had, the result is the worker's.
void apply(const CombinedWord& word);

/// The words that a worker's atomics have changed.
class NotedWords final : public AtomicNotes {
 public:
  void note(Combine how, unsigned bytes, std::span<const std::uint64_t> addresses,
            std::uint64_t lanes) override;
  /// Whether some word was changed in two ways, or in one that cannot be combined.
  [[nodiscard]] bool mixed() const { return mixed_; }
  /// Adds those of a page that are no longer as in `before`, which becomes the same there. Called
  /// when no workgroup runs.
  void take(std::uint64_t page, std::span<std::byte, kPageBytes> before,
            std::span<const std::byte, kPageBytes> now, std::vector<CombinedWord>& out);
  void clear();

 private:
  /// For each four bytes of a page 0, or how and whether with the four behind.
  struct Kind {
    Combine how = Combine::none;
    std::uint8_t bytes = 0;  ///< 0: not noted.
    [[nodiscard]] bool operator==(const Kind&) const = default;
  };
  using Kinds = std::array<Kind, kPageBytes / 4>;

  std::mutex mutex_;  // guards all below
  std::unordered_map<std::uint64_t, std::unique_ptr<Kinds>> pages_;
  bool mixed_ = false;
};

}  // namespace margay::ranks
