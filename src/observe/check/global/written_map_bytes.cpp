// WrittenMap on its way to another process and back: bytes of the map in runs, since most memory is
// written from one end to the other.
#include <algorithm>
#include <utility>

#include "observe/check/global/global_memory.h"

namespace margay::check {
namespace {

/// `count` bytes of a map that are alike.
template <typename T>
struct Alike {
  std::uint64_t first = 0, count = 0;
  T value{};
};
/// Bits of a byte of a map.
struct Changed {
  std::uint8_t set = 0, cleared = 0;
  friend bool operator==(const Changed&, const Changed&) = default;
};

/// Of the bytes [0, size) of a map, those whose value is not T{}.
template <typename T, typename At>
std::vector<Alike<T>> runs_of(std::uint64_t size, At&& at) {
  std::vector<Alike<T>> runs;
  for (std::uint64_t n = 0; n < size; ++n) {
    const T value = at(n);
    if (value == T{}) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == n && runs.back().value == value)
      ++runs.back().count;
    else
      runs.push_back({n, 1, value});
  }
  return runs;
}

}  // namespace

void WrittenMap::put(Writer& out) const {
  out.put(range_);
  out.put(complete_.load());
  out.put(holds_undefined_.load());
  out.put_all(runs_of<std::uint8_t>(
      bits_.size(), [this](std::uint64_t n) { return bits_[n].load(std::memory_order_relaxed); }));
  const std::lock_guard lock(partial_mutex_);
  out.put_all(partial_.all());
}

std::unique_ptr<WrittenMap> WrittenMap::get(Reader& in) {
  const auto range = in.get<AddressRange>();
  if (!in.ok() || range.end < range.begin) return nullptr;
  auto map = std::make_unique<WrittenMap>(range);
  map->complete_ = in.get<bool>();
  map->holds_undefined_ = in.get<bool>();
  for (const auto& run : in.get_all<Alike<std::uint8_t>>()) {
    if (run.first > map->bits_.size() || run.count > map->bits_.size() - run.first) return nullptr;
    for (std::uint64_t n = 0; n < run.count; ++n) map->bits_[run.first + n] = run.value;
  }
  for (const auto& [address, bits] : in.get_all<PartialBytes::Entry>())
    map->partial_.set(address, bits);
  map->has_partial_ = !map->partial_.empty();
  if (!in.ok()) return nullptr;
  map->before_.assign(map->bits_.begin(), map->bits_.end());
  map->partial_before_ = map->partial_;
  return map;
}

void WrittenMap::put_changes(Writer& out) const {
  out.put(holds_undefined_.load());
  out.put_all(runs_of<Changed>(bits_.size(), [this](std::uint64_t n) {
    const std::uint8_t now = bits_[n].load(std::memory_order_relaxed), before = before_[n];
    return Changed{static_cast<std::uint8_t>(now & ~before),
                   static_cast<std::uint8_t>(before & ~now)};
  }));
  std::vector<PartialBytes::Entry> partial = partial_.all();
  std::erase_if(partial, [this](const PartialBytes::Entry& entry) {
    return partial_before_.of(entry.address) == entry.bits;
  });
  // A byte that was partly undefined, and is wholly so now.
  for (const auto& [address, bits] : partial_before_.all())
    if (partial_.of(address) == 0xff && unwritten(address, 1) != 0)
      partial.push_back({address, 0xff});
  out.put_all(partial);
}

bool WrittenMap::change(Reader& in, bool writes) {
  const bool holds_undefined = in.get<bool>();
  const auto runs = in.get_all<Alike<Changed>>();
  const auto partial = in.get_all<PartialBytes::Entry>();
  const bool fits = in.ok() &&
                    std::ranges::all_of(runs,
                                        [this](const auto& run) {
                                          return run.first <= bits_.size() &&
                                                 run.count <= bits_.size() - run.first;
                                        }) &&
                    std::ranges::all_of(partial, [this](const auto& entry) {
                      return range_.contains(entry.address, 1);
                    });
  if (!fits || !writes) return fits;
  constexpr std::uint8_t kUndefined = 0xff;
  for (const auto& run : runs) {
    const std::uint64_t begin = range_.begin + run.first * 8;
    if (run.value == Changed{0xff, 0}) {
      set(begin, run.count * 8);
      continue;
    }
    for (std::uint64_t n = 0; n < run.count * 8; ++n) {
      const auto bit = static_cast<std::uint8_t>(1u << n % 8);
      if ((run.value.set & bit) != 0) set(begin + n, 1);
      if ((run.value.cleared & bit) != 0) store(begin + n, &kUndefined, 1);
    }
  }
  for (const auto& [address, bits] : partial) store(address, &bits, 1);
  if (holds_undefined) changed_unwritten();
  return true;
}

}  // namespace margay::check
