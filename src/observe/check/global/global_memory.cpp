#include "observe/check/global/global_memory.h"

#include <algorithm>
#include <bit>

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
  // Accesses past the end are memcheck's.
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
  if (has_partial_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(partial_mutex_);
    partial_.forget(address, bytes);
  }
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

void WrittenMap::store(std::uint64_t address, const std::uint8_t* undefined, unsigned bytes) {
  holds_undefined_.store(true);
  set(address, bytes);
  for (unsigned n = 0; n < bytes; ++n) {
    if (undefined[n] == 0 || address + n >= range_.end) continue;
    if (undefined[n] != 0xff) {
      const std::lock_guard lock(partial_mutex_);
      partial_.set(address + n, undefined[n]);
      has_partial_.store(true);
    }
    // Without set(), which would discard the bits.
    complete_.store(false, std::memory_order_relaxed);
    const std::uint64_t bit = address + n - range_.begin;
    bits_[bit / 8].fetch_and(static_cast<std::uint8_t>(~(1u << (bit % 8))),
                             std::memory_order_relaxed);
  }
}

std::uint8_t WrittenMap::undefined_bits(std::uint64_t address) const {
  if (!has_partial_.load(std::memory_order_relaxed)) return 0xff;
  const std::lock_guard lock(partial_mutex_);
  return partial_.of(address);
}

std::uint64_t WrittenMap::written_by_host(std::uint64_t launch) {
  // A second caller waits for the result of the first.
  const std::lock_guard lock(host_mutex_);
  if (holds_undefined_.load()) return 0;
  if (ask_host_) return ask_host_();
  if (looked_in_launch_ == launch) return found_in_launch_;
  looked_in_launch_ = launch;
  found_in_launch_ = 0;
  // Enough for what a program fills first, without gigabytes of untouched pages.
  constexpr std::uint64_t kLimit = 64 << 20;
  const std::uint64_t size = std::min(range_.end - range_.begin, kLimit);
  const auto* const memory = reinterpret_cast<const volatile std::uint8_t*>(range_.begin);
  for (std::uint64_t n = 0; n < size; ++n) {
    if (n % 8 == 0 && bits_[n / 8].load(std::memory_order_relaxed) == 0xff) {
      n += 7;
      continue;
    }
    if (memory[n] == 0) continue;
    // A kernel's store is recorded before it is executed: a byte recorded only now was not written
    // by the host.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if ((bits_[n / 8].load() >> (n % 8) & 1) == 0 && !holds_undefined_.load())
      return found_in_launch_ = range_.begin + n;
  }
  return 0;
}

WrittenMap::Missing WrittenMap::missing(std::uint64_t address, std::uint64_t bytes) const {
  Missing out;
  if (complete()) return out;
  const std::uint64_t end = std::min(address + bytes, range_.end);
  for (std::uint64_t at = address; at < end;) {
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(end - at, 64));
    if (const std::uint64_t here = unwritten(at, count); here != 0) {
      if (out.count == 0) out.first = at + static_cast<unsigned>(std::countr_zero(here));
      out.count += static_cast<unsigned>(std::popcount(here));
    }
    at += count;
  }
  return out;
}

void GlobalMemory::allocated(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  maps_[address] = std::make_unique<WrittenMap>(AddressRange{address, address + bytes});
}

void GlobalMemory::freed(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = maps_.find(address);
  if (found == maps_.end()) return;
  const AddressRange range = found->second->range();
  std::erase_if(stores_,
                [&](const UndefinedStore& store) { return range.contains(store.range.begin, 1); });
  maps_.erase(found);
}

void GlobalMemory::written(std::uint64_t address, std::uint64_t bytes) {
  if (WrittenMap* const map = find(address)) map->set(address, bytes);
}

void GlobalMemory::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                          UndefinedCopy& out) {
  WrittenMap* const target = find(to);
  const WrittenMap* const source = find(from);
  if (target == nullptr) {
    out.bytes += bytes;
    if (out.from == 0) out.from = from;
    out.span = from + bytes - out.from;  // rows come in ascending order
    if (source == nullptr) return;
    const WrittenMap::Missing missing = source->missing(from, bytes);
    if (out.missing == 0) out.first = missing.first;
    out.missing += missing.count;
    return;
  }
  if (source == nullptr || source->all_written(from, bytes)) return target->set(to, bytes);
  for (std::uint64_t n = 0; n < bytes; ++n) {
    const bool written = source->unwritten(from + n, 1) == 0;
    const std::uint8_t undefined = written ? 0 : source->undefined_bits(from + n);
    target->store(to + n, &undefined, 1);
  }
}

void GlobalMemory::stored(std::vector<UndefinedStore> stores) {
  constexpr std::size_t kMost = 4096;  // more findings than anyone would read
  const std::lock_guard lock(mutex_);
  for (UndefinedStore& store : stores)
    if (stores_.size() < kMost) stores_.push_back(std::move(store));
}

std::optional<UndefinedStore> GlobalMemory::store_into(std::uint64_t address,
                                                       std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const UndefinedStore* found = nullptr;
  for (const UndefinedStore& store : stores_)
    if (store.range.begin < address + bytes && address < store.range.end &&
        (found == nullptr || !found->computed || store.computed))
      found = &store;
  return found == nullptr ? std::nullopt : std::optional(*found);
}

WrittenMap* GlobalMemory::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  WrittenMap* const map = below(maps_, address);
  if (map != nullptr && map->range().contains(address, 1)) return map;
  if (!fetch_) return nullptr;
  std::unique_ptr<WrittenMap> fetched = fetch_(address);
  if (fetched == nullptr) return nullptr;
  const std::uint64_t begin = fetched->range().begin;
  return (maps_[begin] = std::move(fetched)).get();
}

}  // namespace margay::check
