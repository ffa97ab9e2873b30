#include "observe/check/global_memory.h"

#include <algorithm>

namespace margay::check {
namespace {

/// The entry of `map` with the highest key not above `address`, or null.
template <typename Map>
auto* below(const Map& map, std::uint64_t address) {
  auto after = map.upper_bound(address);
  return after == map.begin() ? nullptr : std::prev(after)->second.get();
}

constexpr std::uint8_t bits_from(unsigned first, unsigned count) {
  return static_cast<std::uint8_t>(((1u << count) - 1) << first);
}

}  // namespace

std::uint64_t WrittenMap::unwritten(std::uint64_t address, unsigned bytes) const {
  const std::uint64_t first = address - range_.begin, size = range_.end - range_.begin;
  // What lies past the end is for memcheck.
  bytes = first < size ? static_cast<unsigned>(std::min<std::uint64_t>(bytes, size - first)) : 0;
  std::uint64_t missing = 0;
  for (unsigned done = 0; done < bytes;) {
    const std::uint64_t bit = first + done;
    const unsigned run = std::min(bytes - done, static_cast<unsigned>(8 - bit % 8));
    const auto have =
        static_cast<std::uint8_t>(bits_[bit / 8].load(std::memory_order_relaxed) >> (bit % 8));
    missing |= std::uint64_t{static_cast<std::uint8_t>(~have & bits_from(0, run))} << done;
    done += run;
  }
  return missing;
}

bool WrittenMap::all_written(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t first = address - range_.begin, last = first + bytes - 1;
  if (bytes <= 64) return unwritten(address, static_cast<unsigned>(bytes)) == 0;
  if (unwritten(address, static_cast<unsigned>(8 - first % 8)) != 0) return false;
  for (std::uint64_t byte = first / 8 + 1; byte < last / 8; ++byte)
    if (bits_[byte].load(std::memory_order_relaxed) != 0xff) return false;
  return unwritten(range_.begin + last / 8 * 8, static_cast<unsigned>(last % 8 + 1)) == 0;
}

void WrittenMap::set(std::uint64_t address, std::uint64_t bytes, bool written) {
  if (written && complete()) return;
  if (address == range_.begin && bytes >= range_.end - range_.begin)
    complete_.store(written, std::memory_order_relaxed);
  else if (!written)
    complete_.store(false, std::memory_order_relaxed);
  std::uint64_t bit = address - range_.begin;
  const std::uint64_t end = std::min(bit + bytes, range_.end - range_.begin);
  while (bit < end) {
    const auto run = static_cast<unsigned>(std::min<std::uint64_t>(end - bit, 8 - bit % 8));
    std::atomic<std::uint8_t>& byte = bits_[bit / 8];
    const std::uint8_t mask = bits_from(bit % 8, run);
    // Neighbouring workgroups may share a byte of the map.
    if (written) {
      if ((byte.load(std::memory_order_relaxed) & mask) != mask)
        byte.fetch_or(mask, std::memory_order_relaxed);
    } else {
      byte.fetch_and(static_cast<std::uint8_t>(~mask), std::memory_order_relaxed);
    }
    bit += run;
  }
}

void GlobalMemory::allocated(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  maps_[address] = std::make_unique<WrittenMap>(AddressRange{address, address + bytes});
}

void GlobalMemory::freed(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  maps_.erase(address);
}

void GlobalMemory::written(std::uint64_t address, std::uint64_t bytes) {
  if (WrittenMap* const map = find(address)) map->set(address, bytes);
}

void GlobalMemory::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  WrittenMap* const target = find(to);
  if (target == nullptr) return;
  const WrittenMap* const source = find(from);
  if (source == nullptr || source->all_written(from, bytes)) return target->set(to, bytes);
  for (std::uint64_t n = 0; n < bytes; ++n)
    target->set(to + n, 1, source->unwritten(from + n, 1) == 0);
}

WrittenMap* GlobalMemory::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  WrittenMap* const map = below(maps_, address);
  return map != nullptr && map->range().contains(address, 1) ? map : nullptr;
}

}  // namespace margay::check
