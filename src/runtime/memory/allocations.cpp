// See allocations.h.
#include "runtime/memory/allocations.h"

namespace margay::runtime {

void AllocationTable::add(const AllocationRecord& record) {
  const std::lock_guard lock(mutex_);
  records_[record.address] = record;
}

std::optional<AllocationRecord> AllocationTable::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto node = records_.extract(address);
  if (node.empty()) return std::nullopt;
  return node.mapped();
}

std::optional<AllocationRecord> AllocationTable::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = records_.upper_bound(address);
  if (after == records_.begin()) return std::nullopt;
  const AllocationRecord& record = std::prev(after)->second;
  if (address - record.address >= record.size_bytes) return std::nullopt;
  return record;
}

std::vector<AllocationRecord> AllocationTable::take_all(unsigned device) {
  const std::lock_guard lock(mutex_);
  std::vector<AllocationRecord> taken;
  std::erase_if(records_, [&](const auto& entry) {
    if (entry.second.device != device) return false;
    taken.push_back(entry.second);
    return true;
  });
  return taken;
}

}  // namespace margay::runtime
