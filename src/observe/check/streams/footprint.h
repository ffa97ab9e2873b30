// The bytes that an operation of a stream read and wrote, as few ranges, and the latest such
// accesses of the operations of one line.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "observe/check/global/global_races.h"
#include "observe/check/streams/stream_order.h"

namespace margay::check {

/// Synchronising accesses (atomics and accesses with a scope) do not race with each other.
enum class Touch : std::uint8_t { read, write, sync_read, sync_write };
inline constexpr std::size_t kTouchCount = 4;
[[nodiscard]] constexpr bool is_write(Touch touch) {
  return touch == Touch::write || touch == Touch::sync_write;
}
[[nodiscard]] constexpr bool is_sync(Touch touch) {
  return touch == Touch::sync_read || touch == Touch::sync_write;
}
[[nodiscard]] constexpr bool conflict(Touch a, Touch b) {
  return (is_write(a) || is_write(b)) && !(is_sync(a) && is_sync(b));
}

/// Neighbouring bytes, by an instruction that touched some of them.
struct TouchedRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t vaddr = kNoVaddr;  ///< No instruction: a copy or fill.
  Touch touch = Touch::read;
};

/// Never more than was accessed; for a kernel that accesses very many separate places, not all of
/// them.
struct Footprint {
  std::vector<TouchedRange> ranges;
  bool complete = true;
};
/// What a launch touched.
[[nodiscard]] Footprint footprint_of(std::span<const Run> runs);

/// The last operation of one line that accessed each byte, separately for each kind of access. An
/// operation of another line that follows the last one also follows those before it.
class LastTouches {
 public:
  struct Entry {
    std::uint64_t end = 0;
    std::uint64_t vaddr = kNoVaddr;
    std::shared_ptr<const Operation> operation;
  };
  void add(const TouchedRange& range, const std::shared_ptr<const Operation>& operation);
  /// Calls visit(begin, entry) for each entry of the kind in [begin, end).
  template <typename Visit>
  void each(Touch touch, std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
    const Map& map = maps_[static_cast<std::size_t>(touch)];
    auto at = map.upper_bound(begin);
    if (at != map.begin() && std::prev(at)->second.end > begin) --at;
    for (; at != map.end() && at->first < end; ++at) visit(at->first, at->second);
  }
  /// The range is a new allocation from now on.
  void forget(std::uint64_t begin, std::uint64_t end);
  /// Everything up to that operation.
  void forget_until(std::uint64_t number);
  [[nodiscard]] bool empty() const {
    return maps_[0].empty() && maps_[1].empty() && maps_[2].empty() && maps_[3].empty();
  }

 private:
  using Map = std::map<std::uint64_t, Entry>;  // by first address; disjoint
  static void clear(Map& map, std::uint64_t begin, std::uint64_t end);
  std::array<Map, kTouchCount> maps_;
};

}  // namespace margay::check
