#include "observe/check/streams/stream_races.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/names.h"
#include "observe/check/findings/resolve.h"

namespace margay::check {
namespace {

/// The maximum number of reported pairs of instructions of one operation.
constexpr std::size_t kMostConflicts = 64;

Role role_of(Touch touch) {
  switch (touch) {
    case Touch::read:
    case Touch::sync_read:
      return Role::read;
    case Touch::write:
      return Role::write;
    case Touch::sync_write:
      break;
  }
  return Role::atomic;
}

std::string name_of(const Operation& operation) {
  return operation.is_kernel() ? short_function(operation.kernel) : operation.what;
}

/// "scale (launch 3) on stream 1"
Statement place_of(const Operation& operation) {
  return say<Says::operation>(name_of(operation), operation.is_kernel() ? operation.launch : 0,
                              operation.graph != 0, operation.stream);
}

Access access_of(const Operation& operation, Touch touch, std::uint64_t vaddr) {
  std::vector<Finding> one(1);
  Access& a = one[0].accesses.emplace_back();
  a.role = role_of(touch);
  if (operation.is_kernel()) {
    a.vaddr = vaddr;
    resolve(one, *operation.program);
  } else {
    a.instruction = operation.what + " on " + operation.stream;
  }
  return std::move(one[0].accesses[0]);
}

Finding finding_of(const Operation& earlier, const Operation& later, Touch earlier_touch,
                   std::uint64_t earlier_vaddr, const TouchedRange& range, std::uint64_t begin,
                   std::uint64_t end) {
  Finding f;
  f.kind = FindingKind::stream_race;
  f.launch = later.is_kernel() ? later.launch : earlier.launch;
  f.kernel = later.is_kernel() ? later.kernel : earlier.kernel;
  f.message = say<Says::streams_race>(begin, end - begin, role_of(earlier_touch), name_of(earlier),
                                      role_of(range.touch), name_of(later));
  f.accesses = {access_of(earlier, earlier_touch, earlier_vaddr),
                access_of(later, range.touch, range.vaddr)};
  f.detail = {say<Says::unordered>(place_of(earlier), place_of(later))};
  if ((earlier.null_stream && later.non_blocking) || (earlier.non_blocking && later.null_stream))
    f.detail.push_back(say<Says::null_stream_waits_not>());
  if (earlier.graph != 0 && earlier.graph == later.graph) {
    f.fix = Fix::graph_dependency;
  } else {
    f.fix = Fix::stream_event;
    f.fix_arguments = {earlier.stream, later.stream};
  }
  f.cause = "streams|" + name_of(earlier) + "|" + name_of(later);
  return f;
}

}  // namespace

std::shared_ptr<Operation> StreamRaces::begin(const Stream& stream, std::string what) {
  const std::lock_guard lock(mutex_);
  auto operation = order_.begin(stream, std::move(what));
  make_room();
  return operation;
}

void StreamRaces::make_room() {
  if (touches_.size() >= order_.lines()) return;
  touches_.resize(order_.lines());
  forgot_until_.resize(order_.lines());
}

std::shared_ptr<Operation> StreamRaces::begin_part(const Operation& whole,
                                                   const StreamOrder::Parts& after) {
  const std::lock_guard lock(mutex_);
  if (!order_.has(whole)) return std::make_shared<Operation>(whole);
  auto operation = order_.begin_part(whole, after);
  make_room();
  return operation;
}

void StreamRaces::end_parts(Operation& whole, const StreamOrder::Parts& parts) {
  const std::lock_guard lock(mutex_);
  if (order_.has(whole)) order_.end_parts(whole, parts);
}

/// Calls visit(touch, entry, begin) for the conflicting accesses in the range by unordered
/// operations of other lines.
template <typename Visit>
void StreamRaces::each_unordered(const Operation& operation, const TouchedRange& range,
                                 Visit&& visit) const {
  for (std::uint32_t line = 0; line < touches_.size(); ++line) {
    if (line == operation.line || touches_[line].empty()) continue;
    const std::uint64_t known = operation.before.of(line);
    if (order_.last_of(line) <= known) continue;
    for (std::size_t n = 0; n < kTouchCount; ++n) {
      const auto touch = static_cast<Touch>(n);
      const bool hands_over = touch == Touch::sync_write && is_sync(range.touch);
      if (!conflict(touch, range.touch) && !hands_over) continue;
      touches_[line].each(touch, range.begin, range.end,
                          [&](std::uint64_t begin, const LastTouches::Entry& entry) {
                            if (entry.operation->number > operation.before.of(line) &&
                                !entry.operation->comes_behind(operation))
                              visit(touch, entry, begin);
                          });
    }
  }
}

// A kernel that reads, by an atomic or with a scope, what another one has written in the same way:
// a flag, if both have fences. The order in this run is taken as the order.
void StreamRaces::learn(Operation& operation, std::span<const TouchedRange> ranges) {
  if (!operation.acquires) return;
  std::vector<std::shared_ptr<const Operation>> acquired;
  for (const TouchedRange& range : ranges) {
    if (!is_sync(range.touch)) continue;
    each_unordered(operation, range,
                   [&](Touch touch, const LastTouches::Entry& entry, std::uint64_t) {
                     if (is_sync(touch) && entry.operation->releases &&
                         (acquired.empty() || acquired.back() != entry.operation))
                       acquired.push_back(entry.operation);
                   });
  }
  for (const auto& earlier : acquired) order_.learn(operation, *earlier);
}

std::vector<Finding> StreamRaces::touched(const std::shared_ptr<Operation>& operation,
                                          const Footprint& footprint, const Places& places) {
  const std::span<const TouchedRange> ranges = footprint.ranges;
  const std::lock_guard lock(mutex_);
  if (!order_.has(*operation)) return {};
  if (!footprint.complete) host_writes_.forget_all();
  learn(*operation, ranges);
  std::vector<Finding> found;
  std::set<std::shared_ptr<const Operation>> raced;
  std::set<std::tuple<const Operation*, std::uint64_t, std::uint64_t>> known;
  for (const TouchedRange& range : ranges) {
    each_unordered(*operation, range,
                   [&](Touch touch, const LastTouches::Entry& entry, std::uint64_t begin) {
                     if (!conflict(touch, range.touch) || known.size() >= kMostConflicts ||
                         known.contains({entry.operation.get(), entry.vaddr, range.vaddr}))
                       return;
                     begin = std::max(begin, range.begin);
                     if (places.is_internal(begin)) return;
                     known.emplace(entry.operation.get(), entry.vaddr, range.vaddr);
                     raced.insert(entry.operation);
                     found.push_back(finding_of(*entry.operation, *operation, touch, entry.vaddr,
                                                range, begin, std::min(entry.end, range.end)));
                   });
  }
  // One missing wait, one finding: an operation that follows this one would also follow those.
  for (const auto& earlier : raced) order_.learn(*operation, *earlier);
  // The host may read what a kernel writes by an atomic or with a scope, or before a fence.
  bool tells_host = false;
  for (const TouchedRange& range : ranges) {
    touches_[operation->line].add(range, operation);
    if (!is_write(range.touch)) continue;
    if (!host_writes_.empty()) host_writes_.forget(range.begin, range.end);
    tells_host |= operation->is_kernel() && (is_sync(range.touch) || operation->releases) &&
                  places.is_host_visible(range.begin);
  }
  if (tells_host) {
    order_.host_waits(*operation);
    std::ranges::move(host_knows_more(), std::back_inserter(found));
  }
  return found;
}

void StreamRaces::watch(const std::shared_ptr<const Operation>& operation, std::uint64_t begin,
                        std::uint64_t end, bool is_source) {
  const std::lock_guard lock(mutex_);
  if (order_.has(*operation)) host_writes_.watch(operation, begin, end, is_source);
}

void StreamRaces::record(const void* event, const Stream& stream) {
  const std::lock_guard lock(mutex_);
  order_.record(event, stream);
}

void StreamRaces::record(const void* event, const Operation& operation) {
  const std::lock_guard lock(mutex_);
  if (order_.has(operation)) order_.record(event, operation);
}

void StreamRaces::forget_event(const void* event) {
  const std::lock_guard lock(mutex_);
  order_.forget_event(event);
}

void StreamRaces::stream_waits(const Stream& stream, const void* event) {
  const std::lock_guard lock(mutex_);
  order_.stream_waits(stream, event);
}

void StreamRaces::stream_waits_for_all(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  order_.stream_waits_for_all(stream);
}

std::vector<Finding> StreamRaces::host_knows_more() {
  const OrderClock& host = order_.host();
  for (std::uint32_t line = 0; line < touches_.size(); ++line) {
    if (host.of(line) == forgot_until_[line]) continue;
    forgot_until_[line] = host.of(line);
    touches_[line].forget_until(host.of(line));
  }
  return host_writes_.empty() ? std::vector<Finding>{} : host_writes_.ended(host);
}

std::vector<Finding> StreamRaces::host_waits(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  order_.host_waits(stream);
  return host_knows_more();
}

std::vector<Finding> StreamRaces::host_waits(const Operation& operation) {
  const std::lock_guard lock(mutex_);
  if (order_.has(operation)) order_.host_waits(operation);
  return host_knows_more();
}

std::vector<Finding> StreamRaces::host_waits_for_event(const void* event) {
  const std::lock_guard lock(mutex_);
  order_.host_waits_for_event(event);
  return host_knows_more();
}

std::vector<Finding> StreamRaces::host_waits_for_device(unsigned device) {
  const std::lock_guard lock(mutex_);
  order_.host_waits_for_device(device);
  return host_knows_more();
}

std::vector<Finding> StreamRaces::host_waits_for_all() {
  const std::lock_guard lock(mutex_);
  order_.host_waits_for_all();
  return host_knows_more();
}

std::vector<Finding> StreamRaces::destroyed(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  order_.host_waits(stream);
  order_.destroyed(stream.id);
  return host_knows_more();
}

void StreamRaces::allocated(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (LastTouches& touches : touches_) touches.forget(address, address + bytes);
  host_writes_.forget(address, address + bytes);
}

void StreamRaces::freed(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  host_writes_.forget(address, address + bytes);
}

}  // namespace margay::check
