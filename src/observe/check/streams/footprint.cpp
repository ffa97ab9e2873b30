#include "observe/check/streams/footprint.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace margay::check {
namespace {

/// Up to this many ranges are kept per instruction; beyond that, neighbours are merged regardless
/// of the instruction.
constexpr std::size_t kByInstruction = 1024;
constexpr std::size_t kMostRanges = 1 << 16;
/// Per line and kind. Programs that never synchronise must not exhaust the memory.
constexpr std::size_t kMostEntries = 1 << 18;

Touch touch_of(const Run& run) {
  const bool sync = run.is_atomic || run.scope != Scope::none;
  if (run.is_write) return sync ? Touch::sync_write : Touch::write;
  return sync ? Touch::sync_read : Touch::read;
}

/// Merges adjacent ranges of one kind and, with `by_instruction`, one instruction; sorted.
void join_neighbours(std::vector<TouchedRange>& ranges, bool by_instruction) {
  const auto place = [&](const TouchedRange& range) {
    return std::pair(range.touch, by_instruction ? range.vaddr : 0);
  };
  std::ranges::sort(ranges, [&](const TouchedRange& a, const TouchedRange& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    return std::tie(a.begin, a.end, a.vaddr) < std::tie(b.begin, b.end, b.vaddr);
  });
  std::size_t kept = 0;
  for (const TouchedRange& range : ranges) {
    TouchedRange* const last = kept == 0 ? nullptr : &ranges[kept - 1];
    if (last != nullptr && place(*last) == place(range) && range.begin <= last->end)
      last->end = std::max(last->end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

}  // namespace

Footprint footprint_of(std::span<const Run> runs) {
  Footprint out;
  std::vector<TouchedRange>& ranges = out.ranges;
  std::unordered_map<std::uint64_t, std::size_t> last;  // by instruction and kind
  std::size_t limit = kByInstruction;
  const auto condense = [&] {
    join_neighbours(ranges, true);
    if (ranges.size() > kByInstruction) join_neighbours(ranges, false);
    last.clear();
  };
  for (const Run& run : runs) {
    const Touch touch = touch_of(run);
    const std::uint64_t key = std::uint64_t{run.vaddr} << 2 | static_cast<unsigned>(touch);
    const auto [at, fresh] = last.try_emplace(key, ranges.size());
    if (!fresh) {
      TouchedRange& range = ranges[at->second];
      if (run.begin <= range.end && range.begin <= run.end) {
        range.begin = std::min(range.begin, run.begin);
        range.end = std::max(range.end, run.end);
        continue;
      }
      at->second = ranges.size();
    }
    ranges.push_back({run.begin, run.end, run.vaddr, touch});
    if (ranges.size() <= limit) continue;
    condense();
    out.complete = ranges.size() <= kMostRanges;
    if (!out.complete) break;
    limit = std::max(kByInstruction, 2 * ranges.size());
  }
  condense();
  return out;
}

void LastTouches::clear(Map& map, std::uint64_t begin, std::uint64_t end) {
  auto at = map.upper_bound(begin);
  if (at != map.begin()) {
    const auto before = std::prev(at);
    if (before->second.end > begin) {
      const Entry entry = before->second;
      if (before->first == begin)
        map.erase(before);
      else
        before->second.end = begin;
      if (entry.end > end) {
        map.emplace(end, entry);
        return;
      }
    }
  }
  while (at != map.end() && at->first < end) {
    if (at->second.end > end) {
      auto node = map.extract(at);
      node.key() = end;
      map.insert(std::move(node));
      return;
    }
    at = map.erase(at);
  }
}

void LastTouches::add(const TouchedRange& range,
                      const std::shared_ptr<const Operation>& operation) {
  Map& map = maps_[static_cast<std::size_t>(range.touch)];
  const auto same = map.find(range.begin);
  if (same != map.end() && same->second.end == range.end) {
    same->second.vaddr = range.vaddr;
    same->second.operation = operation;
    return;
  }
  if (map.size() >= kMostEntries) map.clear();
  clear(map, range.begin, range.end);
  map.emplace(range.begin, Entry{range.end, range.vaddr, operation});
}

void LastTouches::forget(std::uint64_t begin, std::uint64_t end) {
  for (Map& map : maps_) clear(map, begin, end);
}

void LastTouches::forget_until(std::uint64_t number) {
  for (Map& map : maps_)
    std::erase_if(map, [&](const auto& entry) { return entry.second.operation->number <= number; });
}

}  // namespace margay::check
