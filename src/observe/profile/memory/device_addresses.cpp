#include "observe/profile/memory/device_addresses.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace margay::profile {
namespace {

constexpr std::uint64_t kPage = 4096;
/// The size of each piece's address range. The bits above do not affect the choice of a set in any
/// cache (cache.h), so that the order in which pieces are first seen does not matter.
constexpr std::uint64_t kSlotBytes = 1ull << 47;
constexpr std::uint64_t kSlots = std::numeric_limits<std::uint64_t>::max() / kSlotBytes - 1;
/// Space for addresses before a tensor's first byte.
constexpr std::uint64_t kMiddle = 1ull << 45;
/// Tensors begin in different sets of L2, like tensors that were allocated one after the other.
constexpr std::uint64_t kSkew = 9 * kPage;
/// More than the memory of any device; the limit for a tensor whose end is not known.
constexpr std::uint64_t kLargestTensor = 1ull << 38;

}  // namespace

DeviceAddresses::DeviceAddresses(const Memory& memory, const std::vector<AddressRange>& tensors)
    : memory_(&memory) {
  std::vector<Group> all;
  for (const AddressRange& tensor : tensors)
    if (!memory.in_arena(tensor.begin))
      all.push_back({{tensor.begin, std::max(tensor.end, tensor.begin + 1)}, all.size()});
  std::ranges::sort(all, {}, [](const Group& g) { return std::pair(g.range.begin, g.order); });
  for (const Group& group : all) {
    if (!groups_.empty() && group.range.begin < groups_.back().range.end) {
      Group& last = groups_.back();
      last.range.end = std::max(last.range.end, group.range.end);
      last.order = std::min(last.order, group.order);
    } else {
      groups_.push_back(group);
    }
  }
}

DeviceAddresses::Piece DeviceAddresses::host_piece(std::uint64_t address,
                                                   const AddressRange& mapped) const {
  // From one tensor's first byte to the next one's, up to the end of the mapping. Addresses before
  // the first belong to it: kernels receive pointers into the middle of what they read.
  const auto begins = [](const Group& g) { return g.range.begin; };
  const auto after = std::ranges::upper_bound(groups_, address, {}, begins);
  const bool has_next = after != groups_.end() && after->range.begin < mapped.end;
  if (after != groups_.begin() && std::prev(after)->range.begin >= mapped.begin) {
    const auto own = std::prev(after);
    const bool is_first = own == groups_.begin() || std::prev(own)->range.begin < mapped.begin;
    return {
        {is_first ? mapped.begin : own->range.begin, has_next ? after->range.begin : mapped.end},
        kMiddle + own->order * kSkew - own->range.begin};
  }
  if (!has_next) return {mapped, kMiddle - mapped.begin / kPage * kPage};
  const auto second = std::next(after);
  const bool is_cut = second != groups_.end() && second->range.begin < mapped.end;
  return {{mapped.begin, is_cut ? second->range.begin : mapped.end},
          kMiddle + after->order * kSkew - after->range.begin};
}

DeviceAddresses::Piece DeviceAddresses::piece_of(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto after =
      std::ranges::upper_bound(pieces_, address, {}, [](const Piece& p) { return p.range.begin; });
  if (after != pieces_.begin() && std::prev(after)->contains(address)) return *std::prev(after);
  const Piece piece = ask_ ? ask_(address) : make_piece(address);
  pieces_.insert(after, piece);
  return piece;
}

DeviceAddresses::Piece DeviceAddresses::make_piece(std::uint64_t address) const {
  Piece piece;
  if (const auto allocation = memory_->find(address)) {
    // Serial numbers are the same in each run of a program; an allocation begins on a page.
    piece = {allocation->range, kMiddle + allocation->serial * kSkew - allocation->range.begin};
  } else if (const AddressRange mapped = memory_->accessible_range(address);
             mapped.contains(address, 1)) {
    piece = host_piece(address, mapped);
  } else {
    // The access fails; its address gets a separate page.
    const std::uint64_t page = address / kPage * kPage;
    piece = {{page, page + kPage}, kMiddle - page};
  }
  piece.shift += (pieces_.size() % kSlots + 1) * kSlotBytes;
  return piece;
}

AddressRange DeviceAddresses::seen(const AddressRange& range) {
  const Piece piece = piece_of(range.begin);
  std::uint64_t end = range.end;
  if (end <= range.begin) end = std::min(piece.range.end, range.begin + kLargestTensor);
  return {range.begin + piece.shift, end + piece.shift};
}

}  // namespace margay::profile
