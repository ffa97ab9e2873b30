// A set-associative cache with least-recently-used replacement: tags, and how each line came.
#pragma once

#include <bit>
#include <cstdint>

#include "observe/profile/memory/arrival.h"
#include "observe/profile/memory/set_hash.h"
#include "observe/profile/memory/zeroed_array.h"

namespace margay::profile {

class Cache {
 public:
  /// How a line's set is chosen: by its low bits, or by all of them (set_of_line), so that regular
  /// strides do not map to a few sets.
  enum class Index : std::uint8_t { low_bits, hashed };

  /// A power of two of sets.
  Cache(std::uint32_t bytes, std::uint32_t line_bytes, std::uint32_t ways,
        Index index = Index::low_bits)
      : ways_(ways),
        sets_(bytes / line_bytes / ways),
        index_(index),
        slots_(std::size_t{sets_} * ways) {}

  /// One slot for a line.
  struct Slot {
    std::uint64_t line;
    std::uint64_t used : 56;  ///< When, by a clock that begins with 1; 0: it holds no line.
    std::uint64_t dirty : 8;  ///< The quarters that were written.
    Arrival arrival;          ///< Set by who inserts a line, if ever.
  };

  /// The slot that holds `line`, now the most recently used; null when there is none.
  [[nodiscard]] Slot* find(std::uint64_t line) {
    Slot* const set = set_of(line);
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (set[way].line != line || set[way].used == 0) continue;
      set[way].used = ++clock_;
      return &set[way];
    }
    return nullptr;
  }

  /// A slot for `line`, which is not in the cache; its previous contents go to `evict`.
  template <typename Evict>
  Slot& insert(std::uint64_t line, Evict&& evict) {
    Slot* const set = set_of(line);
    Slot* oldest = set;
    for (std::uint32_t way = 1; way < ways_; ++way)
      if (set[way].used < oldest->used) oldest = &set[way];
    if (oldest->used != 0) evict(*oldest);
    *oldest = {line, ++clock_, 0, {}};
    return *oldest;
  }

  void drop(Slot& slot) { slot.used = 0; }

  /// For a launch that will use most of it.
  void allocate_pages() { slots_.allocate_pages(); }

  template <typename Visit>
  void for_each(Visit&& visit) {
    for (Slot& slot : slots_)
      if (slot.used != 0) visit(slot);
  }
  void clear() {
    for_each([](Slot& slot) { slot.used = 0; });
    clock_ = 0;
  }

 private:
  [[nodiscard]] Slot* set_of(std::uint64_t line) {
    if (index_ == Index::hashed) line = set_of_line(line);
    return slots_.data() + std::size_t{static_cast<std::uint32_t>(line) & (sets_ - 1)} * ways_;
  }

  std::uint32_t ways_, sets_;
  Index index_;
  std::uint64_t clock_ = 0;
  ZeroedArray<Slot> slots_;
};

}  // namespace margay::profile
