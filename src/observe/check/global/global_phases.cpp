#include "observe/check/global/global_phases.h"

#include <bit>

namespace margay::check {

void GlobalPhases::begin_workgroup() {
  allocations_.clear();
  recent_ = 0;
  touched_ = acquired_ = {};
}

GlobalPhases::Allocation& GlobalPhases::allocation_of(std::uint64_t address) {
  const auto holds = [&](const Allocation& a) { return a.range.contains(address, 1); };
  if (recent_ < allocations_.size() && holds(allocations_[recent_])) return allocations_[recent_];
  const auto known = std::ranges::find_if(allocations_, holds);
  recent_ = static_cast<std::size_t>(known - allocations_.begin());
  if (known == allocations_.end())
    allocations_.emplace_back().range = memory_.readable_range(address);
  return allocations_[recent_];
}

std::uint32_t GlobalPhases::access(const LaneAccess& access, std::uint32_t phase, bool acquires,
                                   bool releases) {
  if (access.active == 0) return 0;
  Extent extent;
  extent.phase = phase;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = access.at[std::countr_zero(rest)];
    extent.begin = std::min(extent.begin, at);
    extent.end = std::max(extent.end, at + access.bytes);
  }
  touched_.in(phase);
  std::uint32_t relies_on = releases ? touched_.before : 0;
  if (acquires) acquired_.in(phase);
  // What has been learnt is passed on by the first barrier after it.
  const std::uint32_t acquired = acquired_.now < phase ? acquired_.now : acquired_.before;
  if (acquired == touched_.before) relies_on = std::max(relies_on, acquired);

  Allocation& a = allocation_of(extent.begin);
  if (a.phase != phase) {
    a.before.reads.add(a.now.reads);
    a.before.writes.add(a.now.writes);
    a.before.atomics.add(a.now.atomics);
    a.now = {};
    a.phase = phase;
  }
  relies_on = std::max(relies_on, a.before.writes.met_by(extent));
  if (access.is_write) relies_on = std::max(relies_on, a.before.reads.met_by(extent));
  if (!access.is_atomic) relies_on = std::max(relies_on, a.before.atomics.met_by(extent));
  (access.is_atomic ? a.now.atomics : access.is_write ? a.now.writes : a.now.reads).add(extent);
  return relies_on;
}

}  // namespace margay::check
