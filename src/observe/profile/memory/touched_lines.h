// The lines of memory that a workgroup has accessed, and which quarters of them: a hash table that
// is cleared in constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace margay::profile {

class TouchedLines {
 public:
  void clear() {
    if (++epoch_ == 0) {  // old entries would become valid again
      slots_.assign(slots_.size(), {});
      epoch_ = 1;
    }
    size_ = 0;
  }

  struct Added {
    bool line = false;          ///< It was not present.
    std::uint8_t quarters = 0;  ///< These were not present.
  };
  /// `quarters`: a bit for each.
  Added add(std::uint64_t line, std::uint8_t quarters) {
    if (2 * size_ >= slots_.size()) grow();
    Slot& slot = slot_of(line);
    const bool is_new = slot.epoch != epoch_;
    if (is_new) {
      slot = {line, epoch_, 0};
      ++size_;
    }
    const auto fresh = static_cast<std::uint8_t>(quarters & ~slot.quarters);
    slot.quarters |= quarters;
    return {is_new, fresh};
  }

 private:
  struct Slot {
    std::uint64_t line = 0;
    std::uint32_t epoch = 0;
    std::uint8_t quarters = 0;
  };
  [[nodiscard]] Slot& slot_of(std::uint64_t line) {
    // Fibonacci hashing: neighbours are spread, strides do not collide.
    std::size_t at = (line * 0x9e3779b97f4a7c15u >> 32) & (slots_.size() - 1);
    while (slots_[at].epoch == epoch_ && slots_[at].line != line)
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> before(slots_.empty() ? 1024 : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.epoch == epoch_) slot_of(slot.line) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  std::uint32_t epoch_ = 1;
};

}  // namespace margay::profile
