// A cache of lines without sets: any line may be in any slot, and the least recently used one goes.
// Tags only.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "observe/profile/memory/arrival.h"

namespace margay::profile {

class LineCache {
 public:
  explicit LineCache(std::uint32_t lines)
      : slots_(lines + 1), buckets_(std::bit_ceil(2 * lines), kNone) {
    clear();
  }

  /// How `line` came, which then is the most recently used one; null if the cache does not hold it.
  const Arrival* find(std::uint64_t line) {
    const Place place = *link_to(line);
    if (place == kNone) return nullptr;
    unlink(place);
    link_first(place);
    return &slots_[place].arrival;
  }

  /// `line` is not in the cache. Until the next call the caller may say how it comes.
  Arrival& insert(std::uint64_t line) {
    if (used_ + 1 == slots_.size()) drop(slots_[slots_[kEnds].newer].line);
    Place place = free_;
    if (place == kNone)
      place = static_cast<Place>(++unused_);
    else
      free_ = slots_[place].next;
    Place& bucket = bucket_of(line);
    slots_[place].line = line;
    slots_[place].next = bucket;
    bucket = place;
    link_first(place);
    ++used_;
    return slots_[place].arrival;
  }

  /// `line` may be in the cache.
  void drop(std::uint64_t line) {
    Place* const link = link_to(line);
    const Place place = *link;
    if (place == kNone) return;
    *link = slots_[place].next;
    unlink(place);
    slots_[place].next = free_;
    free_ = place;
    --used_;
  }

  void clear() {
    buckets_.assign(buckets_.size(), kNone);
    slots_[kEnds].newer = slots_[kEnds].older = kEnds;
    free_ = kNone;
    unused_ = used_ = 0;
  }

 private:
  using Place = std::uint32_t;
  static constexpr Place kNone = ~0u;
  static constexpr Place kEnds = 0;  ///< No line: newer than the newest is the oldest.

  struct Slot {
    std::uint64_t line = 0;
    Arrival arrival;
    Place next = kNone;  ///< In its bucket, or free.
    Place newer = kEnds, older = kEnds;
  };

  Place& bucket_of(std::uint64_t line) {
    return buckets_[(line * 0x9e3779b97f4a7c15ull >> 32) & (buckets_.size() - 1)];
  }
  /// What leads to the line's slot in its bucket, or the bucket's end.
  Place* link_to(std::uint64_t line) {
    Place* link = &bucket_of(line);
    while (*link != kNone && slots_[*link].line != line) link = &slots_[*link].next;
    return link;
  }
  void unlink(Place place) {
    const Slot& slot = slots_[place];
    slots_[slot.newer].older = slot.older;
    slots_[slot.older].newer = slot.newer;
  }
  void link_first(Place place) {
    Slot& slot = slots_[place];
    slot.newer = kEnds;
    slot.older = slots_[kEnds].older;
    slots_[slot.older].newer = place;
    slots_[kEnds].older = place;
  }

  std::vector<Slot> slots_;     // the first one is kEnds
  std::vector<Place> buckets_;  // by a hash of the line; a power of two of them
  Place free_ = kNone;          // dropped slots
  std::uint32_t unused_ = 0;    // slots that were used at some time
  std::uint32_t used_ = 0;
};

}  // namespace margay::profile
